import type { Input, Service } from '../client.ts'

/** Creates a batch, and repeats the request after a conflict, since a request with the same key may be in progress. */
export async function run({ post, sleep }: Service, { batch, key }: Input): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await post('/batch-predictions', batch, { 'Idempotency-Key': key })
    const body = (await response.json()) as { type?: string }
    if (response.ok) return body
    // Bug:
    const mayRetry = response.status === 409
    // Repair:
    // const mayRetry = response.status === 409 && body.type?.endsWith('/idempotency_key_in_use')
    // End.
    if (!mayRetry || attempt === 4) throw new Error(`status ${response.status}: ${body.type}`)
    await sleep(1000 * 2 ** attempt)
  }
}
