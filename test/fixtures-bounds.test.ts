import { expect, test } from 'vitest'
import type { JsonObject } from '../src/core/json.ts'
import { type AnyRecord, demoWith, issuesOf } from './support/starting-states.ts'

/** The bound of one stored field: a document with a value of a given size in this field, and the issue that reports the bound. */
interface Bound {
  readonly description: string
  readonly bound: number
  readonly at: string
  readonly document: (size: number) => AnyRecord
}

const x = (size: number): string => 'x'.repeat(size)
// Length counts code points (T02), so one emoji of two UTF-16 units is one character.
const emoji = (size: number): string => '🌉'.repeat(size)
const event = (size: number): string => `A:${x(size - 2)}`
const address = (size: number): string => `https://app.example.com/${x(size - 24)}`

const member = (collection: string, id: string, name: string, bound: number, make = x): Bound => ({
  description: `${name} of ${collection}`,
  bound,
  at: `/${name}`,
  document: (size) => demoWith(collection, id, () => ({ [name]: make(size) })),
})

const batch = (change: (size: number) => JsonObject, request: (size: number) => JsonObject = () => ({})) => {
  const items = [{ custom_id: 'one', file_id: 'file-invoice-1' }]
  const output_schema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }
  const facts = { id: 'batch-1', status: 'validating', model: 'standard', created_at: '-1s' }
  const place = { teamspace_id: 'teamspace-harbor', organization_id: 'org-larkmoor' }
  const asked = { prompt: 'Read the total.', output_schema, items }
  return (size: number): AnyRecord => {
    const _emulator = { ...place, request: { ...asked, ...request(size) } }
    const batch_predictions = [{ ...facts, ...change(size), _emulator }]
    return { extends: 'demo', collections: { batch_predictions } }
  }
}

const named = (size: number) => ({ items: [{ custom_id: x(size), file_id: 'file-invoice-1' }] })
const many = (size: number) => ({
  items: Array.from({ length: size }, (_, n) => ({ custom_id: `${n}`, file_id: 'file-invoice-1' })),
})
const pairs = (size: number) => ({
  metadata: Object.fromEntries(Array.from({ length: size }, (_, n) => [`key ${n}`, 'v'])),
})

const keyed = (size: number) => ({ metadata: { [x(size)]: '' } })
const valued = (size: number) => ({ metadata: { key: x(size) } })

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
  { description: 'custom_id', bound: 128, at: '/items/0/custom_id', document: batch(() => ({}), named) },
  { description: 'items of a batch', bound: 5000, at: '/items', document: batch(() => ({}), many) },
  { description: 'metadata pairs', bound: 16, at: '/metadata', document: batch(pairs) },
  { description: 'a metadata key', bound: 64, at: '/metadata', document: batch(keyed) },
  { description: 'a metadata value', bound: 512, at: '/metadata/key', document: batch(valued) },
]

test.for(bounds)(
  '$description may have the size $bound in fixtures, and one more is refused with the bound',
  { tags: ['R284'] },
  async ({ bound, at, document }) => {
    expect(await issuesOf(document(bound))).toEqual([])
    const [issue, ...others] = await issuesOf(document(bound + 1))
    expect(issue?.pointer).toContain(at)
    expect(issue?.detail.replace(',', '')).toContain(String(bound))
    expect(others).toEqual([])
  },
)

// No record stores a page size; it is only a setting.
test.for([
  [0, false],
  [1, true],
  [100, true],
  [101, false],
] as const)('a page size of %i in the settings is accepted: %s', { tags: ['R284'] }, async ([size, good]) => {
  const issues = await issuesOf({ extends: 'empty' }, { 'lists.default_limit': size })
  if (good) expect(issues).toEqual([])
  else {
    expect(issues).toMatchObject([{ pointer: '/settings/lists.default_limit' }])
    expect(issues[0]?.detail).toContain('from 1 to 100')
  }
})
