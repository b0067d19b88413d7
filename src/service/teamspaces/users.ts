import { z } from 'zod'
import { choice } from '../../core/assumptions.ts'
import { refuse } from '../../core/errors.ts'
import { queryText } from '../../core/fields.ts'
import { operation } from '../../core/operation.ts'
import type { Transaction } from '../../core/state/transaction.ts'
import { extensible } from '../../core/tomorrow.ts'
import { type Entry, listResponse, objectPage, pageQuery } from '../cursor-page.ts'
import { liveMembership, requireManaged, revoke, stronger } from './access.ts'
import { byTeamspace, type Membership, memberships, type User, userRecord, users, usersOf } from './schema.ts'

export const searchMode = choice({
  key: 'users.search',
  item: 'U021',
  description:
    'Decides how search compares with first name, last name, both, and e-mail address; letter case does not matter.',
  values: ['substring', 'prefix', 'exact'],
})

const userItem = () =>
  userRecord()
    .omit({ organization_id: true, created_at: true })
    .extend({
      email: z.email(),
      permissions: z.strictObject({ role: z.string().register(extensible), agent_ids: z.array(z.string()) }),
    })
    .meta({ title: 'teamspace_user' })

/** A user of a teamspace with the membership that counts. */
class Listed {
  readonly user: User
  readonly membership: Membership
  #item: object | undefined
  #text: string | undefined

  constructor(user: User, membership: Membership) {
    this.user = user
    this.membership = membership
  }

  /** The user as in responses, computed once. */
  get item(): object {
    const { id, email, first_name, last_name } = this.user
    const { role, agent_ids } = this.membership
    this.#item ??= { id, email, first_name, last_name, permissions: { role, agent_ids } }
    return this.#item
  }

  /** {@link item} as JSON, computed once. */
  get text(): string {
    this.#text ??= JSON.stringify(this.item)
    return this.#text
  }
}

export const listUsers = operation({
  name: 'teamspace-users.list',
  method: 'GET',
  path: '/organization/teamspaces/{teamspace_id}/users',
  summary: 'List the users of a teamspace',
  section: 'List teamspace users',
  output: () => listResponse(userItem()),
  input: ({ object }) => ({ query: object({ search: queryText().optional(), ...pageQuery() }) }),
  find: requireManaged,
  handle: (request) => {
    const { tx, query, target, assume } = request
    const { search = '' } = query
    const matches = search === '' ? undefined : matcher(search, assume(searchMode))
    const list = {
      name: usersOf(target.id),
      tables: [users, memberships],
      entries: () => dataOf(tx, target.id),
    }
    const { records, hasMore } = objectPage(request, list, matches && (({ user }) => matches(user)))
    return {
      body: { object: 'list', data: records.map(({ item }) => item), has_more: hasMore },
      text: `{"object":"list","data":[${records.map(({ text }) => text).join()}],"has_more":${hasMore}}`,
    }
  },
})

// A user who has left is an entry without a record, so that cursors keep their place.
function dataOf(tx: Transaction, teamspaceId: string): Iterable<Entry<Listed>> {
  const entries = new Map<string, Entry<Listed>>()
  for (const each of tx.in(memberships).where(byTeamspace, teamspaceId)) {
    const user = tx.in(users).get(each.user_id)
    if (user === undefined) continue
    const { id, created_at } = user
    const membership = stronger(entries.get(id)?.record?.membership, each)
    entries.set(id, { id, created_at, record: membership && new Listed(user, membership) })
  }
  return entries.values()
}

/** A test whether a search finds a user. Exported for its test. */
export function matcher(search: string, mode: 'substring' | 'prefix' | 'exact'): (user: User) => boolean {
  const wanted = search.toLowerCase()
  const compare = {
    substring: (text: string) => text.includes(wanted),
    prefix: (text: string) => text.startsWith(wanted),
    exact: (text: string) => text === wanted,
  }[mode]
  return ({ first_name, last_name, email }) =>
    [first_name, last_name, `${first_name} ${last_name}`, email].some((text) => compare(text.toLowerCase()))
}

export const deleteUser = operation({
  name: 'teamspace-users.delete',
  method: 'DELETE',
  path: '/organization/teamspaces/{teamspace_id}/users/{user_id}',
  summary: "Revoke a user's permissions in a teamspace",
  section: 'Delete teamspace user',
  find: (finder) => {
    const { id } = requireManaged(finder)
    const { user_id = '' } = finder.params
    if (liveMembership(finder.tx, id, user_id) !== undefined) return { teamspace_id: id, user_id }
    return refuse('not_found', { detail: `The teamspace "${id}" has no user with the id "${user_id}".` })
  },
  handle: (request) => {
    const { teamspace_id, user_id } = request.target
    revoke(request, teamspace_id, user_id)
    return { body: {} }
  },
})
