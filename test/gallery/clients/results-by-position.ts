import type { Input, Service } from '../client.ts'

interface ResultLine {
  readonly custom_id: string
  readonly status: string
  readonly output: unknown
}

/** Reads the results of a batch, in the order of its items. */
export async function run({ get }: Service, { id, batch }: Input): Promise<unknown> {
  const response = await get(`/batch-predictions/${id}/results`)
  if (!response.ok) throw new Error(`status ${response.status}`)
  const lines = (await response.text()).split('\n').filter((line) => line.trim() !== '')
  const results = lines.map((line) => JSON.parse(line) as ResultLine)
  return batch.items.map(({ custom_id }, index) => {
    // Bug:
    const result = results[index]
    // Repair:
    // const result = results.find((each) => each.custom_id === custom_id)
    // End.
    return { custom_id, status: result?.status ?? `missing at ${index}`, output: result?.output ?? null }
  })
}
