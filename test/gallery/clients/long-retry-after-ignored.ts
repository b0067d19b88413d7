import type { Service } from '../client.ts'

/** Lists the users of a teamspace, and repeats a refused request twice. */
export async function run({ get, sleep }: Service): Promise<unknown> {
  for (let retriesLeft = 2; ; retriesLeft--) {
    const response = await get('/organization/teamspaces/teamspace-harbor/users')
    const body = await response.json()
    if (response.ok) return body
    if (response.status !== 429 || retriesLeft === 0) throw new Error(`status ${response.status}`)
    const requested = Number(response.headers.get('retry-after')) * 1000
    // Bug:
    const isUsable = requested > 0 && requested <= 60_000
    // Repair:
    // const isUsable = requested > 0
    // End.
    await sleep(isUsable ? requested : Math.min(0.5 * 2 ** (2 - retriesLeft), 8) * 1000)
  }
}
