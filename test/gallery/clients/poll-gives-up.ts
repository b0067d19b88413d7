import type { Input, Service } from '../client.ts'

const TERMINAL = ['completed', 'failed', 'expired', 'cancelled']

/** Waits for a batch. */
export async function run({ get, sleep }: Service, { id }: Input): Promise<unknown> {
  // Bug:
  // Repair:
  // let failures = 0
  // End.
  for (let polls = 0; polls < 1000; polls++) {
    const response = await get(`/batch-predictions/${id}`)
    const batch = (await response.json()) as { status: string }
    // Bug:
    if (!response.ok) throw new Error(`the batch cannot be read: ${response.status}`)
    // Repair:
    // if (!response.ok && (response.status < 500 || ++failures === 5))
    //   throw new Error(`the batch cannot be read: ${response.status}`)
    // End.
    if (response.ok && TERMINAL.includes(batch.status)) return batch
    await sleep(1000 + 500 * polls)
  }
  throw new Error('the batch is not finished')
}
