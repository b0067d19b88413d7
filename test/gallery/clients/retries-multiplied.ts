import type { Service } from '../client.ts'

/** Lists the users of a teamspace through a library that retries, in a wrapper that retries too. */
export async function run(service: Service): Promise<unknown> {
  const list = () => library(service, '/organization/teamspaces/teamspace-harbor/users')
  // Bug:
  for (let attempt = 1; attempt < 6; attempt++) {
    try {
      return await list()
    } catch {
      await service.sleep(2000 * 2 ** attempt)
    }
  }
  // Repair:
  // End.
  return list()
}

/** The library: six attempts, with the wait that the service asks for. */
async function library({ get, sleep }: Service, path: string): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const response = await get(path)
    const body = await response.json()
    if (response.ok) return body
    if (response.status !== 429 || attempt === 6) throw new Error(`status ${response.status}`)
    await sleep(Number(response.headers.get('retry-after')) * 1000)
  }
}
