import type { Service } from '../client.ts'

/** Lists the users of a teamspace, and waits as long as the service asks for. */
export async function run({ get, sleep }: Service): Promise<unknown> {
  const path = '/organization/teamspaces/teamspace-harbor/users'
  let failures = 0
  while (failures < 6) {
    const response = await get(path)
    if (response.ok) return response.json()
    await response.arrayBuffer()
    if (response.status !== 429) break
    failures++
    const seconds = Number(response.headers.get('retry-after') ?? failures)
    // Bug:
    // Repair:
    // if (seconds > 300) throw new Error(`the service asks for a wait of ${seconds} seconds`)
    // End.
    await sleep(seconds * 1000)
  }
  throw new Error(`GET ${path} failed ${failures} times`)
}
