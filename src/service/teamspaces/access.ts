import { z } from 'zod'
import { choice, setting } from '../../core/assumptions.ts'
import { refuse, refuseInvalid } from '../../core/errors.ts'
import { intBetween, nonEmptyText } from '../../core/fields.ts'
import { fitsGlob } from '../../core/log/glob.ts'
import {
  type AuthorizeRequest,
  control,
  type Finder,
  type RecordFault,
  type Scope,
} from '../../core/operation.ts'
import { apiKeys, type Caller } from '../../core/request/auth.ts'
import type { Transaction } from '../../core/state/transaction.ts'
import { someOf } from '../../core/strict-input.ts'
import { requireVisible } from '../records.ts'
import {
  byUser,
  join,
  type Membership,
  membershipRecord,
  memberships,
  type Teamspace,
  teamspaces,
  users,
} from './schema.ts'

export const selfJoined = setting<readonly string[]>({
  key: 'teamspace.self_joined.operations',
  item: 'U003',
  description:
    'Sets the operations, as globs of their names, that a user may call who joined an open teamspace without approval.',
  schema: () => z.array(nonEmptyText()).readonly(),
  default: ['converse.*'],
})

export const serviceManagers = choice({
  key: 'teamspace.of_service_key',
  item: 'U078',
  description:
    'Decides who manages a teamspace that a service key has created: the key and account admins of its organization, or only the key.',
  values: ['account_admins', 'key'],
})

/** The one of two memberships of a user in a teamspace that grants more; undefined if neither is live. */
export function stronger(known: Membership | undefined, other: Membership): Membership | undefined {
  if (other.removed_at !== null) return known
  if (known === undefined) return other
  return known.self_joined && !other.self_joined ? other : known
}

/** The live membership of a user in a teamspace that grants most; undefined without one. */
export function liveMembership(
  tx: Transaction,
  teamspaceId: string,
  userId: string | null,
): Membership | undefined {
  if (userId === null) return undefined
  let found: Membership | undefined
  for (const each of tx.in(memberships).where(byUser, userId)) {
    if (each.teamspace_id === teamspaceId) found = stronger(found, each)
  }
  return found
}

/**
 * Refuses callers without access to their teamspace: one of another organization, a user without a live membership, and a
 * self-joined user, except for conversations. Specification: Teamspace, Authentication.
 */
export function authorize({ caller, operation, tx, settings }: AuthorizeRequest): void {
  const { organization_id, teamspace_id, user_id, kind } = caller
  const teamspace = tx.in(teamspaces).get(teamspace_id)
  if (teamspace?._emulator.organization_id !== organization_id) {
    refuse('forbidden', {
      detail: `The organization of the key has no teamspace "${teamspace_id}".`,
      mitigation: 'Use a teamspace of the same organization, or a key of the other organization.',
    })
  }
  if (kind === 'service') return
  const membership = liveMembership(tx, teamspace_id, user_id)
  if (membership === undefined) {
    refuse('forbidden', {
      detail: `The user of the key is not, or no longer, a member of the teamspace "${teamspace_id}".`,
      mitigation: `Add a record with the user_id ${JSON.stringify(user_id)} to the collection memberships.`,
    })
  }
  if (!membership.self_joined) return
  if (!settings.get(selfJoined).some((glob) => fitsGlob(glob, operation.name))) {
    refuse('forbidden', {
      detail: `The user joined the teamspace "${teamspace_id}" without approval and may only converse with its agents.`,
      mitigation: `Approve the user: set self_joined of the membership "${membership.id}" to false.`,
      assumed: [[selfJoined.item, selfJoined]],
    })
  }
}

/** Revokes all memberships of a user in a teamspace. The records stay, as places from which list cursors continue (T28). */
export function revoke({ tx, at }: Pick<Scope, 'tx' | 'at'>, teamspaceId: string, userId: string): void {
  const held = tx.in(memberships).where(byUser, userId)
  const live = held.filter((each) => each.teamspace_id === teamspaceId && each.removed_at === null)
  for (const membership of live) tx.in(memberships).put({ ...membership, removed_at: at })
}

