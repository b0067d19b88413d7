import { expect, test } from 'vitest'
import { controlOf } from '../support/control.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { sampleRecords } from '../support/sample-calls.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents are damaged at every depth.
type Any = any

type Damage = readonly [name: string, damage: (document: Any) => unknown, pointers: readonly string[]]

const DAMAGES: readonly Damage[] = [
  ['another format', (document) => ({ ...document, format: 3 }), ['/format']],
  ['no format', ({ format: _, ...rest }) => rest, ['/format']],
  ['an unknown key', (document) => ({ ...document, colections: {} }), ['/colections']],
  ['no object at all', () => [], ['']],
  ['a fixtures document', () => ({ extends: 'demo', collections: {} }), ['/format', '/revision', '/extends']],
  ['an unknown collection', (document) => set(document, 'collections.page', []), ['/collections/page']],
  [
    'a collection that is no array',
    (document) => set(document, 'collections.pages', {}),
    ['/collections/pages'],
  ],
  [
    'two wrong records',
    (document) => {
      set(document, 'collections.files.0.pages', 'ten')
      return set(document, 'collections.agents', [{ id: 7 }])
    },
    ['/collections/files/0/pages', '/collections/agents/0/id'],
  ],
  [
    'an unknown key in a record',
    (document) => set(document, 'collections.files.0.size', 1),
    ['/collections/files/0/size'],
  ],
  [
    'the same id twice',
    (document) => set(document, 'collections.files.1', document.collections.files[0]),
    ['/collections/files/1/id'],
  ],
  [
    'a reference to nothing',
    (document) => set(document, 'collections.memberships.0.user_id', 'nobody'),
    ['/collections/memberships/0/user_id'],
  ],
  [
    'an unknown setting',
    (document) => set(document, 'settings.unknown_field', 1),
    ['/settings/unknown_field'],
  ],
  [
    'a wrong setting',
    (document) => set(document, 'settings.unknown_fields', 'no'),
    ['/settings/unknown_fields'],
  ],
  ['a clock without a zone', (document) => set(document, 'clock.now', '2026-03-01T12:00:00'), ['/clock/now']],
  ['a clock that runs backwards', (document) => set(document, 'clock.rate', -1), ['/clock/rate']],
  ['a revision that is none', (document) => ({ ...document, revision: -1 }), ['/revision']],
  [
    'counters that lack one',
    (document) => set(document, 'counters', { ids: 1, uuids: 1 }),
    ['/counters/events'],
  ],
  [
    'a future event that lacks its instant',
    (document) =>
      set(document, 'schedule', [{ id: 'x', kind: 'y', ref: 'z', seq: 1, urgency: 'work', description: '' }]),
    ['/schedule/0/due_at'],
  ],
  [
    'a clock after its last instant',
    (document) => set(document, 'clock.now', '9999-01-01T00:00:00.000Z'),
    ['/clock/now'],
  ],
  [
    'places in rate windows that were taken at no instant',
    (document) => ({ ...document, limits: [{ id: 'x', hits: [1e300, -1] }] }),
    ['/limits/0/hits/0', '/limits/0/hits/1'],
  ],
  [
    'a response to be repeated with a status that is none',
    (document) => {
      const at = '2026-03-01T12:00:00.000Z'
      const row = { id: 'k', fingerprint: 'f', status: 7, body: null, created_at: at, expires_at: at }
      return { ...document, idempotency: [row] }
    },
    ['/idempotency/0/status'],
  ],
  ['limits that are no list', (document) => ({ ...document, limits: {} }), ['/limits']],
]

function set(document: Any, path: string, value: unknown): Any {
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  const target = keys.reduce((found: Any, key) => found[key], document)
  target[last] = value
  return document
}

test.for(DAMAGES)(
  'an import with %s is refused with every issue by pointer, and nothing changes',
  async ([, damage, pointers]) => {
    const { emulator, digest } = await testEmulator({ collections: sampleRecords })
    const control = controlOf(emulator)
    await control('POST', '/snapshots', { name: 'base' })
    const kept = (await control('GET', '/snapshots/base')).body
    const before = digest()
    for (const name of ['base', 'new']) {
      const response = await control('PUT', `/snapshots/${name}`, damage(structuredClone(kept)))
      expect([response.status, response.body.error]).toEqual([400, 'validation_failed'])
      const told = response.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)
      expect(told).toEqual(expect.arrayContaining([...pointers]))
    }
    expect(digest()).toBe(before)
    expect((await control('GET', '/snapshots')).body.data).toHaveLength(1)
    expect((await control('GET', '/snapshots/base')).body).toEqual(kept)
  },
)

test('the state of another service is refused because of its collections', async () => {
  const { emulator } = await testEmulator()
  const library = await controlEmulator()
  const response = await controlOf(emulator)('PUT', '/snapshots/foreign', library.sandbox.document())
  expect(response.status).toBe(400)
  const told = response.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)
  expect(told).toEqual(expect.arrayContaining(['/collections/shelves', '/collections/books']))
})

test('the error of a misspelt key names the nearest', async () => {
  const { emulator, sandbox } = await testEmulator()
  const { schedule, ...rest } = sandbox.document()
  const response = await controlOf(emulator)('PUT', '/snapshots/x', { ...rest, shedule: schedule })
  expect(JSON.stringify(response.body.details)).toContain('Did you mean \\"schedule\\"')
})

test.for<[name: string, spoil: (text: string) => string, error: string]>([
  ['cut off', (text) => text.slice(0, text.length - 10), 'malformed_json'],
  ['empty', () => '', 'validation_failed'],
  ['with a trailing comma', (text) => `${text.slice(0, -1)},}`, 'malformed_json'],
  [
    'nested deeper than any sandbox',
    (text) => text.replace('"settings":{}', `"settings":${'['.repeat(64)}${']'.repeat(64)}`),
    'validation_failed',
  ],
])('a text that is %s is refused before its records are checked', async ([, spoil, error]) => {
  const { emulator, sandbox, digest } = await testEmulator()
  const before = digest()
  const response = await fetch(`${emulator.controlUrl}/snapshots/base`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: spoil(JSON.stringify(sandbox.document())),
  })
  expect([response.status, ((await response.json()) as Any).error]).toEqual([400, error])
  expect((await controlOf(emulator)('GET', '/snapshots')).body.data).toEqual([])
  expect(digest()).toBe(before)
})

test('X4 records with ids like __proto__ are exported, imported and restored like any other', async () => {
  const { emulator } = await testEmulator()
  const control = controlOf(emulator)
  for (const id of ['__proto__', 'constructor', 'toString']) {
    const put = await control('PUT', `/state/organizations/${id}`, { name: id })
    expect(put.status).toBe(201)
  }
  await control('POST', '/snapshots', { name: 'base' })
  const exported = (await control('GET', '/snapshots/base')).body
  expect((await control('PUT', '/snapshots/again', exported)).status).toBe(201)
  await control('POST', '/reset')
  await control('POST', '/snapshots/again/restore')
  expect((await control('GET', '/state/organizations/__proto__')).body).toEqual({
    id: '__proto__',
    name: '__proto__',
  })
})
