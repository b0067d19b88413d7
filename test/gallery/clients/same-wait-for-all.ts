import type { Input, Service } from '../client.ts'

/** Creates a page, and repeats a refused request after its Retry-After. Twenty of these run at the same time. */
export async function run(service: Service, { name }: Input): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await service.post('/pages', { name })
    const body = await response.json()
    if (response.ok) return body
    if (response.status !== 429 || attempt === 5) throw new Error(`status ${response.status}`)
    const wait = Number(response.headers.get('retry-after') ?? 2 ** attempt) * 1000
    // Bug:
    await service.sleep(wait)
    // Repair:
    // await service.sleep(wait * (1 + service.random() / 2))
    // End.
  }
}
