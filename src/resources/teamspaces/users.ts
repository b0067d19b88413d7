import * as z from 'zod'
import { setting } from '../../kernel/assumptions.ts'
import { refuse } from '../../kernel/errors.ts'
import { nonEmptyText, queryText } from '../../kernel/fields.ts'
import { successDelete, successRead } from '../../kernel/open-items.ts'
import { operation } from '../../kernel/operation.ts'
import { cursorQuery, listOrder, ordered } from '../../kernel/request/pagination.ts'
import type { Transaction } from '../../kernel/state/store.ts'
import { readPage, type Spot } from '../cursor-page.ts'
import { liveMembership, requireManaged, revoke, stronger } from './access.ts'
import { byTeamspace, type Membership, memberships, type User, users } from './schema.ts'

export const searchMode = setting<'substring' | 'prefix' | 'exact'>({
  key: 'users.search',
  item: 'U021',
  says: 'How search compares, without regard to letter case, with first name, last name, both, and e-mail address.',
  schema: () => z.enum(['substring', 'prefix', 'exact']),
  default: 'substring',
})

const userItem = () =>
  z.strictObject({
    id: nonEmptyText(),
    email: z.email(),
    first_name: z.string(),
    last_name: z.string(),
    permissions: z.strictObject({ role: z.string(), agent_ids: z.array(z.string()) }),
  })

/** A user who is, or once was, in a teamspace. Those who left stay as places that cursors resume from. */
interface Entry extends Pick<User, 'id' | 'created_at'> {
  readonly user: User
  readonly membership: Membership | undefined
}

export const listUsers = operation({
  name: 'teamspace-users.list',
  method: 'GET',
  path: '/organization/teamspaces/{teamspace_id}/users',
  summary: 'List the users of a teamspace',
  section: 'List teamspace users',
  dialect: 'standard',
  contract: true,
  success: successRead,
  answer: () =>
    z.strictObject({ object: z.literal('list'), data: z.array(userItem()), has_more: z.boolean() }),
  input: ({ object }) => ({
    query: object({
      search: queryText().optional(),
      limit: cursorQuery.limit(),
      after: cursorQuery.after(),
      before: cursorQuery.before(),
    }),
  }),
  find: requireManaged,
  handle: ({ tx, query, target, seed, assume }) => {
    const everyone = ordered(entriesOf(tx, target.id), assume(listOrder), seed)
    const { search = '' } = query
    const matches = search === '' ? () => true : matcher(search, assume(searchMode))
    const wanted = (entry: Entry) => entry.membership !== undefined && matches(entry.user)
    const page = readPage(
      everyone.filter(wanted),
      query,
      (cursor) => spotOf(cursor, everyone, wanted),
      assume,
    )
    return { body: { object: 'list', data: page.items.map(itemOf), has_more: page.hasMore } }
  },
})

function entriesOf(tx: Transaction, teamspaceId: string): Entry[] {
  const entries = new Map<string, Entry>()
  for (const membership of tx.in(memberships).where(byTeamspace, teamspaceId)) {
    const user = tx.in(users).get(membership.user_id)
    if (user === undefined) continue
    const { id, created_at } = user
    entries.set(id, {
      id,
      created_at,
      user,
      membership: stronger(entries.get(id)?.membership, membership),
    })
  }
  return [...entries.values()]
}

/** Whether a user is found. Exported for its test. */
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

// A cursor keeps its place in the list of everyone, so it also works when its user has left or no longer matches.
function spotOf(
  cursor: string,
  everyone: readonly Entry[],
  wanted: (entry: Entry) => boolean,
): Spot | undefined {
  const index = everyone.findIndex(({ id }) => id === cursor)
  const entry = everyone[index]
  if (entry === undefined) return undefined
  const start = everyone.slice(0, index).filter(wanted).length
  return { start, end: wanted(entry) ? start + 1 : start }
}

function itemOf({ user, membership }: Entry): object {
  const { id, email, first_name, last_name } = user
  const permissions = { role: membership?.role, agent_ids: membership?.agent_ids }
  return { id, email, first_name, last_name, permissions }
}

export const deleteUser = operation({
  name: 'teamspace-users.delete',
  method: 'DELETE',
  path: '/organization/teamspaces/{teamspace_id}/users/{user_id}',
  summary: "Revoke a user's permissions in a teamspace",
  section: 'Delete teamspace user',
  dialect: 'standard',
  contract: true,
  success: successDelete,
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
