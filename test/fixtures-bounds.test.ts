import { expect, test } from 'vitest'
import type { JsonObject } from '../src/core/json.ts'
import { type AnyRecord, demoWith, issuesOf } from './support/starting-states.ts'

/** A bound, the end of the pointer that reports it, and a document with a value of a given size in this place. */
type Bound = readonly [what: string, bound: number, at: string, document: (size: number) => AnyRecord]

const x = (size: number): string => 'x'.repeat(size)
// Length counts code points (T02), so one emoji of two UTF-16 units is one character.
const emoji = (size: number): string => '🌉'.repeat(size)
const event = (size: number): string => `A:${x(size - 2)}`
const address = (size: number): string => `https://app.example.com/${x(size - 24)}`

const member = (table: string, id: string, name: string, bound: number, make = x): Bound => {
  return [`${name} of ${table}`, bound, `/${name}`, (n) => demoWith(table, id, () => ({ [name]: make(n) }))]
}

/** A document with one batch. */
function batch(metadata: JsonObject, ...ids: readonly string[]): AnyRecord {
  const items = ids.map((custom_id) => ({ custom_id, file_id: 'file-invoice-1' }))
  const output_schema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }
  const facts = { id: 'batch-1', status: 'validating', model: 'standard', created_at: '-1s', metadata }
  const place = { teamspace_id: 'teamspace-harbor', organization_id: 'org-larkmoor' }
  const _emulator = { ...place, request: { prompt: 'Read the total.', output_schema, items } }
  return { extends: 'demo', collections: { batch_predictions: [{ ...facts, _emulator }] } }
}

const texts = (size: number) => Array.from({ length: size }, (_, n) => `key ${n}`)
const pairs = (size: number) => Object.fromEntries(texts(size).map((key) => [key, 'v']))

const bounds: readonly Bound[] = [
  member('teamspaces', 'teamspace-harbor', 'name', 300),
  member('teamspaces', 'teamspace-harbor', 'name', 300, emoji),
  member('event_triggers', 'trigger-photo-added', 'trigger_event', 255, event),
  member('event_triggers', 'trigger-photo-added', 'name', 255),
  member('event_triggers', 'trigger-photo-added', 'name', 255, emoji),
  member('event_triggers', 'trigger-photo-added', 'description', 1000),
  member('event_triggers', 'trigger-photo-added', 'run_conditions', 3000),
  member('oauth_flows', 'flow-drawings', 'code', 4096),
  member('oauth_flows', 'flow-drawings', 'state', 512),
  member('oauth_flows', 'flow-drawings', 'redirect_uri', 2048, address),
  ['custom_id', 128, '/items/0/custom_id', (size) => batch({}, x(size))],
  ['items of a batch', 5000, '/items', (size) => batch({}, ...texts(size))],
  ['metadata pairs', 16, '/metadata', (size) => batch(pairs(size), 'one')],
  ['a metadata key', 64, '/metadata', (size) => batch({ [x(size)]: '' }, 'one')],
  ['a metadata value', 512, '/metadata/key', (size) => batch({ key: x(size) }, 'one')],
]

test.for(bounds)('%s may have the size %i, not one more', { tags: ['R284'] }, async ([, bound, at, make]) => {
  expect(await issuesOf(make(bound))).toEqual([])
  const [issue, ...others] = await issuesOf(make(bound + 1))
  expect(issue?.pointer).toContain(at)
  expect(issue?.detail.replace(',', '')).toContain(String(bound))
  expect(others).toEqual([])
})

// No record stores a page size; it is only a setting.
test.for([
  [0, false],
  [1, true],
  [100, true],
  [101, false],
] as const)('a page size of %i in the settings is accepted: %s', { tags: ['R284'] }, async ([size, good]) => {
  const issues = await issuesOf({ extends: 'empty' }, { 'lists.default_limit': size })
  const detail = expect.stringContaining('from 1 to 100')
  expect(issues).toMatchObject(good ? [] : [{ pointer: '/settings/lists.default_limit', detail }])
})
