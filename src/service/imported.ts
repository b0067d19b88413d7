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
  /** Whether records have their state before the traffic, instead of the newest one. */
  readonly isEarliest?: boolean
  readonly names: GivenNames
  /** The objects that are parts of the one with this id. */
  partsOf(id: string): readonly Received[]
}

/** Names of the real service for what records name in one way; see `names.cloud_a` and `names.trigger_sources`. */
export class GivenNames {
  /** The names of the service, in the order of ours. */
  readonly #given: Readonly<Record<'cloud' | 'source', Json[]>>

  /** @param settings those that the traffic shows */
  constructor(settings: JsonObject) {
    const clouds = [cloudB, cloudA].map(({ key }) => settings[key] ?? null)
    this.#given = { cloud: clouds, source: providers.map(() => null) }
  }

  /** Our name: a new one of the service gets the first that is left. */
  ours(what: 'cloud' | 'source', name: Json = null): Json {
    const [given, ours] = [this.#given[what], what === 'cloud' ? CLOUDS : providers]
    if (name === null || ours.some((each) => each === name)) return name
    const known = given.indexOf(name)
    const place = known < 0 ? given.indexOf(null) : known
    if (place >= 0) given[place] = name
    return ours[place] ?? name
  }

  /** The settings with these names. */
  get settings(): JsonObject {
    const { cloud, source } = this.#given
    const sources = providers.map((each, n) => source[n] ?? each)
    const all = {
      [cloudB.key]: cloud[0] ?? null,
      [cloudA.key]: cloud[1] ?? null,
      [triggerSources.key]: source[0] ? sources : null,
    }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
  }
}

const CLOUDS = ['cloud_b', 'cloud_a']

/** A record, and the collection that it is for. */
export type RecordDraft = readonly [collection: string, record: JsonObject]

/** How the objects of one kind become records. The first kind that an object is of counts. */
export interface ReceivedKind {
  /** The collection of its records, or of the record that it is a part of. */
  readonly collection: string
  readonly is: (received: Received) => boolean
  /** The identity of the object among those of the kind; default: its `id`. */
  readonly keyOf?: (received: Received) => unknown
  readonly drafts: (received: Received, shared: Imported) => readonly RecordDraft[]
  /** The id of the object that it is a part of. */
  readonly parentOf?: (received: Received) => string
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

/** The kinds of objects that responses of the service show. */
export const RECEIVED_KINDS: readonly ReceivedKind[] = [
  { collection: 'pages', is: named('page'), drafts: ({ shown }) => [['pages', shown]] },
  {
    collection: 'skills',
    is: named('skill'),
    drafts: ({ shown, operation }, { isEarliest }) => [
      ['skills', isEarliest && operation === 'skills.promote' ? { ...shown, ...UNPROMOTED } : shown],
    ],
  },
  { collection: 'mcp_servers', is: named('mcp_server'), drafts: inTeamspace('mcp_servers') },
  {
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
    collection: 'event_triggers',
    is: named('event_trigger'),
    drafts: (received, shared) => {
      const trigger_source = shared.names.ours('source', received.shown.trigger_source)
      return ofAgent('event_triggers')({ ...received, shown: { ...received.shown, trigger_source } })
    },
  },
  {
    collection: 'batch_predictions',
    is: named('batch_prediction.result'),
    keyOf: ({ shown }) => `${shown.batch_id}/${shown.custom_id}`,
    parentOf: ({ shown }) => String(shown.batch_id),
    drafts: () => [],
  },
  { collection: 'batch_predictions', is: named('batch_prediction'), drafts: batchDrafts },
  {
    collection: 'teamspaces',
    is: ofOperations('teamspaces.'),
    drafts: ({ shown }, { organization_id, names }) => {
      const cloud_provider = names.ours('cloud', shown.cloud_provider)
      return [['teamspaces', { ...shown, cloud_provider, _emulator: { organization_id } }]]
    },
  },
  {
    collection: 'users',
    is: ofOperations('teamspace-users.'),
    keyOf: ({ shown, params }) => `${params.teamspace_id}/${shown.id}`,
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
  { collection: 'automations', is: ofOperations('automations.'), drafts: ofAgent('automations') },
  { collection: 'agents', is: ofOperations('agents.list'), drafts: inTeamspace('agents') },
  {
    collection: 'messages',
    is: (received) => named('message')(received) && conversationOf(received) !== undefined,
    drafts: (received) => {
      const { role, kind = role ?? 'agent' } = received.shown
      const _emulator = {
        conversation_id: conversationOf(received) ?? '',
        kind: kind === 'assistant' ? 'agent' : kind,
      }
      return [['messages', { ...received.shown, _emulator }]]
    },
  },
  {
    collection: 'conversations',
    is: (received) => ofOperations('conversations.list')(received) || named('conversation')(received),
    drafts: inTeamspace('conversations'),
  },
]

const UNPROMOTED = { scope: 'user', account_id: null, promoted_at: null }

/** The records that must have existed before an operation succeeded, besides those that its response shows. */
export const NEEDED: Readonly<
  Record<string, (received: Received, shared: Imported) => readonly RecordDraft[]>
> = {
  'messages.feedback': ({ params: { conversation_id = '', message_id = '' } }, { teamspace_id }) => {
    const [, id = '', kind = 'agent'] = /^(.*?)(?:-(agent|user))?$/.exec(message_id) ?? []
    return [
      ['conversations', { id: conversation_id, _emulator: { teamspace_id } }],
      ['messages', { id, _emulator: { conversation_id, kind } }],
    ]
  },
  'agents.claim': ({ shown, sent }) => [
    ['agent_templates', { ...shown, claim_token: valueAt(sent, '/claim_token') ?? '', _emulator: {} }],
  ],
  'mcp-servers.oauth-callback': ({ params: { server_id = '' }, sent, at: created_at }) => {
    const state = valueAt(sent, '/state') ?? ''
    const redirect_uri = valueAt(sent, '/redirect_uri') ?? ''
    return [['oauth_flows', { id: `flow-${state}`, server_id, state, redirect_uri, created_at }]]
  },
  'automations.delete': ({ params: { agent_id = '', automation_id = '' } }) => [
    ['automations', { id: automation_id, _emulator: { agent_id } }],
  ],
  'teamspace-users.delete': ({ params: { teamspace_id = '', user_id = '' }, at }, shared) => [
    minimalUser(user_id, shared, at),
    membership(teamspace_id, user_id, at),
  ],
  'pages.create': ({ sent, at: created_at }, { teamspace_id }) => {
    const id = valueAt(sent, '/parent/page_id')
    if (typeof id !== 'string') return []
    return [['pages', { id, name: id, teamspace_id, scope: 'teamspace', created_at }]]
  },
  'batch-predictions.create': ({ sent, shown }, { teamspace_id }) =>
    itemsOf(sent, [], Number(valueAt(shown, '/request_counts/total') ?? 0)).map(({ file_id: id = '' }) => [
      'files',
      { id, teamspace_id, name: String(id), kind: 'pdf', pages: 1_000_000 },
    ]),
}

export const membership = (teamspace_id: string, user_id: string, created_at: string): RecordDraft => [
  'memberships',
  { id: `membership-${teamspace_id}-${user_id}`, teamspace_id, user_id, role: 'owner', created_at },
]

/** Known also for paths that the specification does not show. */
const conversationOf = ({ shown, params }: Received) => shown.conversation_id ?? params.conversation_id

/** Fields with a word that the service or its administrators define: never the text of a person. */
export const WORDS: readonly string[] = [
  ...['access', 'cloud_provider', 'category', 'transport', 'protocol_version', 'model', 'kind', 'code'],
  ...['completion_window', 'trigger_source', 'trigger_event', 'response_thread', 'rest'],
  ...['action', 'resource_type', 'credit_source'],
]

/** Fields with data of the client under names of its own. */
export const FREE_FIELDS: readonly string[] = ['metadata', 'output', 'payload']

/** A minimal record, for one that a field with this name refers to. */
export const MINIMAL: Readonly<Record<string, (id: string, shared: Imported, at: string) => RecordDraft>> = {
  teamspace_id: (id, { organization_id }, created_at) => [
    'teamspaces',
    {
      ...{ id, name: id, cloud_provider: 'cloud_b', access: 'closed', created_at },
      _emulator: { organization_id },
    },
  ],
  user_id: minimalUser,
  creator_id: minimalUser,
  agent_id: (id, { teamspace_id }) => ['agents', { id, name: id, _emulator: { teamspace_id } }],
  conversation_id: (id, { teamspace_id }) => ['conversations', { id, _emulator: { teamspace_id } }],
}

function minimalUser(id: string, { organization_id }: Imported, created_at: string): RecordDraft {
  const email = `user-${hash(0, id)}@imported.example`
  return ['users', { id, organization_id, first_name: 'User', last_name: id, email, created_at }]
}

/** The items of a batch in the order of submission, as far as requests and result lines show them. */
function itemsOf(sent: unknown, lines: readonly JsonObject[], total: number): JsonObject[] {
  const lists = isObject(sent) ? Object.values(sent).filter((each) => Array.isArray(each)) : []
  const submitted = lists.flat().filter((each) => isObject(each) && typeof each.custom_id === 'string')
  const known = submitted.length >= total ? submitted : lines
  return Array.from({ length: total }, (_, n): JsonObject => {
    const item = isObject(known[n]) ? known[n] : {}
    const others = Object.entries(item).filter(([name]) => !['custom_id', 'page'].includes(name))
    const file = (others.find(([name]) => /^file(?:_?id)?$/.test(name)) ?? others[0])?.[1]
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
