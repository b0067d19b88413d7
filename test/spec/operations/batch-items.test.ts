import { expect, test } from 'vitest'
import {
  aBatch,
  batchEmulator,
  bring,
  counts,
  createBatch,
  linesOf,
  pointersOf,
  refusedProblem,
  retrieve,
  someItems,
  stamps,
} from '../../support/batches.ts'

const CREATE = '/batch-predictions'
const EMOJI = '\u{1F600}'
const COMBINING = 'e\u0301'

const ID = '/items/0/custom_id'

const named = (...ids: string[]) => ids.map((custom_id) => ({ custom_id, file_id: 'file-pdf' }))

test.for<[string, object, string]>([
  ['a prompt that is no string', { prompt: 7 }, '/prompt'],
  ['an output schema that is no object', { output_schema: [] }, '/output_schema'],
  ['a root of another type', { output_schema: { type: 'array' } }, '/output_schema/type'],
  ['an unsupported keyword', { output_schema: { type: 'object', not: {} } }, '/output_schema/not'],
  ['a model that is no string', { model: 1 }, '/model'],
  ['an empty model', { model: '' }, '/model'],
  ['a longer window', { completion_window: '48h' }, '/completion_window'],
  ['a window in capitals', { completion_window: '24H' }, '/completion_window'],
  ['a window in numbers', { completion_window: 24 }, '/completion_window'],
  ['no window by null', { completion_window: null }, '/completion_window'],
  ['metadata that is a list', { metadata: [] }, '/metadata'],
  ['metadata that is null', { metadata: null }, '/metadata'],
  ['a metadata value that is no string', { metadata: { a: 1 } }, '/metadata/a'],
  ['a metadata value that is null', { metadata: { a: null } }, '/metadata/a'],
  ['an item that is no object', { items: ['x'] }, '/items/0'],
  ['a file that is no string', { items: [{ custom_id: 'a', file_id: 1 }] }, '/items/0/file_id'],
  ['a file without a name', { items: [{ custom_id: 'a', file_id: '' }] }, '/items/0/file_id'],
  ['an item without a custom_id', { items: [{ file_id: 'file-pdf' }] }, ID],
  ['a custom_id that is no string', { items: [{ custom_id: 1, file_id: 'f' }] }, ID],
  ['an empty custom_id', { items: named('') }, ID],
  ['no items', { items: [] }, '/items'],
  ['a list that is null', { items: null }, '/items'],
  ['a list that is an object', { items: { 0: {} } }, '/items'],
  ['a list that is too long, whatever is in it', { items: Array(5_001).fill(null) }, '/items'],
])(
  '%s is refused, and nothing changes',
  { tags: ['R199', 'R200', 'R201', 'R202', 'R275', 'R203', 'R273', 'R274', 'R204', 'R269', 'R271'] },
  async ([, changes, pointer]) => {
    const emulator = await batchEmulator()
    const create = () => emulator.post(CREATE, { ...aBatch(), ...changes })
    expect(pointersOf(await refusedProblem(emulator, create, 400))).toEqual([pointer])
  },
)

const entries = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, '']))

test.for<[string, (more: string) => Record<string, unknown>, string]>([
  ['5,000 items', (more) => ({ items: someItems(5_000 + more.length) }), '/items'],
  ['a custom_id of 128 characters', (more) => ({ items: named('x'.repeat(128) + more) }), ID],
  ['a custom_id of 128 emojis', (more) => ({ items: named(EMOJI.repeat(128) + more) }), ID],
  ['a custom_id of 64 pairs', (more) => ({ items: named(COMBINING.repeat(64) + more) }), ID],
  ['16 entries of metadata', (more) => ({ metadata: entries(16 + more.length) }), '/metadata'],
  ['a key of 64 emojis', (more) => ({ metadata: { [EMOJI.repeat(64) + more]: '' } }), '/metadata'],
  ['a value of 512 emojis', (more) => ({ metadata: { k: EMOJI.repeat(512) + more } }), '/metadata/k'],
])('%s may be sent, not one more', { tags: ['R087', 'R269', 'R271', 'R273'] }, async ([, sent, pointer]) => {
  const emulator = await batchEmulator()
  await createBatch(emulator, sent(''))
  const response = await refusedProblem(emulator, () => emulator.post(CREATE, aBatch(sent('x'))), 400)
  expect(pointersOf(response)).toEqual([expect.stringMatching(new RegExp(`^${pointer}`))])
})

test.for([0, -1, 1.5, '1', null, true, 1e300])('no page is %j', { tags: ['R204', 'R272'] }, async (page) => {
  const emulator = await batchEmulator()
  const items = [...someItems(1), { custom_id: 'bad', file_id: 'file-pdf', page }]
  const response = await refusedProblem(emulator, () => emulator.post(CREATE, aBatch({ items })), 400)
  expect(response.body.errors).toEqual([
    { pointer: '/items/1/page', detail: expect.stringContaining('integer from 1'), custom_id: 'bad' },
  ])
})