/** The teamspace in the path, if the caller may manage it; otherwise `not_found`. */
export function requireManaged({ tx, caller, params, assume, note }: Finder): Teamspace {
  const teamspace = requireVisible(tx, teamspaces, params.teamspace_id, (each) => {
    if (manages(caller, each, tx)) return true
    return administers(caller, each, tx) && assume(serviceManagers) === 'account_admins'
  })
  // The rate-limit headers of the response are those of the teamspace of the key.
  if (teamspace.id !== caller.teamspace_id) note('U070')
  return teamspace
}

// A service key is not a member of the teamspaces that it creates: without this rule no user could use such a teamspace.
function administers(caller: Caller, { _emulator }: Teamspace, tx: Transaction): boolean {
  const { organization_id, created_by } = _emulator
  if (!caller.account_admin || organization_id !== caller.organization_id || created_by === null) return false
  return tx.in(apiKeys).get(created_by)?.kind === 'service'
}

// The teamspace of the key, which `authorize` has checked; teamspaces of the user's memberships; teamspaces that the service key created.
function manages(caller: Caller, { id, _emulator }: Teamspace, tx: Transaction): boolean {
  if (_emulator.organization_id !== caller.organization_id) return false
  if (id === caller.teamspace_id) return true
  if (caller.kind === 'service') return _emulator.created_by === caller.key_id
  return liveMembership(tx, id, caller.user_id)?.self_joined === false
}

const joinBody = () => z.strictObject({ user_id: z.string(), role: z.string().default('member') })

/**
 * Adds a user to an open teamspace without approval, as users of the real service do in its interface: it shows no endpoint for
 * that (U003). Refuses a closed teamspace with `conflict`; a member stays a member. Specification: Teamspace.
 */
export const joinTeamspace = control({
  name: 'join',
  method: 'POST',
  path: '/teamspaces/{teamspace_id}/join',
  summary: 'Let a user of the organization join an open teamspace without approval',
  input: () => ({ body: joinBody() }),
  output: membershipRecord,
  handle: (scope, { params, body }) => {
    const { tx } = scope
    const teamspace = tx.in(teamspaces).require(params.teamspace_id)
    const { user_id, role } = body
    const user = tx.in(users).get(user_id)
    if (user?.organization_id !== teamspace._emulator.organization_id) {
      refuseInvalid([
        {
          pointer: '/user_id',
          detail: `the organization of the teamspace has no user "${user_id}". "workspace-emulator state list users" lists every user`,
        },
      ])
    }
    const present = liveMembership(tx, teamspace.id, user_id)
    if (present !== undefined) return present
    if (teamspace.access === 'closed') {
      refuse('conflict', {
        detail: `The teamspace "${teamspace.id}" is closed: joining it needs the approval of an admin.`,
        mitigation: 'To approve the user, write a record to the collection memberships.',
      })
    }
    return join(scope, { teamspace_id: teamspace.id, user_id, role }, true)
  },
})

const memberChange = () =>
  someOf({
    /** The number of new users of the organization that become members. */
    add: intBetween(1, 100).optional(),
    /** The id of the user that loses all memberships in the teamspace; lists keep its place for cursors (T28). */
    remove: nonEmptyText().optional(),
  })

/** The move of teamspaces for fault rules. */
export const memberMove: RecordFault<z.output<ReturnType<typeof memberChange>>> = {
  name: 'member',
  description:
    'Changes who belongs to a teamspace between two pages of its users: {"add": 2}, {"remove": "a user\'s id"}.',
  schema: memberChange,
  apply: (scope, id, { add = 0, remove }) => {
    const teamspace = id === undefined ? undefined : scope.tx.in(teamspaces).get(id)
    if (teamspace === undefined) return
    for (let n = 0; n < add; n++) addMember(scope, teamspace)
    if (remove !== undefined) revoke(scope, teamspace.id, remove)
  },
}

function addMember(scope: Scope, { id: teamspace_id, _emulator }: Teamspace): void {
  const { tx, at } = scope
  const id = scope.newId()
  const { organization_id } = _emulator
  const email = `member-${id}@example.com`
  tx.in(users).insert({ id, organization_id, email, first_name: 'New', last_name: 'Member', created_at: at })
  join(scope, { teamspace_id, user_id: id, role: 'member' })
}
