import type { Surroundings } from './client.ts'

const BATCH = {
  prompt: 'Read the total.',
  output_schema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
  model: 'model-1',
  items: [{ custom_id: 'invoice-1', file_id: 'file-invoice-1' }],
}

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
    return await createBatch(BATCH, 'invoices-of-march')
  } catch {
    await sleep(1000)
    return createBatch(BATCH, 'invoices-of-march')
  }
}
