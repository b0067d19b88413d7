import { z } from 'zod'
import { type Settings, setting } from '../../core/assumptions.ts'
import { requiredFlag, requiredIf } from '../../core/core-assumptions.ts'
import { type FieldKit, type InputOf, nonEmptyText, text, timestamp } from '../../core/fields.ts'
import { type Issue, valueAt } from '../../core/json.ts'
import type { Scope } from '../../core/operation.ts'
import { collection } from '../../core/state/collection.ts'
import type { Index } from '../../core/state/indexes.ts'
import type { Transaction } from '../../core/state/transaction.ts'
import { DAY } from '../../core/time/instant.ts'
import { organizations } from '../organizations.ts'
import { missing, oneOfNames, recordedName, refersTo } from '../records.ts'

/** Refuses the value of another setting. */
const unlike = (key: string) => (value: string, settingOf: (key: string) => unknown) =>
  value === settingOf(key) ? `must not have the same value as ${key}` : undefined

export const cloudA = setting({
  key: 'names.cloud_a',
  item: 'U009',
  description:
    'Decides how requests and responses name the first cloud provider; records always have cloud_a.',
  schema: nonEmptyText,
  default: 'cloud_a',
  clash: unlike('names.cloud_b'),
})

export const cloudB = setting({
  key: 'names.cloud_b',
  item: 'U009',
  description:
    'Decides how requests and responses name the second cloud provider, the default; records always have cloud_b.',
  schema: nonEmptyText,
  default: 'cloud_b',
  clash: unlike('names.cloud_a'),
  observe: ({ operation, sent, received }) =>
    operation === 'teamspaces.create' && valueAt(sent, '/cloud_provider') === undefined
      ? (valueAt(received, '/cloud_provider') as string | undefined)
      : undefined,
})

const clouds = ['cloud_a', 'cloud_b'] as const

/** The name of a cloud provider in records. It is independent of the names in the settings, which may change at any time. */
export type Cloud = (typeof clouds)[number]

/** The setting that names a cloud. */
export function nameOfCloud(cloud: Cloud): typeof cloudA {
  return cloud === 'cloud_a' ? cloudA : cloudB
}

/** The cloud with a name in the settings; undefined for an unknown name. */
export function cloudOf(name: string, settings: Settings): Cloud | undefined {
  return clouds.find((cloud) => settings.get(nameOfCloud(cloud)) === name)
}

/** The most characters of a teamspace's name. Specification: Field and parameter bounds. */
export const NAME_MAX = 300

export const access = () => z.enum(['open', 'closed'])

export const nameRequired = requiredFlag('teamspaces.create', 'name', true)

export const cloudNames = (settings: Settings) =>
  oneOfNames([settings.get(cloudA), settings.get(cloudB)], cloudA, cloudB)

/** The body of a creation. */
export const newTeamspace = ({ object }: FieldKit, settings: Settings) =>
  object({
    name: requiredIf(settings.get(nameRequired), text(NAME_MAX)),
    access: access().optional(),
    cloud_provider: cloudNames(settings).optional(),
  })

export const teamspaceRecord = (settings: Settings) =>
  z.strictObject({
    id: nonEmptyText(),
    cloud_provider: recordedName(clouds, [settings.get(cloudA), settings.get(cloudB)]),
    name: text(NAME_MAX),
    access: access(),
    created_at: timestamp(),
    _emulator: z.strictObject({
      organization_id: z.string(),
      /** The key that created it: a service key, which is not a member, may manage the teamspaces that it created. */
      created_by: z.string().nullable().default(null),
      /** Self-joined memberships from the time when the teamspace was open; they stay after it is closed. */
      joined_while_open: z.array(z.string()).default([]),
    }),
  })

export type Teamspace = z.output<ReturnType<typeof teamspaceRecord>>

/** A record of `teamspaces` to write. */
export type TeamspaceRecord = InputOf<typeof teamspaceRecord>

export const teamspaces = collection<Teamspace>({
  name: 'teamspaces',
  label: 'teamspace',
  schema: teamspaceRecord,
  check: refersTo(organizations, '_emulator', 'organization_id'),
  generate: ({ faker, chance, newId, ago, any }) => ({
    id: newId(),
    cloud_provider: chance.pick(clouds),
    name: faker.company.buzzNoun(),
    access: chance.pick(['open', 'closed']),
    created_at: ago(chance.int(30, 400) * DAY),
    _emulator: { organization_id: any(organizations).id },
  }),
})

export const userRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    organization_id: z.string(),
    email: z.email({ error: 'must be an e-mail address such as ada@example.com' }),
    first_name: z.string(),
    last_name: z.string(),
    created_at: timestamp(),
  })

export type User = z.output<ReturnType<typeof userRecord>>

