import type { Service } from '../client.ts'

/** Lists the users of a teamspace. The program has switched retries off. */
export function run(service: Service): Promise<unknown> {
  return read(service, '/organization/teamspaces/teamspace-harbor/users', { retries: 0 })
}

async function read({ get, sleep }: Service, path: string, options: { retries?: number }) {
  // Bug:
  const retries = options.retries || 2
  // Repair:
  // const retries = options.retries ?? 2
  // End.
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await get(path)
      const body = await response.json()
      if (response.status < 500) return body
      throw new Error(`status ${response.status}`)
    } catch (error) {
      if (attempt >= retries) throw error
      await sleep(500 * 2 ** attempt)
    }
  }
}
