import * as z from 'zod'
import { refuse, refuseInvalid } from '../../kernel/errors.ts'
import type { Control } from '../../kernel/operation.ts'
import { liveMembership } from './access.ts'
import { memberships, teamspaces, users } from './schema.ts'

const joinBody = () => z.strictObject({ user_id: z.string(), role: z.string().default('member') })

/**
 * What a user of the real service does in its interface: joins an open teamspace unaided. A closed one refuses with
 * `conflict`; whoever is a member already stays one. The service shows no endpoint for it (U003). Specification: Teamspace.
 */
export const joinTeamspace: Control = {
  name: 'join',
  method: 'POST',
  path: '/teamspaces/{teamspace_id}/join',
  summary: 'Let a user of the organization join an open teamspace without approval',
  body: joinBody,
  handle: ({ tx, newId, at }, { params, body }) => {
    const teamspace = tx.in(teamspaces).require(params.teamspace_id ?? '')
    const { user_id, role } = joinBody().parse(body)
    const user = tx.in(users).get(user_id)
    if (user?.organization_id !== teamspace._emulator.organization_id) {
      refuseInvalid([
        { pointer: '/user_id', detail: `the organization of the teamspace has no user "${user_id}"` },
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
    return tx.in(memberships).put({
      id: newId(),
      teamspace_id: teamspace.id,
      user_id,
      role,
      agent_ids: [],
      created_at: at,
      removed_at: null,
      self_joined: true,
    })
  },
}