/** A record of `users` to write. */
export type UserRecord = InputOf<typeof userRecord>

export const users = collection<User>({
  name: 'users',
  label: 'user',
  schema: userRecord,
  check: refersTo(organizations, 'organization_id'),
  generate: ({ faker, chance, newId, ago, any }) => {
    const [first_name, last_name] = [faker.person.firstName(), faker.person.lastName()]
    return {
      id: newId(),
      // An organization that has a teamspace: other users could not become members of any.
      organization_id: any(teamspaces)._emulator.organization_id,
      email: faker.internet.exampleEmail({ firstName: first_name, lastName: last_name }).toLowerCase(),
      first_name,
      last_name,
      created_at: ago(chance.int(1, 400) * DAY),
    }
  },
})

export const membershipRecord = () =>
  z.strictObject({
    id: nonEmptyText(),
    teamspace_id: z.string(),
    user_id: z.string(),
    /** An opaque word; only `owner` has a meaning in the specification (U004). */
    role: z.string(),
    agent_ids: z.array(z.string()).default([]),
    created_at: timestamp(),
    /** When the membership was revoked. The record stays, as the place from which list cursors continue (T28). */
    removed_at: timestamp().nullable().default(null),
    /** Joined without approval, which an open teamspace allows: such a user may only converse. */
    self_joined: z.boolean().default(false),
  })

export type Membership = z.output<ReturnType<typeof membershipRecord>>

/** A record of `memberships` to write. */
export type MembershipRecord = InputOf<typeof membershipRecord>

/** The list of a teamspace's users. */
export const usersOf = (teamspaceId: string): string => `teamspaces/${teamspaceId}/users`

/** The memberships of users in teamspaces. A user may have several in one; the one that grants most counts. */
export const memberships = collection<Membership>({
  name: 'memberships',
  label: 'membership',
  schema: membershipRecord,
  check: checkMembership,
  place: ({ teamspace_id, user_id }, tx) => {
    const user = tx.in(users).get(user_id)
    return user && { list: usersOf(teamspace_id), cursor: user_id, created_at: user.created_at }
  },
  // From the newest user backwards: generated users get one generated membership each, and users from fixtures keep only the
  // memberships in the fixtures.
  generate: ({ chance, n, start, newId, ago, all, any }) => {
    const everyone = all(users)
    const user = everyone.at(-1 - (n % everyone.length)) ?? any(users)
    return {
      id: newId(),
      teamspace_id: any(teamspaces, ({ _emulator }) => _emulator.organization_id === user.organization_id).id,
      user_id: user.id,
      role: 'member',
      created_at: ago(chance.int(0, Math.max(0, start - Date.parse(user.created_at)))),
    }
  },
})

/** Creates the membership of a user in a teamspace. */
export function join(
  { tx, newId, at }: Pick<Scope, 'tx' | 'newId' | 'at'>,
  facts: Pick<Membership, 'teamspace_id' | 'user_id' | 'role'>,
  self_joined = false,
): Membership {
  const id = newId()
  const { teamspace_id, user_id, role } = facts
  const granted = { teamspace_id, user_id, role, agent_ids: [] }
  return tx.in(memberships).insert({ id, ...granted, created_at: at, removed_at: null, self_joined })
}

/** Indexes: every request reads the memberships of its caller, every list of users those of a teamspace. */
export const byUser: Index<Membership> = { keyOf: ({ user_id }) => user_id }
export const byTeamspace: Index<Membership> = { keyOf: ({ teamspace_id }) => teamspace_id }

// The last rule is for closed teamspaces: joining one needs approval (R026).
function checkMembership(membership: Membership, tx: Transaction): readonly Issue[] {
  const teamspace = tx.in(teamspaces).get(membership.teamspace_id)
  const user = tx.in(users).get(membership.user_id)
  if (teamspace === undefined || user === undefined)
    return [
      ...missing(tx, teamspaces, membership.teamspace_id, 'teamspace_id'),
      ...missing(tx, users, membership.user_id, 'user_id'),
    ]
  if (user.organization_id !== teamspace._emulator.organization_id) {
    const detail = `the user belongs to the organization "${user.organization_id}", the teamspace to "${teamspace._emulator.organization_id}"`
    return [{ pointer: '/user_id', detail }]
  }
  const joinedUnaided = membership.self_joined && membership.removed_at === null
  const { id, access, _emulator } = teamspace
  if (!joinedUnaided || access === 'open' || _emulator.joined_while_open.includes(membership.id)) return []
  const detail = `the teamspace "${id}" is closed, so no user joins it without approval; set self_joined to false for an approved member, or name the membership in joined_while_open of the teamspace if it was created while the teamspace was open`
  return [{ pointer: '/self_joined', detail }]
}
