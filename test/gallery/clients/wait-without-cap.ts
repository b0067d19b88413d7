import type { Input, Service } from '../client.ts'

const LONGEST_TIMER = 2 ** 31 - 1

/** Creates a page, and repeats a refused request after its Retry-After. */
export async function run(service: Service, { name }: Input): Promise<unknown> {
  const { post } = service
  for (let attempt = 1; ; attempt++) {
    const response = await post('/pages', { name })
    const body = await response.json()
    if (response.ok) return body
    if (response.status !== 429 || attempt === 3) throw new Error(`status ${response.status}`)
    const seconds = Number(response.headers.get('retry-after') ?? 1)
    // Bug:
    // Repair:
    // if (seconds > 300) throw new Error(`the service asks for a wait of ${seconds} seconds`)
    // End.
    await sleepUntil(service.now() + seconds * 1000, service)
  }
}

/** Waits longer than one timer can. */
async function sleepUntil(instant: number, { sleep, now }: Service): Promise<void> {
  while (now() < instant) await sleep(Math.min(instant - now(), LONGEST_TIMER))
}
