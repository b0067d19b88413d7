import type { Service } from '../client.ts'

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly has_more: boolean
}

/** Lists all users of a teamspace, in pages of ten. */
export async function run({ get }: Service): Promise<unknown> {
  const users: Page['data'][number][] = []
  for (let requests = 0; requests < 100; requests++) {
    const after = users.length === 0 ? '' : `&after=${users.at(-1)?.id}`
    const response = await get(`/organization/teamspaces/teamspace-harbor/users?limit=10${after}`)
    if (!response.ok) throw new Error(`status ${response.status}`)
    const page = (await response.json()) as Page
    users.push(...page.data)
    // Bug:
    if (page.data.length === 0 || !page.has_more) return users
    // Repair:
    // if (!page.has_more) return users
    // End.
  }
  throw new Error('the list does not end')
}
