import type { Input, Service } from '../client.ts'

const TERMINAL = ['completed', 'failed', 'expired', 'cancelled']

/** Waits for a batch. */
export async function run({ get, sleep }: Service, { id }: Input): Promise<unknown> {
  for (let wait = 1000; ; wait = Math.min(wait * 2, 30_000)) {
    const response = await get(`/batch-predictions/${id}`)
    if (!response.ok) throw new Error(`status ${response.status}`)
    const batch = (await response.json()) as { status: string }
    if (TERMINAL.includes(batch.status)) return batch
    // Bug:
    // Repair:
    // if (!['validating', 'in_progress', 'finalizing', 'cancelling'].includes(batch.status))
    //   throw new Error(`the batch has the unknown status ${batch.status}`)
    // End.
    await sleep(wait)
  }
}
