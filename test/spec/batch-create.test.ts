import { expect, test } from 'vitest'
import { BODY_LIMIT } from '../../src/resources/batch-predictions/create.ts'
import { metadataSchema } from '../../src/resources/batch-predictions/schema.ts'
import {
  aBatch,
  batchWorld,
  createBatch,
  expectProblem,
  pointersOf,
  refusedProblem,
  retrieve,
  someItems,
} from '../support/batches.ts'

const CREATE = '/batch-predictions'
const ASTRAL = '\u{1F600}'
const COMBINING = 'e\u0301'

test('R076 R077 R078 R079 R080 R081 R082 R085 R087 R091 R092 R102 R207 a new batch is validating, and whole', async () => {
  const world = await batchWorld()
  const { status, body } = await world.post(CREATE, aBatch({ items: 2, metadata: { team: 'north' } }))
  expect(status).toBe(200)
  expect(body).toEqual({
    object: 'batch_prediction',
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    status: 'validating',
    model: 'model-1',
    completion_window: '24h',
    created_at: '2026-03-01T12:00:00.000Z',
    expires_at: '2026-03-02T12:00:00.000Z',
    in_progress_at: null,
    finalizing_at: null,
    completed_at: null,
    failed_at: null,
    cancelling_at: null,
    cancelled_at: null,
    expired_at: null,
    request_counts: { total: 2, processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    metadata: { team: 'north' },
    error: null,
    results_url: null,
  })
  expect(await retrieve(world, body.id)).toEqual(body)
})

test('R081 the window is 24 hours, also across a change to summer time', async () => {
  const world = await batchWorld({}, { clock: '2026-03-29T00:30:00.000Z' })
  const { created_at, expires_at } = await createBatch(world)
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(86_400_000)
})

test('R198 two equal creations without an Idempotency-Key make two batches', async () => {
  const world = await batchWorld()
  const [one, two] = [await createBatch(world), await createBatch(world)]
  expect(one.id).not.toBe(two.id)
  expect(world.state('batch_predictions')).toHaveLength(2)
})

test.for<[string, object, string]>([
  ['R199 a prompt that is no string', { prompt: 7 }, '/prompt'],
  ['R199 no prompt', { prompt: undefined }, '/prompt'],
  ['R200 an output schema that is no object', { output_schema: [] }, '/output_schema'],
  ['R200 no output schema', { output_schema: undefined }, '/output_schema'],
  ['R200 a root of another type', { output_schema: { type: 'array' } }, '/output_schema/type'],
  ['R201 a model that is no string', { model: 1 }, '/model'],
  ['R201 an empty model', { model: '' }, '/model'],
  ['R202 R275 a longer window', { completion_window: '48h' }, '/completion_window'],
  ['R202 R275 a window in capitals', { completion_window: '24H' }, '/completion_window'],
  ['R202 R275 a window in numbers', { completion_window: 24 }, '/completion_window'],
  ['R202 R275 no window by null', { completion_window: null }, '/completion_window'],
  ['R203 R273 metadata that is a list', { metadata: [] }, '/metadata'],
  ['R203 R273 metadata that is null', { metadata: null }, '/metadata'],
  ['R203 R273 a metadata value that is no string', { metadata: { a: 1 } }, '/metadata/a'],
  ['R203 R273 a metadata value that is null', { metadata: { a: null } }, '/metadata/a'],
  ['R204 an item that is no object', { items: ['x'] }, '/items/0'],
  ['R204 an item without a file', { items: [{ custom_id: 'a' }] }, '/items/0/file_id'],
  ['R204 a file that is no string', { items: [{ custom_id: 'a', file_id: 1 }] }, '/items/0/file_id'],
  ['R204 an item without a custom_id', { items: [{ file_id: 'file-pdf' }] }, '/items/0/custom_id'],
  ['R204 a custom_id that is no string', { items: [{ custom_id: 1, file_id: 'f' }] }, '/items/0/custom_id'],
  ['R269 no items', { items: [] }, '/items'],
  ['R269 no item list', { items: undefined }, '/items'],
  ['R269 a list that is null', { items: null }, '/items'],
  ['R269 a list that is an object', { items: { 0: {} } }, '/items'],
  ['R271 an empty custom_id', { items: [{ custom_id: '', file_id: 'file-pdf' }] }, '/items/0/custom_id'],
])('%s is refused, and nothing changes', async ([, changes, pointer]) => {
  const world = await batchWorld()
  const answer = await refusedProblem(world, () => world.post(CREATE, { ...aBatch(), ...changes }), 400)
  expect(pointersOf(answer)).toEqual([pointer])
})

test.for([0, -1, 1.5, '1', null, true, 1e300])('R204 R272 the page %j is refused', async (page) => {
  const world = await batchWorld()
  const items = [...someItems(1), { custom_id: 'bad', file_id: 'file-pdf', page }]
  const answer = await refusedProblem(world, () => world.post(CREATE, aBatch({ items })), 400)
  expect(answer.body.errors).toEqual([
    { pointer: '/items/1/page', detail: expect.stringContaining('integer from 1'), custom_id: 'bad' },
  ])
})

test('R204 R272 page 1 and a left out page are accepted', async () => {
  const world = await batchWorld()
  await createBatch(world, { items: [{ custom_id: 'a', file_id: 'file-pdf', page: 1 }, ...someItems(1)] })
})

test('U015 what is missing is said to be required, and the answer is marked', async () => {
  const world = await batchWorld({ 'required.batch-predictions.create.completion_window': true })
  const answer = await refusedProblem(world, () => world.post(CREATE, {}), 400)
  expect(pointersOf(answer)).toEqual(['/prompt', '/output_schema', '/model', '/completion_window', '/items'])
  for (const { detail } of answer.body.errors) expect(detail).toBe('is required')
  expect(answer.assumed).toContain('U015')
})

test('every fault of a request is named at once, with the item that it lies in', async () => {
  const world = await batchWorld()
  const items = [{ custom_id: 'x' }, { custom_id: 'x', file_id: 'file-pdf', page: 0 }]
  const body = { items, metadata: { a: 1 }, output_schema: { type: 'object', allOf: [] }, model: 3 }
  const answer = await refusedProblem(world, () => world.post(CREATE, body), 400, 'validation_failed')
  expect(answer.body.errors).toEqual([
    { pointer: '/prompt', detail: 'is required' },
    { pointer: '/output_schema/allOf', detail: expect.any(String) },
    { pointer: '/model', detail: expect.any(String) },
    { pointer: '/metadata/a', detail: 'must be a string' },
    { pointer: '/items/0/file_id', detail: 'is required', custom_id: 'x' },
    { pointer: '/items/1/page', detail: expect.any(String), custom_id: 'x' },
    { pointer: '/items/1/custom_id', detail: expect.stringContaining('index 0'), custom_id: 'x' },
  ])
})

test('R202 R275 the window may be left out or said, and is 24h in either case', async () => {
  const world = await batchWorld()
  expect((await createBatch(world)).completion_window).toBe('24h')
  expect((await createBatch(world, { completion_window: '24h' })).completion_window).toBe('24h')
})

test('R202 a setting makes the window a required member', async () => {
  const world = await batchWorld({ 'required.batch-predictions.create.completion_window': true })
  const answer = await refusedProblem(world, () => world.post(CREATE, aBatch()), 400)
  expect(pointersOf(answer)).toEqual(['/completion_window'])
  await createBatch(world, { completion_window: '24h' })
})

test('R269 R087 one item and 5,000 items are accepted, 5,001 are not', async () => {
  const world = await batchWorld()
  expect((await createBatch(world, { items: 1 })).request_counts.total).toBe(1)
  expect((await createBatch(world, { items: 5_000 })).request_counts.total).toBe(5_000)
  const answer = await refusedProblem(world, () => world.post(CREATE, aBatch({ items: 5_001 })), 400)
  expect(pointersOf(answer)).toEqual(['/items'])
})

test.for([
  ['ASCII', 'x'],
  ['astral', ASTRAL],
  ['combining', COMBINING],
])(
  'R271 a custom_id of 128 code points of %s characters is accepted, one more is not',
  async ([, unit = '']) => {
    const world = await batchWorld()
    const id = unit.repeat(128 / [...unit].length)
    await createBatch(world, { items: [{ custom_id: id, file_id: 'file-pdf' }] })
    const items = [{ custom_id: `${id}x`, file_id: 'file-pdf' }]
    const answer = await refusedProblem(world, () => world.post(CREATE, aBatch({ items })), 400)
    expect(pointersOf(answer)).toEqual(['/items/0/custom_id'])
  },
)

test('R271 a repeated custom_id is refused, one that differs in case or normalisation is not', async () => {
  const world = await batchWorld()
  const named = (...ids: string[]) => ids.map((custom_id) => ({ custom_id, file_id: 'file-pdf' }))
  await createBatch(world, { items: named('a', 'A', '\u00e9', COMBINING, '__proto__', 'constructor', ' a') })
  await createBatch(world, { items: named('a') })
  const answer = await refusedProblem(
    world,
    () => world.post(CREATE, aBatch({ items: named('b', 'a', 'c', 'a', 'a') })),
    400,
  )
  expect(pointersOf(answer)).toEqual(['/items/3/custom_id', '/items/4/custom_id'])
})

test('U050 a setting accepts an empty custom_id', async () => {
  const world = await batchWorld({ 'batch.empty_custom_id': 'accept' })
  await createBatch(world, { items: [{ custom_id: '', file_id: 'file-pdf' }] })
})

test('R273 sixteen metadata entries are accepted, seventeen are not', async () => {
  const world = await batchWorld()
  const entries = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, '']))
  expect((await createBatch(world, { metadata: entries(16) })).metadata).toEqual(entries(16))
  expect((await createBatch(world, { metadata: {} })).metadata).toEqual({})
  const answer = await refusedProblem(world, () => world.post(CREATE, aBatch({ metadata: entries(17) })), 400)
  expect(pointersOf(answer)).toEqual(['/metadata'])
})

