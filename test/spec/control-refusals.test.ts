import { expect, test } from 'vitest'
import { controlEmulator } from '../support/control-emulator.ts'

const created_at = '2026-01-01T00:00:00.000Z'
const aShelf = (id: unknown, name = 'New') => ({ id, name, note: null, created_at })
const TOO_LONG = 'x'.repeat(21)
const long = { collections: { shelves: [aShelf('s', TOO_LONG)] } }
const aBook = (shelf_id: string) => ({ id: 'b9', shelf_id, title: '', created_at })
const added = (collections: object) => ({ collections })
const twice = added({ books: [aBook('s1'), aBook('s1')] })
const wrong = { id: 's3', name: 5, color: 'red', created_at: 'now' }
const unknownSetting = { 'shelves.name_bond': null, 'lists.default_limit': 101, 'shelves.name_bound': 30 }

test.for<[request: string, body: unknown, pointers: string]>([
  ['POST /clock/advance', {}, ''],
  ['POST /clock/advance', { by: '1h', steps: 1 }, ''],
  ['POST /clock/advance', { by: 5 }, '/by'],
  ['POST /clock/advance', { to: '2026-03-02T12:00:00' }, '/to'],
  ['POST /clock/advance', { steps: 0 }, '/steps'],
  ['POST /clock/advance', { steps: 0.5 }, '/steps'],
  ['POST /clock/advance', { by: '1h', max_events: 0 }, '/max_events'],
  ['POST /clock/advance', { by: '1h', max_events: 1_000_001 }, '/max_events'],
  ['POST /clock/advance', { until: 'noon' }, ' /until'],
  ['PATCH /clock', { rate: -1 }, '/rate'],
  ['PATCH /clock', { rate: 100_001 }, '/rate'],
  ['PATCH /clock', { rate: null }, '/rate'],
  ['PATCH /clock?verbose=1', { rate: -1, now: 'soon', rat: 2 }, '/now /query/verbose /rat /rate'],
  ['PATCH /settings', unknownSetting, '/lists.default_limit /shelves.name_bond'],
  ['PATCH /settings', { 'shelves.name_bound': 4 }, '/collections/shelves/0/name'],
  ['PATCH /settings?dry_run=true', { 'shelves.name_bound': 'long' }, '/shelves.name_bound'],
  ['PATCH /settings?dry_run=true', { 'shelves.name_bound': 4 }, '/collections/shelves/0/name'],
  ['POST /reset', { fixtures: '/etc/passwd' }, '/fixtures'],
  ['POST /reset', { fixtures: { extends: '../secrets.json' } }, '/fixtures/extends'],
  ['POST /reset', { fixtures: { colections: {} } }, '/fixtures/colections'],
  ['POST /reset', { fixtures: long }, '/fixtures/collections/shelves/0/name'],
  ['POST /reset', { fixtures: { generate: { books: 1 } } }, '/fixtures/generate'],
  ['POST /reset', { seed: 1.5 }, '/seed'],
  ['POST /reset', { clock: '2030-01-02T00:00:00' }, '/clock'],
  ['POST /reset', { sed: 1 }, '/sed'],
  ['POST /fixtures', added({ shelfs: [] }), '/collections/shelfs'],
  ['POST /fixtures', added({ shelves: {} }), '/collections/shelves'],
  ['POST /fixtures', added({ shelves: [{ ...aShelf('s9'), name: 5 }] }), '/collections/shelves/0/name'],
  ['POST /fixtures', added({ books: [aBook('s9')] }), '/collections/books/0/shelf_id'],
  ['POST /fixtures', twice, '/collections/books/1/id'],
  ['POST /fixtures', { generate: { shelves: 1 } }, '/generate/shelves'],
  ['POST /fixtures', { generate: { books: -1 } }, '/generate/books'],
  ['POST /fixtures', { extends: './x.json' }, '/extends'],
  ['POST /fixtures', { record: {} }, '/record'],
  ['PUT /state/shelves/s3', aShelf('s4'), '/id'],
  ['PUT /state/shelves/s3', aShelf(3), '/id /id'],
  ['PUT /state/shelves/s3', aShelf('s3', TOO_LONG), '/name'],
  ['PUT /state/shelves/s3', wrong, '/color /created_at /name /note'],
  ['PUT /state/books/b2', { ...aBook('nowhere'), id: 'b2' }, '/shelf_id'],
  ['PATCH /state/shelves/s2', { name: TOO_LONG }, '/name'],
  ['PATCH /state/shelves/s2', { id: 's9' }, '/id'],
  ['PATCH /state/shelves/s2', [], ''],
  ['PATCH /state/shelves/s1', { name: 'sealed' }, ''],
  ['POST /shelves/s1/close', { after: 'soon' }, '/after'],
  ['PUT /limits/books.list', {}, '/limit'],
  ['PUT /limits/books.list', { limit: 0 }, '/limit'],
  ['PUT /limits/books.list', { limit: 1, window_s: 86_401 }, '/window_s'],
  ['POST /limits/books.list/fill', { remaining: 201 }, '/remaining'],
  ['POST /limits/books.list/fill', { remaining: 0, teamspace_id: 'ts-c' }, '/teamspace_id'],
  ['GET /requests?operation=books.lst', undefined, '/query/operation'],
  ['GET /requests?status=ok', undefined, '/query/status'],
  ['GET /requests?since=yesterday', undefined, '/query/since'],
  ['GET /requests?limit=0', undefined, '/query/limit'],
  ['GET /requests?stable=yes', undefined, '/query/stable'],
  ['GET /requests?limit=1&limit=2', undefined, '/query/limit'],
  ['GET /requests?oparation=books.list', undefined, '/query/oparation'],
])('%s with %j is refused at "%s"', { tags: ['R284'] }, async ([request, body, pointers]) => {
  const emulator = await controlEmulator()
  const before = emulator.digest()
  const [method = '', path = ''] = request.split(' ')
  const response = await emulator.call(method, path, body)
  expect(response.status).toBe(400)
  const found = response.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)
  expect(found.sort().join(' ')).toBe(pointers)
  expect(response.text).not.toMatch(/root:|\/work\//)
  expect([emulator.digest(), emulator.sandbox.limits.windows.save()]).toEqual([before, []])
})
