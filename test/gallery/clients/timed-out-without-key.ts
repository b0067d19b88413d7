import type { Input, Service } from '../client.ts'

/** Creates a batch, and repeats a request that gets no response in time. */
export async function run(service: Service, { batch, key }: Input): Promise<unknown> {
  const { baseUrl, apiKey, sleep, timeout } = service
  const headers: Record<string, string> = {
    Authorization: `Bearer ${apiKey}`,
    'Content-Type': 'application/json',
  }
  // Bug:
  // Repair:
  // headers['Idempotency-Key'] = key
  // End.
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(`${baseUrl}/batch-predictions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(batch),
        signal: AbortSignal.timeout(timeout),
      })
      return await response.json()
    } catch (error) {
      if (attempt === 3) throw new Error(`no response for ${key}`, { cause: error })
      await sleep(1000 * 2 ** attempt)
    }
  }
}
