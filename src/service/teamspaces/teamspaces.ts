import { z } from 'zod'
import { type Settings, setting } from '../../core/assumptions.ts'
import { text } from '../../core/fields.ts'
import { valueAt } from '../../core/json.ts'
import { operation } from '../../core/operation.ts'
import type { Transaction } from '../../core/state/transaction.ts'
import { type Assume, keepField, refuseEmpty } from '../records.ts'
import { requireManaged } from './access.ts'
import {
  access,
  byTeamspace,
  cloudNames,
  cloudOf,
  join,
  memberships,
  NAME_MAX,
  nameOfCloud,
  newTeamspace,
  type Teamspace,
  teamspaceRecord,
  teamspaces,
} from './schema.ts'

export const defaultAccess = setting({
  key: 'teamspace.access.default',
  item: 'U024',
  description: 'Sets the access of a teamspace that is created without one.',
  schema: access,
  default: 'closed',
  observe: ({ operation, sent, received }) =>
    operation === 'teamspaces.create' && valueAt(sent, '/access') === undefined
      ? (valueAt(received, '/access') as 'open' | 'closed' | undefined)
      : undefined,
})

const teamspaceResponse = (settings: Settings) =>
  teamspaceRecord(settings)
    .omit({ _emulator: true })
    .extend({ cloud_provider: cloudNames(settings) })
    .meta({ title: 'teamspace' })

function responseOf({ id, cloud_provider, name, access, created_at }: Teamspace, assume: Assume): object {
  return { id, cloud_provider: assume(nameOfCloud(cloud_provider)), name, access, created_at }
}

export const createTeamspace = operation({
  name: 'teamspaces.create',
  method: 'POST',
  path: '/organization/teamspaces',
  summary: 'Create a teamspace',
  section: 'Create teamspace',
  output: teamspaceResponse,
  input: (fields, settings) => ({ body: newTeamspace(fields, settings) }),
  handle: (request) => {
    const { tx, body, caller, newId, at, assume, settings } = request
    const cloud = body.cloud_provider === undefined ? undefined : cloudOf(body.cloud_provider, settings)
    const teamspace = tx.in(teamspaces).insert({
      id: newId(),
      cloud_provider: cloud ?? 'cloud_b',
      name: body.name ?? '',
      access: body.access ?? assume(defaultAccess),
      created_at: at,
      _emulator: {
        organization_id: caller.organization_id,
        created_by: caller.key_id,
        joined_while_open: [],
      },
    })
    if (caller.user_id !== null)
      join(request, { teamspace_id: teamspace.id, user_id: caller.user_id, role: 'owner' })
    return { body: responseOf(teamspace, assume) }
  },
})

export const updateTeamspace = operation({
  name: 'teamspaces.update',
  method: 'PATCH',
  path: '/organization/teamspaces/{teamspace_id}',
  summary: 'Change the name or the access of a teamspace',
  section: 'Update teamspace',
  output: teamspaceResponse,
  input: ({ object }) => ({
    body: object({
      name: text(NAME_MAX).optional(),
      access: access().optional(),
      cloud_provider: z.unknown().optional(),
    }),
  }),
  find: requireManaged,
  handle: ({ tx, body, target, assume }) => {
    const empty = body.name === undefined && body.access === undefined
    if (body.cloud_provider !== undefined)
      keepField('cloud_provider', body.cloud_provider, assume(nameOfCloud(target.cloud_provider)), {
        assume,
        detail: 'cannot change after creation; leave it out, or create another teamspace',
      })
    else if (empty) refuseEmpty(assume, 'has no field that can be updated; give name or access')
    if (empty) return { body: responseOf(target, assume) }
    const teamspace = tx.in(teamspaces).put({
      ...target,
      name: body.name ?? target.name,
      access: body.access ?? target.access,
      _emulator: { ...target._emulator, joined_while_open: staying(target, body.access, tx) },
    })
    return { body: responseOf(teamspace, assume) }
  },
})

// Closing a teamspace removes no member: users who joined while it was open stay.
function staying(
  { id, access, _emulator }: Teamspace,
  next: Teamspace['access'] | undefined,
  tx: Transaction,
): string[] {
  if (next !== 'closed' || access === 'closed') return _emulator.joined_while_open
  return tx
    .in(memberships)
    .where(byTeamspace, id)
    .filter((each) => each.self_joined && each.removed_at === null)
    .map((each) => each.id)
}
