import type { Input, Service } from '../client.ts'

/** Creates a page, and repeats a request that the service refuses. */
export async function run({ baseUrl, apiKey, sleep }: Service, { name }: Input): Promise<unknown> {
  const id = crypto.randomUUID()
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${baseUrl}/pages`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${apiKey}`,
        'Content-Type': 'application/json',
        'X-Request-Id': id,
      },
      body: JSON.stringify({ name }),
    })
    const body = await response.json()
    if (response.ok) return body
    const header = response.headers.get('retry-after')
    const seconds = header === null ? undefined : Number(header)
    // Bug:
    const mayRetry = response.status === 429 && seconds
    // Repair:
    // const mayRetry = response.status === 429 && seconds !== undefined
    // End.
    if (!mayRetry || attempt === 4) throw new Error(`status ${response.status}`)
    await sleep(Number(seconds) * 1000)
  }
}
