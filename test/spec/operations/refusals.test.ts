import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyText } from '../../support/any-text.ts'
import { type RequestOptions, type TestEmulator, testEmulator } from '../../support/emulator.ts'
import { batchBody, CONTRACT, sampleCalls, sampleRecords } from '../../support/sample-calls.ts'

const withSamples = () => testEmulator({ collections: sampleRecords, limits: false })

/** Each spoiler makes a call invalid in one way, which a step before the handler refuses. */
const SPOILERS: readonly (readonly [
  how: string,
  spoil: (path: string, options: RequestOptions) => [string, RequestOptions],
])[] = [
  ['without a key', (path, options) => [path, { ...options, key: 'none' }]],
  ['with an unknown key', (path, options) => [path, { ...options, token: 'live_nobody' }]],
  ['with a body that is no JSON', (path) => [path, { raw: '{"name": ' }]],
  [
    'with a body of another type',
    (path) => [path, { raw: 'name=x', type: 'application/x-www-form-urlencoded' }],
  ],
  [
    'with members of the wrong type',
    (path, { json }) => [path, { json: Object.fromEntries(Object.keys(json ?? {}).map((key) => [key, 5])) }],
  ],
  ['with a limit of 0', (path, options) => [`${path}?limit=0`, options]],
  [
    'about something unknown',
    (path, options) => [path.replace(/(-1|-2|ts-a|[0-9a-f]{24}|user-outsider)(\/|$)/, '-unknown$2'), options],
  ],
]

test('a body that is no object is refused by every operation that reads one', {
  tags: ['R125', 'R138', 'R149', 'R152', 'R176'],
}, async () => {
  const emulator = await withSamples()
  const reading = (await sampleCalls(emulator)).filter(
    ({ name, options }) => options.json !== undefined && CONTRACT.some((each) => each === name),
  )
  const before = emulator.digest()
  for (const { name, method, path } of reading)
    for (const json of [undefined, [], 'x', null]) {
      const { status } = await emulator.request(method, path, { json })
      expect([name, json, status]).toEqual([name, json, 400])
    }
  expect(emulator.digest()).toBe(before)
})

test('a refused request of any operation changes nothing', { tags: ['R123', 'R267'] }, async () => {
  const emulator = await withSamples()
  const calls = await sampleCalls(emulator)
  for (const { name, method, path, options } of calls) {
    let refusals = 0
    for (const [how, spoil] of SPOILERS) {
      const [spoiled, sent] = spoil(path, options)
      if (method === 'GET' && (sent.json !== undefined || sent.raw !== undefined)) continue
      const state = emulator.digest()
      const { status } = await emulator.request(method, spoiled, sent)
      expect([name, how, status < 500]).toEqual([name, how, true])
      if (status < 400) continue
      refusals++
      expect([name, how, emulator.digest()]).toEqual([name, how, state])
    }
    expect([name, refusals >= 2]).toEqual([name, true])
  }
})

const odd = [null, true, 0, -1, 1.5, 1e308, '', '__proto__', '\u0000', '\ud800', 'file-1', '24h', 'open']
const value: fc.Arbitrary<unknown> = fc.oneof(
  { depthSize: 'small' },
  fc.constantFrom(...odd),
  anyText(),
  fc.jsonValue({ maxDepth: 3 }),
)
const NAMES = 'name parent like items model prompt output_schema metadata access code __proto__'
const anyBody = fc.oneof(fc.dictionary(fc.constantFrom(...NAMES.split(' ')), value), value)
const segment = fc.oneof(
  fc.constantFrom('..', '%00', '%2F', '%zz', ' ', '', '__proto__', 'a'.repeat(300)),
  fc.string({ maxLength: 12 }),
)
const QUERIES = '?limit=1&limit=2 ?limit=%F0 ?after=__proto__ ?start_date=2024-02-30 ?search=.* ?%=&=&&'
const query = fc.constantFrom('', ...QUERIES.split(' '))

test('no request causes a 5xx or a stack trace', { tags: ['R254', 'R253', 'R240'] }, async () => {
  const emulator = await withSamples()
  const operations = [...emulator.sandbox.service.operations.values()]
  const request = fc.record({
    operation: fc.constantFrom(...operations),
    segments: fc.array(segment, { minLength: 4, maxLength: 4 }),
    body: anyBody,
    query,
    key: fc.constantFrom('KU', 'KS', 'KM', 'K2', 'none' as const),
    method: fc.constantFrom(undefined, undefined, undefined, 'PUT', 'OPTIONS', 'DELETE'),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ operation, segments, body, query, key, method }) => {
      let n = 0
      const path = operation.path.replaceAll(/\{\w+\}/g, () =>
        encodeURI(segments[n++] ?? 'x').replaceAll('?', '%3F'),
      )
      const verb = method ?? operation.method
      const state = emulator.digest()
      const options = verb === 'GET' ? { key } : { key, json: body ?? null }
      const response = await emulator.request(verb, path + query, options)
      if (response.status >= 500)
        expect([response.status, response.body.error]).toEqual([501, 'emulator_contract_unspecified'])
      if (response.status < 400) return
      expect(emulator.digest()).toBe(state)
      expect(response.text).not.toMatch(/ at \/|node_modules|<!DOCTYPE/)
      expect(response.body.status_code ?? response.body.status).toBe(response.status)
      expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/)
    }),
    { numRuns: 300 },
  )
})

test('__proto__ is an id and a key like any other', { tags: ['R012', 'R090', 'R271', 'R273'] }, async () => {
  const ids = ['__proto__', 'constructor', 'toString']
  const facts = { teamspace_id: 'ts-a', scope: 'teamspace', created_at: '2026-01-01T00:00:00Z' }
  const pages = ids.map((id) => ({ id, name: id, ...facts }))
  const emulator = await testEmulator({ collections: { ...sampleRecords, pages } })
  const odd = '{"__proto__":"a","constructor":"b","toString":"c","":"d"}'
  const raw = JSON.stringify(batchBody(1))
    .replace('"item-0"', '"__proto__"')
    .replace('{', `{"metadata": ${odd},`)
  const create = (where: TestEmulator) =>
    where.request('POST', '/batch-predictions', { raw, headers: { 'idempotency-key': '__proto__' } })
  const created = await create(emulator)
  expect([created.status, created.text]).toEqual([200, expect.stringContaining(`"metadata":${odd}`)])
  emulator.advance('1h')
  const after = await emulator.restart()
  const path = `/batch-predictions/${created.body.id}`
  expect((await after.get(path)).text).toContain(`"metadata":${odd}`)
  expect((await after.get(`${path}/results`)).text).toContain('"custom_id":"__proto__"')
  expect((await create(after)).text).toBe(created.text)
  expect(after.state('pages').map((page) => page.id)).toEqual(ids)
  const parent = { type: 'page', page_id: '__proto__' }
  expect((await after.post('/pages', { name: 'x', parent })).status).toBe(200)
  expect(({} as Record<string, unknown>).a).toBeUndefined()
})
