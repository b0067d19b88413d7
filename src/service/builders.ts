import type { InputOf } from '../core/fields.ts'
import type { JsonObject } from '../core/json.ts'
import type { BodyOf, WithOptionals } from '../core/operation.ts'
import type { ApiKeyRecord } from '../core/request/auth.ts'
import type { WebhookDraft } from '../core/webhooks/records.ts'
import type { EventTriggerRecord } from './agents/schema.ts'
import type { createConnection } from './connections.ts'
import type { giveFeedback } from './conversations.ts'
import type { FileRecord } from './files.ts'
import type { createPage, PageRecord } from './pages.ts'
import type { SkillRecord } from './skills.ts'
import type { MembershipRecord, newTeamspace, TeamspaceRecord, UserRecord } from './teamspaces/schema.ts'

export type {
  ApiKeyRecord,
  EventTriggerRecord,
  FileRecord,
  MembershipRecord,
  PageRecord,
  SkillRecord,
  TeamspaceRecord,
  UserRecord,
}

// A sandbox with the fixtures `demo` accepts every default, with the key of the owner; override only the fields that matter to a
// test. The same arguments always return the same value.

const builder =
  <T extends object>(usual: T) =>
  (changes: Partial<T> = {}): T => ({ ...usual, ...changes })

/** Body of `POST /pages`. Specification: Endpoints / Create page. */
export type PageBody = BodyOf<typeof createPage>

/** Body of `POST /pages`: a page at the top level. */
export const aPage = builder<PageBody>({ name: 'Roof plan' })

/** Body of `POST /organization/teamspaces`. Specification: Endpoints / Create teamspace. */
export type TeamspaceBody = WithOptionals<InputOf<typeof newTeamspace>>

/** Body of `POST /organization/teamspaces`; also of the `PATCH` that renames one. */
export const aTeamspace = builder<TeamspaceBody>({ name: 'Quay wall' })

/** Body of `POST /connections`. Specification: Endpoints / Create connection. */
export type ConnectionBody = BodyOf<typeof createConnection>

/** Body of `POST /connections`. */
export const aConnection = builder<ConnectionBody>({
  connector_id: 'connector-drive',
  connection_provider_id: 'provider-drive',
})

/** Body of `POST /conversations/{conversation_id}/messages/{message_id}`. Specification: Endpoints / Message feedback. */
export type FeedbackBody = BodyOf<typeof giveFeedback>

/** Body of a message's feedback: a like without words. */
export const aFeedback = builder<FeedbackBody>({ like: 1 })

/** The argument of `sandbox.webhooks.create`. */
export type WebhookSubscription = Extract<WebhookDraft, { readonly url: string }>

/** A subscription to all events. Its default address is port 9 of this machine, where usually no server listens. */
export const aWebhook = builder<WebhookSubscription>({ url: 'http://127.0.0.1:9/hook' })

// Records for fixtures and `sandbox.state.put`. By default they refer to the fixtures `demo`: to the organization, the teamspace
// `teamspace-harbor` and the owner of that. A second record of a kind needs another id.

const ORGANIZATION = 'org-larkmoor'
const TEAMSPACE = 'teamspace-harbor'
const OWNER = 'user-mara'
const LONG_AGO = '2026-01-01T00:00:00.000Z'

/** A closed teamspace without members. */
export const aTeamspaceRecord = builder<TeamspaceRecord>({
  id: 'teamspace-quay',
  name: 'Quay wall',
  cloud_provider: 'cloud_b',
  access: 'closed',
  created_at: LONG_AGO,
  _emulator: { organization_id: ORGANIZATION },
})

/** A user who belongs to no teamspace yet: see {@link aMembershipRecord}. */
export const aUserRecord = builder<UserRecord>({
  id: 'user-ines',
  organization_id: ORGANIZATION,
  email: 'ines.weir@example.com',
  first_name: 'Ines',
  last_name: 'Weir',
  created_at: LONG_AGO,
})

/** A second membership of the owner, unless `user_id` names another user. */
export const aMembershipRecord = builder<MembershipRecord>({
  id: 'membership-built',
  teamspace_id: TEAMSPACE,
  user_id: OWNER,
  role: 'member',
  agent_ids: [],
  created_at: LONG_AGO,
})

/** A key of the owner without further rights. Its token is in plain text; the sandbox keeps only its digest. */
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

/** A page at the top level, visible only in its teamspace. */
export const aPageRecord = builder<PageRecord>({
  id: 'page-built',
  name: 'Roof plan',
  teamspace_id: TEAMSPACE,
  scope: 'teamspace',
  created_at: LONG_AGO,
})

/** A private skill of the owner, who may promote it. */
export const aSkillRecord = builder<SkillRecord>({
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
})

/** A PDF of three pages that batches accept. */
export const aFileRecord = builder<FileRecord>({
  id: 'file-built',
  teamspace_id: TEAMSPACE,
  name: 'Delivery note.pdf',
  kind: 'pdf',
  pages: 3,
  supported: true,
  readable: true,
})

/** An enabled trigger without conditions. */
export const anEventTriggerRecord = builder<EventTriggerRecord>({
  id: 'trigger-built',
  enabled: true,
  trigger_source: 'file_sharing',
  trigger_event: 'Delivery:created',
  name: null,
  description: null,
  run_conditions: null,
  created_at: LONG_AGO,
  updated_at: LONG_AGO,
  _emulator: { agent_id: 'agent-estimator' },
})

/** The records of a starting state by collection. Collections without a builder accept any records. */
export type SandboxRecords = {
  readonly teamspaces?: readonly TeamspaceRecord[]
  readonly users?: readonly UserRecord[]
  readonly memberships?: readonly MembershipRecord[]
  readonly api_keys?: readonly ApiKeyRecord[]
  readonly pages?: readonly PageRecord[]
  readonly skills?: readonly SkillRecord[]
  readonly files?: readonly FileRecord[]
  readonly event_triggers?: readonly EventTriggerRecord[]
  readonly [collection: string]: readonly object[] | undefined
}

/** A fixtures document that extends shipped fixtures. */
export type StateDocumentFile = {
  readonly extends: 'demo' | 'empty' | 'large'
  readonly collections: Readonly<Record<string, readonly JsonObject[]>>
}

/**
 * A fixtures document: the fixtures `base` with these records, which replace those with the same id. Builders of records refer
 * to the fixtures `demo`; with another base their references have to be given.
 * @example startEmulator({ fixtures: aSandbox({ files: [aFileRecord({ pages: 1 })] }) })
 */
export function aSandbox(
  records: SandboxRecords = {},
  base: StateDocumentFile['extends'] = 'demo',
): StateDocumentFile {
  const given = Object.entries(records).filter(([, list]) => list !== undefined)
  // All record types are JSON, which the compiler cannot see.
  const collections = Object.fromEntries(given) as StateDocumentFile['collections']
  return { extends: base, collections }
}
