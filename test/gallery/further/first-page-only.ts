import type { Surroundings } from './client.ts'

interface User {
  readonly id: string
  readonly email: string
}

/** Returns the data of the first page as the whole list: has_more is not read, and no caller can see it. */
export async function run({ baseUrl, apiKey }: Surroundings): Promise<readonly User[]> {
  const url = `${baseUrl}/organization/teamspaces/teamspace-harbor/users?limit=5`
  const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } })
  if (!response.ok) throw new Error(`status ${response.status}`)
  const { data } = (await response.json()) as { readonly data?: readonly User[] }
  return Array.isArray(data) ? data : []
}
