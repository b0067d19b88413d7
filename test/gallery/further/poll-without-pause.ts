import { aBatch } from 'agent-workspace-emulator'
import type { Surroundings } from './client.ts'

/** Uses the interval of its configuration as it is: 0 makes a loop without pause, until the time-out. */
export async function run({ baseUrl, apiKey, sleep }: Surroundings): Promise<unknown> {
  const configuration = { pollIntervalMs: 0 }
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const created = await fetch(`${baseUrl}/batch-predictions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(aBatch()),
  })
  const { id } = (await created.json()) as { readonly id: string }
  // The time-out, as a number of polls: the same on every machine.
  for (let poll = 1; poll <= 60; poll++) {
    const response = await fetch(`${baseUrl}/batch-predictions/${id}`, { headers })
    const batch = (await response.json()) as { readonly status: string }
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch
    await sleep(configuration.pollIntervalMs)
  }
  throw new Error(`the batch ${id} did not end in time`)
}
