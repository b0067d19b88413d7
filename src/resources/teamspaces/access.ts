import { refuse } from '../../kernel/errors.ts'
import type { AuthorizeRequest, Finder, Scope } from '../../kernel/operation.ts'
import type { Caller } from '../../kernel/request/auth.ts'
import type { Transaction } from '../../kernel/state/store.ts'
import { requireVisible } from '../visible.ts'
import { byUser, type Membership, memberships, type Teamspace, teamspaces } from './schema.ts'

/** Of two memberships of one user in one teamspace the one that grants more; undefined while none is live. */
export function stronger(known: Membership | undefined, other: Membership): Membership | undefined {
  if (other.removed_at !== null) return known
  if (known === undefined) return other
  return known.self_joined && !other.self_joined ? other : known
}

/** What a user holds in a teamspace; undefined where nothing is live. */
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
 * Refuses callers who have no business in the teamspace that they act in: a teamspace of another organization, a user
 * without a live membership, and a self-joined user who does anything but converse. Specification: Teamspace, Authentication.
 */
export function authorize({ caller, operation, tx }: AuthorizeRequest): void {
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
  if (membership.self_joined && !operation.name.startsWith('converse.')) {
    refuse('forbidden', {
      detail: `The user joined the teamspace "${teamspace_id}" without approval and may only converse with its agents.`,
      mitigation: `Approve the user: set self_joined of the membership "${membership.id}" to false.`,
      assumed: ['U003'],
    })
  }
}

/** Takes from a user all that it holds in a teamspace. The records stay as places that list cursors resume from (T28). */
export function revoke({ tx, at }: Pick<Scope, 'tx' | 'at'>, teamspaceId: string, userId: string): void {
  const held = tx.in(memberships).where(byUser, userId)
  const live = held.filter((each) => each.teamspace_id === teamspaceId && each.removed_at === null)
  for (const membership of live) tx.in(memberships).put({ ...membership, removed_at: at })
}

/** The teamspace in the path, where the caller may manage it; else `not_found`. */
export function requireManaged({ tx, caller, params }: Finder): Teamspace {
  return requireVisible(tx, teamspaces, params.teamspace_id, (each) => manages(caller, each, tx))
}

// Beside the teamspace that the key acts in, which `authorize` has looked at: those that the user is a member of, or that the service key made.
function manages(caller: Caller, { id, _emulator }: Teamspace, tx: Transaction): boolean {
  if (_emulator.organization_id !== caller.organization_id) return false
  if (id === caller.teamspace_id) return true
  if (caller.kind === 'service') return _emulator.created_by === caller.key_id
  return liveMembership(tx, id, caller.user_id)?.self_joined === false
}
