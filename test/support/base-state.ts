import type { JsonObject } from '../../src/core/json.ts'

/** The instant at which test sandboxes start. */
export const START = '2026-03-01T12:00:00.000Z'

/** The keys of test sandboxes, by the short names that the tests use. */
export const KEYS = {
  /** Owner of ts-a: author, account admin, all permissions. */
  KU: 'live_owner',
  /** Service key of ts-a. */
  KS: 'service_a',
  /** Plain member of ts-a. */
  KM: 'live_member',
  /** Member of ts-a who is not in the user lists of conversations. */
  KX: 'live_outsider',
  /** Owner of ts-b, another teamspace of the same organization. */
  K2: 'live_second',
  /** Owner in another organization. */
  KO: 'live_other_org',
} as const

export type KeyName = keyof typeof KEYS

const JANUARY = '2026-01-01T00:00:00.000Z'
const ADMIN = { account_admin: true, permissions: ['ep:skills:write', 'organization:edit'] }

function user(id: string, organization: string, first: string, last: string) {
  const email = `${first}.${last}@example.com`.toLowerCase()
  return { id, organization_id: organization, email, first_name: first, last_name: last, created_at: JANUARY }
}

function key(id: string, token: string, user_id: string | null, facts: JsonObject) {
  const kind = user_id === null ? 'service' : 'user'
  return { id, kind, token, user_id, organization_id: 'org-1', teamspace_id: 'ts-a', ...facts }
}

function member(id: string, teamspace_id: string, user_id: string, role: string) {
  return { id, teamspace_id, user_id, role, agent_ids: [], created_at: JANUARY }
}

function teamspace(id: string, organization_id: string, cloud_provider: string) {
  const shown = { id, cloud_provider, name: `Teamspace ${id}`, access: 'closed', created_at: JANUARY }
  return { ...shown, _emulator: { organization_id } }
}

/** Two organizations, three teamspaces, five users and a service key: the smallest set that covers every access boundary. */
export const baseCollections: Readonly<Record<string, readonly object[]>> = {
  organizations: [
    { id: 'org-1', name: 'Harbor Works' },
    { id: 'org-2', name: 'Elsewhere' },
  ],
  teamspaces: [
    teamspace('ts-a', 'org-1', 'cloud_b'),
    teamspace('ts-b', 'org-1', 'cloud_a'),
    teamspace('ts-x', 'org-2', 'cloud_b'),
  ],
  users: [
    user('user-owner', 'org-1', 'Ada', 'Owner'),
    user('user-member', 'org-1', 'Max', 'Member'),
    user('user-outsider', 'org-1', 'Olga', 'Outside'),
    user('user-second', 'org-1', 'Sam', 'Second'),
    user('user-other', 'org-2', 'Otto', 'Other'),
  ],
  memberships: [
    member('m-owner', 'ts-a', 'user-owner', 'owner'),
    member('m-member', 'ts-a', 'user-member', 'member'),
    member('m-outsider', 'ts-a', 'user-outsider', 'member'),
    member('m-second', 'ts-b', 'user-second', 'owner'),
    member('m-other', 'ts-x', 'user-other', 'owner'),
  ],
  api_keys: [
    key('key-owner', KEYS.KU, 'user-owner', ADMIN),
    key('key-service', KEYS.KS, null, {}),
    key('key-member', KEYS.KM, 'user-member', {}),
    key('key-outsider', KEYS.KX, 'user-outsider', {}),
    key('key-second', KEYS.K2, 'user-second', { teamspace_id: 'ts-b', ...ADMIN }),
    key('key-other', KEYS.KO, 'user-other', { organization_id: 'org-2', teamspace_id: 'ts-x', ...ADMIN }),
  ],
}