test.for([['x'], [ASTRAL], [COMBINING]])(
  'R273 metadata keys of 64 and values of 512 code points (%s) are accepted, one more is not',
  async ([unit = '']) => {
    const world = await batchWorld()
    const long = (n: number) => unit.repeat(n / [...unit].length)
    const metadata = { [long(64)]: long(512) }
    expect((await createBatch(world, { metadata })).metadata).toEqual(metadata)
    for (const bad of [{ [`${long(64)}x`]: 'v' }, { k: `${long(512)}x` }]) {
      const answer = await refusedProblem(world, () => world.post(CREATE, aBatch({ metadata: bad })), 400)
      expect(pointersOf(answer)).toHaveLength(1)
    }
  },
)

test('R090 metadata comes back as it was sent, also under names that objects have by nature', async () => {
  const world = await batchWorld()
  const text =
    '{"__proto__":"p","constructor":"c","toString":"t","hasOwnProperty":"h","":"empty","\u{1F600}":"x"}'
  const raw = JSON.stringify(aBatch()).replace(/}$/, `,"metadata":${text}}`)
  const created = await world.request('POST', CREATE, { raw })
  expect(created.status).toBe(200)
  for (const place of [world, await world.restart()]) {
    const { text: answer } = await place.get(`${CREATE}/${created.body.id}`)
    expect(JSON.stringify(JSON.parse(answer).metadata)).toBe(JSON.stringify(JSON.parse(text)))
  }
  expect(({} as Record<string, unknown>).p).toBeUndefined()
})

