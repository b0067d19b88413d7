import type { Input, Service } from '../client.ts'

/** Reads the results of a batch. */
export async function run({ get }: Service, { id }: Input): Promise<unknown> {
  const response = await get(`/batch-predictions/${id}/results`)
  const text = await response.text()
  if (!response.ok) throw new Error(`status ${response.status}: ${text}`)
  // Bug:
  const lines = text.replace(/\n$/, '').split('\n')
  // Repair:
  // const lines = text.split('\n').filter((line) => line.trim() !== '')
  // End.
  return lines.map((line) => JSON.parse(line))
}
