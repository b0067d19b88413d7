import type { Service } from '../client.ts'

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly has_more: boolean
}

/** Lists all users of a teamspace, in pages of ten. */
export async function run({ get }: Service): Promise<unknown> {
  const list = '/organization/teamspaces/teamspace-harbor/users?limit=10'
  const users: unknown[] = []
  // Bug:
  // Repair:
  // const cursors = new Set<string>()
  // End.
  for (let after = ''; ; ) {
    const response = await get(list + after)
    if (!response.ok) throw new Error(`status ${response.status}`)
    const page = (await response.json()) as Page
    users.push(...page.data)
    if (!page.has_more) return users
    after = `&after=${page.data.at(-1)?.id}`
    // Bug:
    // Repair:
    // if (cursors.has(after)) throw new Error(`the cursor ${after} came twice`)
    // cursors.add(after)
    // End.
  }
}
