import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Chance } from '../../../src/core/random.ts'
import type { Sandbox } from '../../../src/core/sandboxes/sandbox.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Described, isParameter } from './document.ts'
import { flowOf, MANY, messageOf } from './sandbox.ts'
import { objectOf, pick, sampleOf } from './values.ts'

/** A request before it becomes bytes, so that it can still be mutated. */
export interface Draft {
  method: string
  /** Segments of the path after the base URL, percent-encoded. */
  segments: string[]
  query: [string, string][]
  tail: string
  headers: [string, string][]
  prefix: string
  base: string
  json: Json | undefined
  raw: Buffer | undefined
  /** The names of its mutations; empty for a valid request. */
  readonly mutations: string[]
}

/** The state of a generator during a run: used records, and cursors from responses. */
export class Memory {
  readonly cursors: { readonly cursor: string; readonly dates: readonly [string, string][] }[] = []
  readonly #next = new Map<string, number>()

  /** The number of the next record that this operation has not used; starts again after the last one. */
  fresh(operation: string): number {
    const next = ((this.#next.get(operation) ?? -1) + 1) % MANY
    this.#next.set(operation, next)
    return next
  }
}

export interface Source {
  readonly sandbox: Sandbox
  readonly memory: Memory
  readonly chance: Chance
}

/** A request that the document allows, about existing records, from a caller with the right to send it. */
export function validRequest(operation: Described, source: Source): Draft {
  const { chance, memory } = source
  const n = memory.fresh(operation.name)
  const params = paramsOf(operation, source, n)
  const headers: [string, string][] = [['Authorization', `Bearer ${KEYS.KU}`]]
  if (operation.idempotent && chance.int(0, 2) === 0)
    headers.push(['Idempotency-Key', `key-${chance.int(0, 1e6)}`])
  if (chance.int(0, 9) === 0) headers.push(['Origin', 'http://localhost:3000'])
  return {
    method: operation.method,
    segments: operation.segments.map((part) => (isParameter(part) ? encodeURIComponent(params(part)) : part)),
    ...{ query: queryOf(operation, source), json: bodyOf(operation, source, n), headers },
    ...{ tail: '', prefix: '', base: '/v1', raw: undefined, mutations: [] },
  }
}

const COLLECTION_OF: Readonly<Record<string, string>> = {
  ...{ '{skill_id}': 'skills', '{conversation_id}': 'conversations', '{automation_id}': 'automations' },
  ...{ '{trigger_id}': 'event_triggers', '{batch_prediction_id}': 'batch_predictions' },
}
const FIXED: Readonly<Record<string, string>> = {
  ...{ '{teamspace_id}': 'ts-a', '{server_id}': 'server-1', '{agent_id}': 'agent-1' },
}

function paramsOf({ name }: Described, { sandbox, chance }: Source, n: number): (part: string) => string {
  const message = messageOf(n)
  return (part) => {
    if (name === 'messages.feedback' && part === '{conversation_id}') return message.conversation_id
    if (part === '{message_id}') return message.message_id + pick(chance, ['', '-agent'])
    if (part === '{user_id}') return `user-${n}`
    if (name === 'skills.promote') return `skill-${n + 10}`
    const fixed = FIXED[part]
    if (fixed !== undefined) return fixed
    return someId(sandbox, COLLECTION_OF[part] ?? '', chance)
  }
}

/** The id of one of the last records of a collection; a placeholder if it is empty. */
export function someId(sandbox: Sandbox, collection: string, chance: Chance): string {
  const rows = sandbox.store.rows(collection)
  if (rows.size === 0) return 'none-there'
  let left = chance.int(0, rows.size - 1)
  for (const id of rows.keys()) if (left-- === 0) return id
  return 'none-there'
}

const DATES = ['2026-02-01', '2026-02-28', '2026-01-15T10:00:00Z', '2026-02-20T23:59:59.999Z', '2026-03-01']

function queryOf(operation: Described, { chance, memory }: Source): [string, string][] {
  const query: [string, string][] = []
  let dates: readonly [string, string][] | undefined
  for (const { name, schema } of operation.query) {
    if (chance.int(0, 2) > 0) continue
    if (name === 'after' || name === 'before') {
      const last = memory.cursors.at(-1)
      if (last === undefined || operation.name !== 'consumption.list' || dates !== undefined) continue
      dates = last.dates
      query.push([name, last.cursor])
    } else if (name === 'start_date' || name === 'end_date') query.push([name, pick(chance, DATES)])
    else if (name === 'has_messages') query.push([name, pick(chance, ['true', 'false'])])
    else query.push([name, String(sampleOf(schema, chance))])
  }
  if (dates === undefined) return query
  return [...query.filter(([name]) => !name.endsWith('_date')), ...dates]
}

function bodyOf(operation: Described, source: Source, n: number): Json | undefined {
  const { body, bodyRequired } = operation
  const { chance } = source
  if (body === undefined || (!bodyRequired && chance.int(0, 1) === 0)) return undefined
  const drawn = objectOf(body, chance)
  switch (operation.name) {
    case 'agents.claim':
      return { claim_token: `claim-${n + 10}` }
    case 'mcp-servers.oauth-callback':
      return { ...drawn, ...flowOf(n) }
    case 'pages.create':
      return pageBody(drawn, source)
    case 'automations.update':
    case 'automations.create':
      return { name: sampleOf({ type: 'string' }, chance) }
    case 'teamspaces.update':
    case 'event-triggers.update':
      return Object.keys(drawn).length === 0 ? { name: 'Renamed' } : drawn
    case 'batch-predictions.create':
      return batchBody(drawn, chance)
    default:
      return drawn
  }
}

function pageBody({ parent: _, ...drawn }: JsonObject, { sandbox, chance }: Source): JsonObject {
  const own = [...sandbox.store.rows('pages').values()].filter(
    (page) => 'teamspace_id' in page && page.teamspace_id === 'ts-a',
  )
  if (own.length === 0 || chance.int(0, 1) === 0) return drawn
  return { ...drawn, parent: { type: 'page', page_id: pick(chance, own).id } }
}

const OUTPUTS: readonly JsonObject[] = [
  { type: 'object' },
  { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
  { type: 'object', properties: { names: { type: 'array', items: { type: 'string' }, maxItems: 3 } } },
  {
    type: 'object',
    properties: {
      kind: { enum: ['a', 'b'] },
      when: { type: 'string', format: 'date' },
      deep: { type: 'object' },
    },
    required: ['kind', 'when'],
    additionalProperties: false,
  },
]

function batchBody(drawn: JsonObject, chance: Chance): JsonObject {
  const ids = Array.from(
    { length: chance.int(1, 12) },
    (_, n) => `${n}-${String(sampleOf({ type: 'string', maxLength: 100 }, chance))}`,
  )
  const items = ids.map((custom_id) => ({
    custom_id,
    file_id: 'file-1',
    ...(chance.int(0, 2) === 0 ? { page: chance.int(1, 10) } : {}),
  }))
  return { ...drawn, model: 'model-1', output_schema: pick(chance, OUTPUTS), items }
}
