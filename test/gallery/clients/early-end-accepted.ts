import type { Input, Service } from '../client.ts'

/** Reads the results of a finished batch. */
export async function run({ get }: Service, { id }: Input): Promise<unknown> {
  const read = async (path: string) => {
    const response = await get(`/batch-predictions/${id}${path}`)
    if (!response.ok) throw new Error(`status ${response.status}`)
    return response.text()
  }
  const results = async () => (await read('/results')).split('\n').filter((line) => line.trim() !== '')
  // Bug:
  const lines = await results()
  // Repair:
  // const { total } = JSON.parse(await read('')).request_counts
  // let lines = await results()
  // if (lines.length < total) lines = await results()
  // if (lines.length < total) throw new Error(`${lines.length} of ${total} results arrived`)
  // End.
  return lines.map((line) => JSON.parse(line))
}
