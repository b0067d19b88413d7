import type { Input, Service } from '../client.ts'

/** Creates a page, and repeats a request that the service refuses. */
export async function run({ post, sleep }: Service, { name }: Input): Promise<unknown> {
  const id = crypto.randomUUID()
  for (let attempt = 1; ; attempt++) {
    const response = await post('/pages', { name }, { 'X-Request-Id': id })
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
