import type { Input, Service } from '../client.ts'

/** Creates a batch, and repeats the request after a conflict, since a request with the same key may be in progress. */
export async function run({ baseUrl, apiKey, sleep }: Service, { batch, key }: Input): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${baseUrl}/batch-predictions`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
      },
      body: JSON.stringify(batch),
    })
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
