import { aBatch } from 'agent-workspace-emulator'
import type { Surroundings } from './client.ts'

/** Splits each chunk into lines and keeps nothing for the next one: a line in two chunks ends the stream. */
export async function run({ baseUrl, apiKey, sleep }: Surroundings): Promise<unknown> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const created = await fetch(`${baseUrl}/batch-predictions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(aBatch({ items: 3 })),
  })
  const { id } = (await created.json()) as { readonly id: string }
  await sleep(3_600_000)
  const response = await fetch(`${baseUrl}/batch-predictions/${id}/results`, { headers })
  const results: unknown[] = []
  for await (const chunk of response.body ?? []) {
    for (const line of Buffer.from(chunk).toString('utf8').split('\n')) {
      if (line !== '') results.push(JSON.parse(line))
    }
  }
  return results
}
