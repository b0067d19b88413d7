import type * as z from 'zod'
import { intBetween, nonEmptyText } from '../../kernel/fields.ts'
import type { AnyMove, Move, Scope } from '../../kernel/operation.ts'
import { someOf } from '../../kernel/strict-input.ts'
import { revoke } from './access.ts'
import { memberships, type Teamspace, teamspaces, users } from './schema.ts'

interface MemberMove {
  /** So many new users of the organization become members. */
  readonly add?: number | undefined
  /** The user with this id loses all that it holds in the teamspace; lists keep its place for cursors (T28). */
  readonly remove?: string | undefined
}

const memberMove: Move<MemberMove> = {
  name: 'member',
  says: 'Changes who belongs to a teamspace between two pages of its users: {"add": 2}, {"remove": "a user\'s id"}.',
  schema: (): z.ZodType<MemberMove> =>
    someOf({ add: intBetween(1, 100).optional(), remove: nonEmptyText().optional() }),
  apply: (scope, id, { add = 0, remove }) => {
    const teamspace = id === undefined ? undefined : scope.tx.in(teamspaces).get(id)
    if (teamspace === undefined) return
    for (let n = 0; n < add; n++) addMember(scope, teamspace)
    if (remove !== undefined) revoke(scope, teamspace.id, remove)
  },
}

/** What faults can do to teamspaces. */
export const teamspaceMoves: readonly AnyMove[] = [memberMove]

function addMember({ tx, at, newId }: Scope, { id: teamspace_id, _emulator }: Teamspace): void {
  const id = newId()
  const { organization_id } = _emulator
  const email = `member-${id}@example.com`
  tx.in(users).put({ id, organization_id, email, first_name: 'New', last_name: 'Member', created_at: at })
  tx.in(memberships).put({
    id: newId(),
    teamspace_id,
    user_id: id,
    role: 'member',
    agent_ids: [],
    created_at: at,
    removed_at: null,
    self_joined: false,
  })
}
