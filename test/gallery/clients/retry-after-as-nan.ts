import type { Input, Service } from '../client.ts'

/** Creates a page, and repeats a refused request after its Retry-After. */
export async function run({ post, sleep }: Service, { name }: Input): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await post('/pages', { name })
    const body = await response.json()
    if (response.ok) return body
    if (response.status !== 429 || attempt === 8) throw new Error(`${response.status}`)
    const header = response.headers.get('retry-after')
    // Bug:
    await sleep(Number(header) * 1000)
    // Repair:
    // const seconds = header === null ? Number.NaN : Number(header)
    // await sleep(Number.isNaN(seconds) ? 1000 * 2 ** attempt : seconds * 1000)
    // End.
  }
}
