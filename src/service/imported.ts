import { isObject, type Json, type JsonObject, valueAt } from '../core/json.ts'
import { hash } from '../core/random.ts'
import { providers, triggerSources } from './agents/schema.ts'
import { cloudA, cloudB } from './teamspaces/schema.ts'

/** An object of a response of the real service, which may be a record. */
export interface Received {
  readonly shown: JsonObject
  /** Name of the operation; undefined for a path that the emulator does not know. */
  readonly operation: string | undefined
  readonly params: Readonly<Record<string, string>>
  /** The body of the request that created it. */
  readonly sent: unknown
  /** The newest instant at which the object was received, as a timestamp. */
  readonly at: string
}

/** What the records of an import have in common. */
export interface Imported {
  readonly organization_id: string
  /** The teamspace of the caller who received the object. */
  readonly teamspace_id: string
  /** Whether timestamps stay as they are. */
  readonly absolute: boolean
  readonly names: GivenNames
  /** The objects that are parts of the one with this id. */
  partsOf(id: string): readonly Received[]
}

/** Names of the real service for what records name in one way; see `names.cloud_a` and `names.trigger_sources`. */
export class GivenNames {
  readonly #clouds: (string | undefined)[]
  readonly #sources: string[] = []

  /** @param settings those that the traffic shows */
  constructor(settings: JsonObject) {
    this.#clouds = [settings[cloudB.key], settings[cloudA.key]].map((name) =>
      typeof name === 'string' ? name : undefined,
    )
  }

  cloud(name: Json | undefined): Json {
    if (typeof name !== 'string' || name === 'cloud_a' || name === 'cloud_b') return name ?? null
    const known = this.#clouds.indexOf(name)
    const place = known < 0 ? this.#clouds.indexOf(undefined) : known
    if (place < 0) return name
    this.#clouds[place] = name
    return place === 0 ? 'cloud_b' : 'cloud_a'
  }

  source(name: Json | undefined): Json {
    if (typeof name !== 'string' || providers.some((each) => each === name)) return name ?? null
    if (!this.#sources.includes(name)) this.#sources.push(name)
    return providers[this.#sources.indexOf(name)] ?? name
  }

  /** The settings with these names. */
  get settings(): JsonObject {
    const [second, first] = this.#clouds
    const sources = providers.map((each, n) => this.#sources[n] ?? each)
    return {
      ...(first !== undefined && { [cloudA.key]: first }),
      ...(second !== undefined && { [cloudB.key]: second }),
      ...(this.#sources.length > 0 && { [triggerSources.key]: sources }),
    }
  }
}

/** A record, and the collection that it is for. */
export type RecordDraft = readonly [collection: string, record: JsonObject]

/** How the objects of one kind become records. The first kind that an object is of counts. */
interface Kind {
  readonly name: string
  /** The collection of its records, or of the record that it is a part of. */
  readonly collection: string
  readonly is: (received: Received) => boolean
  /** The identity of the object among those of the kind; default: its `id`. */
  readonly keyOf?: (received: Received) => unknown
  readonly drafts: (received: Received, shared: Imported) => readonly RecordDraft[]
  /** The id of the object that it is a part of. */
  readonly parentOf?: (received: Received) => string
  /** The operation that removes one, and the key in its path. */
  readonly removed?: readonly [operation: string, keyOf: (params: Received['params']) => unknown]
}

const named =
  (object: string) =>
  ({ shown }: Received) =>
    shown.object === object

const ofOperations =
  (...prefixes: readonly string[]) =>
  ({ operation = '' }: Received) =>
    prefixes.some((prefix) => operation.startsWith(prefix))

const inTeamspace =
  (collection: string) =>
  ({ shown }: Received, { teamspace_id }: Imported): readonly RecordDraft[] => [
    [collection, { ...shown, _emulator: { teamspace_id } }],
  ]

const ofAgent =
  (collection: string) =>
  ({ shown, params }: Received): readonly RecordDraft[] => [
    [collection, { ...shown, _emulator: { agent_id: params.agent_id ?? shown.agent_id ?? '' } }],
  ]

/** The path of messages, which the specification does not show. */
const MESSAGES = /^conversation/

/** The kinds of objects that responses of the service show. */
export const RECEIVED_KINDS: readonly Kind[] = [
  {
    name: 'page',
    collection: 'pages',
    is: named('page'),
    drafts: ({ shown }) => {
      const { parent, ...page } = shown
      return [['pages', parent === null ? page : shown]]
    },
  },
  {
    name: 'skill',
    collection: 'skills',
    is: named('skill'),
    // The account is the organization, of which an import has one.
    drafts: ({ shown }, { organization_id }) => [
      ['skills', { ...shown, ...(typeof shown.account_id === 'string' && { account_id: organization_id }) }],
    ],
  },
  {
    name: 'mcp_server',
    collection: 'mcp_servers',
    is: named('mcp_server'),
    drafts: inTeamspace('mcp_servers'),
  },
  {
    name: 'data_view',
    collection: 'data_views',
    is: named('data_view'),
    drafts: ({ shown }, { teamspace_id }) => {
      const renamed = Object.entries(shown).map(([name, value]) => [
        name.endsWith('_dataset_name') ? 'dataset_name' : name,
        value,
      ])
      return [['data_views', { ...Object.fromEntries(renamed), _emulator: { teamspace_id } }]]
    },
  },
  {
    name: 'consumption_breakdown',
    collection: 'consumption_rows',
    is: named('consumption_breakdown'),
    // Rows have no id. The same row is the same text.
    keyOf: ({ shown }) => hash(0, JSON.stringify(shown)),
    drafts: ({ shown }, { organization_id }) => [
      [
        'consumption_rows',
        { id: `row-${hash(0, JSON.stringify(shown))}`, ...shown, _emulator: { organization_id } },
      ],
    ],
  },
  {
    name: 'event_trigger',
    collection: 'event_triggers',
    is: named('event_trigger'),
    drafts: (received, shared) => {
      const trigger_source = shared.names.source(received.shown.trigger_source)
      return ofAgent('event_triggers')({ ...received, shown: { ...received.shown, trigger_source } })
    },
    removed: ['event-triggers.delete', ({ trigger_id }) => trigger_id],
  },
  {
    name: 'batch_prediction.result',
    collection: 'batch_predictions',
    is: named('batch_prediction.result'),
    keyOf: ({ shown }) => `${shown.batch_id}/${shown.custom_id}`,
    parentOf: ({ shown }) => String(shown.batch_id),
    drafts: () => [],
  },
  {
    name: 'batch_prediction',
    collection: 'batch_predictions',
    is: named('batch_prediction'),
    drafts: batchDrafts,
  },
  {
    name: 'teamspace',
    collection: 'teamspaces',
    is: ofOperations('teamspaces.'),
    drafts: ({ shown }, { organization_id, names }) => {
      const cloud_provider = names.cloud(shown.cloud_provider)
      return [['teamspaces', { ...shown, cloud_provider, _emulator: { organization_id } }]]
    },
  },
  {
    name: 'teamspace user',
    collection: 'users',
    is: ofOperations('teamspace-users.'),
    keyOf: ({ shown, params }) => `${params.teamspace_id}/${shown.id}`,
    removed: ['teamspace-users.delete', ({ teamspace_id, user_id }) => `${teamspace_id}/${user_id}`],
    drafts: ({ shown, params: { teamspace_id = '' }, at }, { organization_id }) => {
      const { permissions, ...user } = shown
      const dates = { created_at: at }
      const granted = isObject(permissions) ? permissions : {}
      const id = `membership-${teamspace_id}-${user.id}`
      return [
        ['users', { ...user, organization_id, ...dates }],
        ['memberships', { ...granted, id, teamspace_id, user_id: user.id ?? null, ...dates }],
      ]
    },
  },
  {
    name: 'agent template',
    collection: 'agent_templates',
    is: ofOperations('agents.claim'),
    // It was claimed once, and can be claimed again.
    drafts: ({ shown }) => [
      ['agent_templates', { ...shown, claim_token: `claim-${shown.id}`, _emulator: { teamspace_id: null } }],
    ],
  },
  {
    name: 'automation',
    collection: 'automations',
    is: ofOperations('automations.'),
    drafts: ofAgent('automations'),
    removed: ['automations.delete', ({ automation_id }) => automation_id],
  },
  { name: 'agent', collection: 'agents', is: ofOperations('agents.list'), drafts: inTeamspace('agents') },
  {
    name: 'message',
    collection: 'messages',
    is: (received) => named('message')(received) && conversationOf(received) !== undefined,
    drafts: (received) => {
      const kind = received.shown.role ?? received.shown.kind ?? received.shown.type ?? 'agent'
      const conversation_id = conversationOf(received) ?? ''
      return [
        [
          'messages',
          { ...received.shown, _emulator: { conversation_id, kind: kind === 'assistant' ? 'agent' : kind } },
        ],
      ]
    },
  },
  {
    name: 'conversation',
    collection: 'conversations',
    is: (received) => ofOperations('conversations.list')(received) || named('conversation')(received),
    drafts: inTeamspace('conversations'),
    removed: ['conversations.delete', ({ conversation_id }) => conversation_id],
  },
]

function conversationOf({ shown, params }: Received): string | undefined {
  const [, id] = Object.entries(params).find(([name]) => MESSAGES.test(name)) ?? []
  return typeof shown.conversation_id === 'string' ? shown.conversation_id : id
}

/** Fields with a word that the service or its administrators define: never the text of a person. */
export const WORDS: readonly string[] = [
  ...['access', 'cloud_provider', 'category', 'transport', 'protocol_version', 'model', 'kind', 'code'],
  ...['completion_window', 'trigger_source', 'trigger_event', 'response_thread', 'rest'],
  ...['action', 'resource_type', 'credit_source'],
]

/** Fields with data of the client under names of its own. */
export const FREE_FIELDS: readonly string[] = ['metadata', 'output', 'payload']

/** A minimal record, for one that others refer to. */
export const MINIMAL: Readonly<Record<string, (id: string, shared: Imported, at: string) => JsonObject>> = {
  teamspaces: (id, { organization_id }, created_at) => ({
    ...{ id, name: id, cloud_provider: 'cloud_b', access: 'closed', created_at },
    _emulator: { organization_id },
  }),
  users: (id, { organization_id }, created_at) => ({
    ...{ id, organization_id, first_name: 'User', last_name: id, created_at },
    email: `user-${hash(0, id)}@imported.example`,
  }),
  agents: (id, { teamspace_id }) => ({ id, name: id, _emulator: { teamspace_id } }),
  conversations: (id, { teamspace_id }) => ({ id, _emulator: { teamspace_id } }),
}

/** The fields that name a record of another collection: path of the field, and the collection. */
export const REFERENCES: readonly (readonly [collection: string, field: string, target: string])[] = [
  ['pages', '/teamspace_id', 'teamspaces'],
  ['skills', '/creator_id', 'users'],
  ['memberships', '/teamspace_id', 'teamspaces'],
  ['event_triggers', '/_emulator/agent_id', 'agents'],
  ['automations', '/_emulator/agent_id', 'agents'],
  ['messages', '/_emulator/conversation_id', 'conversations'],
]

/** The items of a batch in the order of submission, as far as requests and result lines show them. */
function itemsOf(sent: unknown, lines: readonly JsonObject[], total: number): JsonObject[] {
  const lists = isObject(sent) ? Object.values(sent).filter((each) => Array.isArray(each)) : []
  const submitted = lists.flat().filter((each) => isObject(each) && typeof each.custom_id === 'string')
  const known = submitted.length >= total ? submitted : lines
  return Array.from({ length: total }, (_, n): JsonObject => {
    const item = isObject(known[n]) ? known[n] : {}
    const file = Object.entries(item).find(([name]) => /^file(?:_?id)?$/.test(name))?.[1]
    return {
      custom_id: item.custom_id ?? `item-${n + 1}`,
      file_id: (isObject(file) ? file.id : file) ?? 'imported-file',
      ...(Number.isSafeInteger(item.page) && { page: item.page as number }),
    }
  })
}

const FINISHED = ['succeeded', 'errored']

// Fields that follow from others are left out, so that the record never contradicts itself.
function batchDrafts(
  { shown, sent, at }: Received,
  { organization_id, teamspace_id, absolute, partsOf }: Imported,
): RecordDraft[] {
  const { request_counts, completion_window, expires_at, results_url, error, ...batch } = shown
  const count = (name: string) => Number(valueAt(request_counts, [name]) ?? 0)
  const lines = partsOf(String(batch.id)).map((each) => each.shown)
  const items = itemsOf(sent, lines, Math.max(1, count('total')))
  const unfinished = lines.filter(({ status }) => !FINISHED.includes(String(status)))
  const never = unfinished.map((line) => items.findIndex((each) => each.custom_id === line.custom_id))
  const done = count('succeeded') + count('errored')
  const outcomes =
    lines.length > 0 ? lines.flatMap((line) => outcomeOf(line, items)) : failures(count('errored'))
  const isRunning = absolute && batch.status === 'in_progress'
  const end = isObject(error) ? { error } : {}
  return [
    [
      'batch_predictions',
      {
        ...batch,
        ...end,
        ...(results_url === null && { results_url }),
        _emulator: {
          ...{ teamspace_id, organization_id },
          request: { prompt: '', output_schema: { type: 'object' }, items },
          plan: { stages: [{ from: 0, outcomes }], ...(never.length > 0 && { late: { slow: [], never } }) },
          progress: { ...(isRunning && { since: at }), done, ...(isObject(error) && { most: done }) },
        },
      },
    ],
  ]
}

function outcomeOf(
  { custom_id, status, output, error }: JsonObject,
  items: readonly JsonObject[],
): JsonObject[] {
  const index = items.findIndex((each) => each.custom_id === custom_id)
  if (index < 0 || !FINISHED.includes(String(status))) return []
  const match = { index }
  if (status === 'succeeded') return [{ match, status, ...(isObject(output) && { output }) }]
  return [{ match, status: 'errored', detail: String(valueAt(error, '/detail') ?? 'It failed.') }]
}

const failures = (number: number): JsonObject[] =>
  Array.from({ length: number }, (_, index) => ({ match: { index }, status: 'errored' }))