test('R090 a record keeps its metadata object, whatever its keys', () => {
  const metadata = JSON.parse('{"__proto__":"p"}')
  expect(Object.keys(metadataSchema().parse(metadata))).toEqual(['__proto__'])
})

const KEYWORDS = ['$defs', '$ref', 'allOf', 'anyOf', 'not', 'oneOf', 'patternProperties']
const POSITIONS: readonly [string, (schema: object) => object, string][] = [
  ['at the root', (schema) => ({ type: 'object', ...schema }), ''],
  ['in a property', (schema) => ({ type: 'object', properties: { a: schema } }), '/properties/a'],
  [
    'in items',
    (schema) => ({ type: 'object', properties: { a: { type: 'array', items: schema } } }),
    '/properties/a/items',
  ],
  [
    'in additionalProperties',
    (schema) => ({ type: 'object', additionalProperties: schema }),
    '/additionalProperties',
  ],
]

test.for(KEYWORDS)('R274 R200 the keyword %s is refused wherever a schema may stand', async (keyword) => {
  const world = await batchWorld()
  for (const [, around, place] of POSITIONS) {
    const value = ['allOf', 'anyOf', 'oneOf'].includes(keyword) ? [{}] : keyword === '$ref' ? '#' : {}
    const output_schema = around({ [keyword]: value })
    const answer = await refusedProblem(world, () => world.post(CREATE, aBatch({ output_schema })), 400)
    expect(pointersOf(answer)).toContain(`/output_schema${place}/${keyword}`)
  }
})

test('R274 the seven words are fine as names of properties and inside values', async () => {
  const world = await batchWorld()
  const properties = Object.fromEntries(KEYWORDS.map((name) => [name, { type: 'string', default: '$ref' }]))
  const word = { enum: KEYWORDS, default: { not: { $ref: 'x' } } }
  await createBatch(world, { output_schema: { type: 'object', properties: { ...properties, word } } })
})

test.for([[['object']], [true], ['array'], ['objekt'], [undefined], [null]])(
  'R274 the root type %j is refused',
  async ([type]) => {
    const world = await batchWorld()
    const answer = await refusedProblem(
      world,
      () => world.post(CREATE, aBatch({ output_schema: { type } })),
      400,
    )
    expect(pointersOf(answer)).toEqual(['/output_schema/type'])
  },
)