test('all errors of a request are reported at once, each with its item', async () => {
  const emulator = await batchEmulator()
  const items = [{ custom_id: 'x' }, { custom_id: 'x', file_id: 'file-pdf', page: 0 }]
  const body = { items, metadata: { a: 1 }, output_schema: { type: 'object', allOf: [] }, model: 3 }
  const response = await refusedProblem(emulator, () => emulator.post(CREATE, body), 400, 'validation_failed')
  expect(response.body.errors).toEqual([
    { pointer: '/prompt', detail: 'is required' },
    { pointer: '/output_schema/allOf', detail: expect.any(String) },
    { pointer: '/model', detail: expect.any(String) },
    { pointer: '/metadata/a', detail: 'must be a string' },
    { pointer: '/items/0/file_id', detail: 'is required', custom_id: 'x' },
    { pointer: '/items/1/page', detail: expect.any(String), custom_id: 'x' },
    { pointer: '/items/1/custom_id', detail: expect.stringContaining('index 0'), custom_id: 'x' },
  ])
})

test('a custom_id may differ in case or normalisation, but not repeat', { tags: ['R271'] }, async () => {
  const emulator = await batchEmulator()
  await createBatch(emulator, {
    items: named('a', 'A', '\u00e9', COMBINING, '__proto__', 'constructor', ' a'),
  })
  await createBatch(emulator, { items: named('a') })
  const repeated = aBatch({ items: named('b', 'a', 'c', 'a', 'a') })
  const response = await refusedProblem(emulator, () => emulator.post(CREATE, repeated), 400)
  expect(pointersOf(response)).toEqual(['/items/3/custom_id', '/items/4/custom_id'])
})

test('a setting accepts an empty custom_id', { tags: ['U050'] }, async () => {
  const emulator = await batchEmulator({ 'batch.empty_custom_id': 'accept' })
  await createBatch(emulator, { items: named('') })
})

test('unknown fields are ignored, or refused by a setting', async () => {
  const items = [{ custom_id: 'a', file_id: 'file-pdf', note: 1 }]
  const easy = await batchEmulator()
  await createBatch(easy, { items, priority: 'high' })
  expect(easy.state('batch_predictions')[0]._emulator.request.items).toEqual(named('a'))
  const strict = await batchEmulator({ unknown_fields: 'reject' })
  const create = () => strict.post(CREATE, aBatch({ items, priority: 'high' }))
  const response = await refusedProblem(strict, create, 400)
  expect(pointersOf(response).sort()).toEqual(['/items/0/note', '/priority'])
})

test.for([
  ['an unknown file', { file_id: 'nobody' }, 'There is no file with the id "nobody".'],
  ['a file of another teamspace', { file_id: 'file-elsewhere' }, 'There is no file with the id'],
  ['a file that cannot be accessed', { file_id: 'file-locked' }, 'cannot be accessed'],
  ['a type that batches do not take', { file_id: 'file-archive' }, 'archive'],
  ['a page of a format without pages', { file_id: 'file-sheet', page: 1 }, 'has no pages'],
  ['a page beyond the last', { page: 11 }, 'has 10 pages, not 11'],
] as const)('%s: the batch fails', { tags: ['R103', 'R106', 'R272', 'T12'] }, async ([, change, reason]) => {
  const emulator = await batchEmulator()
  const items = [...someItems(2), { custom_id: 'bad', file_id: 'file-pdf', ...change }]
  const { id } = await createBatch(emulator, { items })
  emulator.advance('2s')
  const batch = await retrieve(emulator, id)
  expect([batch.status, stamps(batch)]).toEqual(['failed', { failed_at: 2 }])
  expect(batch.error.detail).toContain(reason)
  expect(batch.error.detail).toContain('/items/2 (custom_id "bad")')
  expect(counts(batch)).toEqual({ total: 3, errored: 3 })
  const lines = await linesOf(emulator, id)
  expect(lines[2].error.detail).toContain(reason)
  expect(lines[0].error.detail).toContain('1 item is invalid')
})

test('the last page, and a sheet without a page, validate', { tags: ['R103', 'R272'] }, async () => {
  const emulator = await batchEmulator()
  const last = { custom_id: 'last', file_id: 'file-pdf', page: 10 }
  const { id } = await createBatch(emulator, { items: [last, { custom_id: 'sheet', file_id: 'file-sheet' }] })
  await bring(emulator, id, 'in_progress')
})

test('a setting makes only the invalid item errored', { tags: ['U055'] }, async () => {
  const emulator = await batchEmulator({ 'batch.validation': 'item' })
  const items = [...someItems(2), { custom_id: 'bad', file_id: 'nobody' }]
  const { id } = await createBatch(emulator, { items })
  const batch = await bring(emulator, id, 'completed')
  expect(counts(batch)).toEqual({ total: 3, succeeded: 2, errored: 1 })
  const lines = await linesOf(emulator, id)
  expect(lines[2].error).toMatchObject({ detail: 'There is no file with the id "nobody".', status: 422 })
})

test('a setting accepts unknown files, but no pages beyond the last', { tags: ['U039'] }, async () => {
  const emulator = await batchEmulator({ 'batch.unknown_files': 'accept' })
  const good = await createBatch(emulator, { items: [{ custom_id: 'a', file_id: 'nobody', page: 7 }] })
  const bad = await createBatch(emulator, { items: [{ custom_id: 'a', file_id: 'file-pdf', page: 11 }] })
  emulator.advance('2s')
  expect((await retrieve(emulator, good.id)).status).toBe('in_progress')
  expect((await retrieve(emulator, bad.id)).status).toBe('failed')
})
