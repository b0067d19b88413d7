import type { JsonObject } from '../../core/json.ts'

// Records as the sandbox keeps them, for fixtures and `sandbox.state.put`. By default they refer to the fixtures `demo`: to the
// organization, the teamspace `teamspace-harbor` and the owner of that. A second record of a kind needs another id.

const ORGANIZATION = 'org-larkmoor'
const TEAMSPACE = 'teamspace-harbor'
const OWNER = 'user-mara'
const AGENT = 'agent-estimator'
const LONG_AGO = '2026-01-01T00:00:00.000Z'

/** A record of `teamspaces`. Specification: Teamspace. */
export type TeamspaceRecord = {
  readonly id: string
  readonly name: string
  /** `cloud_a` or `cloud_b`, also if the settings give them other names. */
  readonly cloud_provider: string
  readonly access: 'open' | 'closed'
  readonly created_at: string
  readonly _emulator: { readonly organization_id: string }
}

/** A closed teamspace without members. */
export function aTeamspaceRecord(changes: Partial<TeamspaceRecord> = {}): TeamspaceRecord {
  return {
    id: 'teamspace-quay',
    name: 'Quay wall',
    cloud_provider: 'cloud_b',
    access: 'closed',
    created_at: LONG_AGO,
    _emulator: { organization_id: ORGANIZATION },
    ...changes,
  }
}

/** A record of `users`. Specification: Teamspace user. */
export type UserRecord = {
  readonly id: string
  readonly organization_id: string
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly created_at: string
}

/** A user who belongs to no teamspace yet: see {@link aMembershipRecord}. */
export function aUserRecord(changes: Partial<UserRecord> = {}): UserRecord {
  return {
    id: 'user-ines',
    organization_id: ORGANIZATION,
    email: 'ines.weir@example.com',
    first_name: 'Ines',
    last_name: 'Weir',
    created_at: LONG_AGO,
    ...changes,
  }
}

/** A record of `memberships`: a user's membership in a teamspace. */
export type MembershipRecord = {
  readonly id: string
  readonly teamspace_id: string
  readonly user_id: string
  /** Only `owner` has a meaning in the specification. */
  readonly role: string
  readonly agent_ids: readonly string[]
  readonly created_at: string
}

/** A second membership of the owner, unless `user_id` names another user. */
export function aMembershipRecord(changes: Partial<MembershipRecord> = {}): MembershipRecord {
  return {
    id: 'membership-built',
    teamspace_id: TEAMSPACE,
    user_id: OWNER,
    role: 'member',
    agent_ids: [],
    created_at: LONG_AGO,
    ...changes,
  }
}

/** A record of `api_keys`. Specification: Authentication. */
export type ApiKeyRecord = {
  readonly id: string
  readonly kind: 'user' | 'service'
  /** In plain text; the sandbox keeps only its digest. */
  readonly token: string
  /** Null for a service key. */
  readonly user_id: string | null
  readonly organization_id: string
  /** The teamspace that the key acts in. */
  readonly teamspace_id: string
  readonly account_admin: boolean
  /** Such as `ep:skills:write` and `organization:edit`. */
  readonly permissions: readonly string[]
  /** Names of operations that are refused for the key. */
  readonly denied: readonly string[]
}

/** A key of the owner without further rights. */
export function anApiKeyRecord(changes: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    id: 'key-built',
    kind: 'user',
    token: 'live_built',
    user_id: changes.kind === 'service' ? null : OWNER,
    organization_id: ORGANIZATION,
    teamspace_id: TEAMSPACE,
    account_admin: false,
    permissions: [],
    denied: [],
    ...changes,
  }
}

/** A record of `pages`. Specification: Page. */
export type PageRecord = {
  readonly id: string
  readonly name: string
  readonly teamspace_id: string
  readonly scope: 'teamspace' | 'organization'
  readonly parent?: JsonObject
  readonly created_at: string
}

/** A page at the top level, visible only in its teamspace. */
export function aPageRecord(changes: Partial<PageRecord> = {}): PageRecord {
  return {
    id: 'page-built',
    name: 'Roof plan',
    teamspace_id: TEAMSPACE,
    scope: 'teamspace',
    created_at: LONG_AGO,
    ...changes,
  }
}

/** A record of `skills`. Specification: Skill. */
export type SkillRecord = {
  readonly id: string
  readonly scope: 'user' | 'account' | 'builtin'
  readonly category: string
  readonly slash_key: string
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly required_tools: readonly string[]
  readonly preferred_tools: readonly string[]
  readonly enabled: boolean
  readonly account_id: string | null
  readonly builtin_key: string | null
  readonly promoted_at: string | null
  readonly creator_id: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** A private skill of the owner, who may promote it. */
export function aSkillRecord(changes: Partial<SkillRecord> = {}): SkillRecord {
  return {
    id: 'skill-built',
    scope: 'user',
    category: 'research',
    slash_key: '/tides',
    name: 'Tide tables',
    description: 'Finds the tide of a day.',
    instructions: 'State high and low water of the requested day.',
    required_tools: [],
    preferred_tools: [],
    enabled: true,
    account_id: null,
    builtin_key: null,
    promoted_at: null,
    creator_id: OWNER,
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    ...changes,
  }
}

/** A record of `files`, which the items of a batch refer to. */
export type FileRecord = {
  readonly id: string
  readonly teamspace_id: string
  readonly name: string
  /** A word for its format, such as `pdf`. */
  readonly kind: string
  /** Null for a format without pages. */
  readonly pages: number | null
  /** Whether batches accept the type. */
  readonly supported: boolean
  /** False for a file that exists and cannot be accessed. */
  readonly readable: boolean
}

/** A PDF of three pages that batches accept. */
export function aFileRecord(changes: Partial<FileRecord> = {}): FileRecord {
  return {
    id: 'file-built',
    teamspace_id: TEAMSPACE,
    name: 'Delivery note.pdf',
    kind: 'pdf',
    pages: 3,
    supported: true,
    readable: true,
    ...changes,
  }
}

/** A record of `event_triggers`. Specification: Event trigger. */
export type EventTriggerRecord = {
  readonly id: string
  readonly enabled: boolean
  /** One of the setting `names.trigger_sources`. */
  readonly trigger_source: string
  /** `ResourceName:eventType`. */
  readonly trigger_event: string
  readonly name: string | null
  readonly description: string | null
  readonly run_conditions: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly _emulator: { readonly agent_id: string }
}

/** An enabled trigger without conditions. */
export function anEventTriggerRecord(changes: Partial<EventTriggerRecord> = {}): EventTriggerRecord {
  return {
    id: 'trigger-built',
    enabled: true,
    trigger_source: 'file_sharing',
    trigger_event: 'Delivery:created',
    name: null,
    description: null,
    run_conditions: null,
    created_at: LONG_AGO,
    updated_at: LONG_AGO,
    _emulator: { agent_id: AGENT },
    ...changes,
  }
}