test('R270 the body may have 100 MiB after decoding', async () => {
  const world = await batchWorld()
  expect(BODY_LIMIT).toBe(100 * 1024 * 1024)
  expect(world.sandbox.service.operations.get('batch-predictions.create')?.bodyLimit).toBe(BODY_LIMIT)
  await createBatch(world, { prompt: 'x'.repeat(2 * 1024 * 1024) })
})

test('U035 the two names are settings, every answer is marked, and --strict does not make them up', async () => {
  const named = await batchWorld({ 'batch.names.items': 'requests', 'batch.names.file_ref': 'document' })
  const requests = [{ custom_id: 'a', document: 'file-pdf', page: 2 }]
  const { items: _, ...rest } = aBatch()
  const created = await named.post(CREATE, { ...rest, requests })
  expect([created.status, created.assumed.includes('U035')]).toEqual([200, true])
  expect(named.state('batch_predictions')[0]._emulator.request.items).toEqual([
    { custom_id: 'a', file_id: 'file-pdf', page: 2 },
  ])
  const missing = await refusedProblem(named, () => named.post(CREATE, aBatch()), 400)
  expect(pointersOf(missing)).toEqual(['/requests'])

  const strict = await batchWorld({}, { strict: true })
  const before = strict.digest()
  const answer = await strict.post(CREATE, 'not even an object')
  expect([answer.status, answer.body.type.split('/').at(-1)]).toEqual([501, 'emulator_contract_unspecified'])
  expect(answer.body.detail).toContain('"batch.names.items" and "batch.names.file_ref"')
  expect(answer.assumed).toContain('U035')
  expect(strict.digest()).toBe(before)
})

test('R245 R246 every error of the four batch endpoints is problem details', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  const paths: readonly [string, string][] = [
    ['POST', CREATE],
    ['GET', `${CREATE}/${id}`],
    ['GET', `${CREATE}/${id}/results`],
    ['POST', `${CREATE}/${id}/cancel`],
  ]
  for (const [method, path] of paths) expectProblem(await world.request(method, path, { key: 'none' }), 401)
  for (const path of [`${CREATE}/nobody`, `${CREATE}/nobody/results`])
    expectProblem(await world.get(path), 404)
  expectProblem(await world.post(`${CREATE}/nobody/cancel`), 404)
  expectProblem(await world.request('POST', CREATE, { raw: '{"prompt"' }), 400, 'malformed_json')
  expectProblem(await world.request('POST', CREATE, { raw: 'x', type: 'text/plain' }), 415)
  expectProblem(await world.request('POST', CREATE), 400)
  expectProblem(await world.get(`${CREATE}/${id}/results`), 409, 'results_not_ready')
})

test('R246 a batch of another teamspace is spoken of like one that does not exist', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  for (const key of ['K2', 'KO'] as const) {
    const foreign = await world.get(`${CREATE}/${id}`, { key })
    const unknown = await world.get(`${CREATE}/${'0'.repeat(24)}`, { key })
    const blind = (text: string) => text.replaceAll(id, 'ID').replaceAll('0'.repeat(24), 'ID')
    expect(blind(foreign.text)).toBe(blind(unknown.text))
    expectProblem(foreign, 404, 'not_found')
    expectProblem(await world.post(`${CREATE}/${id}/cancel`, undefined, { key }), 404)
    expectProblem(await world.get(`${CREATE}/${id}/results`, { key }), 404)
  }
  expect((await world.get(`${CREATE}/${id}`, { key: 'KS' })).status).toBe(200)
})

test('T12 a page and a file are not looked at before validation', async () => {
  const world = await batchWorld()
  await createBatch(world, { items: [{ custom_id: 'a', file_id: 'nowhere', page: 99 }] })
})

test('unknown members are ignored, or refused where a setting says so', async () => {
  const items = [{ custom_id: 'a', file_id: 'file-pdf', note: 1 }]
  const easy = await batchWorld()
  await createBatch(easy, { items, priority: 'high' })
  expect(easy.state('batch_predictions')[0]._emulator.request.items).toEqual([
    { custom_id: 'a', file_id: 'file-pdf' },
  ])
  const world = await batchWorld({ unknown_fields: 'reject' })
  const answer = await refusedProblem(
    world,
    () => world.post(CREATE, aBatch({ items, priority: 'high' })),
    400,
  )
  expect(pointersOf(answer).sort()).toEqual(['/items/0/note', '/priority'])
})
