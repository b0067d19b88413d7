import type { Input, Service } from '../client.ts'

/** Reads the results of a batch line by line, while they arrive. */
export async function run({ get }: Service, { id }: Input): Promise<unknown> {
  const response = await get(`/batch-predictions/${id}/results`)
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
  const decoder = new TextDecoder()
  const lines: string[] = []
  let rest = ''
  for await (const piece of response.body) {
    rest += decoder.decode(piece, { stream: true })
    // Bug:
    const complete = rest.split(/\r\n|\r|\n/)
    // Repair:
    // const complete = rest.split('\n')
    // End.
    rest = complete.pop() ?? ''
    lines.push(...complete)
  }
  if (rest !== '') lines.push(rest)
  return lines.map((line) => JSON.parse(line))
}
