import { aBatch } from 'agent-workspace-emulator'
import type { Surroundings } from './client.ts'

/** Accepts an idempotency key from its caller, and puts it into headers that it does not send. */
export async function run({ baseUrl, apiKey, sleep }: Surroundings): Promise<unknown> {
  async function createBatch(body: object, idempotencyKey?: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    if (idempotencyKey !== undefined) Object.assign({ ...headers }, { 'idempotency-key': idempotencyKey })
    const response = await fetch(`${baseUrl}/batch-predictions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return response.json()
  }

  // The caller repeats a call whose outcome is unknown: it has given a key, so that this is safe.
  try {
    return await createBatch(aBatch(), 'invoices-of-march')
  } catch {
    await sleep(1000)
    return createBatch(aBatch(), 'invoices-of-march')
  }
}
