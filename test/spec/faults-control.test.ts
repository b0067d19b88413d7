import { expect, test } from 'vitest'
import { checkDraft } from '../../src/core/faults/arm.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { startEmulator } from '../../src/index.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'

const fail = { match: { operation: 'data-views.list' }, do: [{ respond: { status: 503 } }] }

async function idsOf(emulator: TestEmulator): Promise<string[]> {
  const { body } = await emulator.control('GET', '/faults')
  return body.data.map(({ id }: { id: string }) => id)
}

/** A sandbox in which this rule, or list of rules, is armed. */
async function armed(rules: unknown): Promise<TestEmulator> {
  const emulator = await testEmulator()
  expect((await emulator.control('POST', '/faults', rules)).status).toBe(201)
  return emulator
}

test('a rule is armed, counted, listed, shown and removed', async () => {
  const emulator = await testEmulator()
  const draft = { ...fail, id: 'down', when: { nth: 2 } }
  const { body: rule } = await emulator.control('POST', '/faults', draft)
  const life = 'It fires once, then it is spent.'
  expect(rule).toMatchObject({ ...draft, life, status: 'armed', matched: 0 })
  expect((await emulator.control('GET', '/faults')).body.never_fired).toEqual(['down'])
  const statuses: number[] = []
  for (const path of ['/data-views', '/data-views', '/agents'])
    statuses.push((await emulator.get(path)).status)
  expect(statuses).toEqual([200, 503, 200])
  const { body } = await emulator.control('GET', '/faults')
  expect(body).toMatchObject({ never_fired: [], data: [{ id: 'down', matched: 2, fired: 1 }] })
  expect((await emulator.control('GET', '/faults/down')).body).toEqual(body.data[0])
  expect((await emulator.control('DELETE', '/faults/down')).body).toEqual(body.data[0])
  expect([await idsOf(emulator), emulator.sandbox.document().fault_counters]).toEqual([[], []])
})

test('a list of rules is armed whole or not at all', async () => {
  const emulator = await testEmulator()
  const refused = await emulator.control('POST', '/faults', [fail, { ...fail, prioritty: 1 }])
  expect([refused.status, refused.body.details.errors[0].pointer]).toEqual([400, '/1/prioritty'])
  expect(await idsOf(emulator)).toEqual([])
  await emulator.control('POST', '/faults', [fail, fail, { preset: 'rate-limited', priority: 1 }])
  expect(await idsOf(emulator)).toEqual(['rate-limited', 'fault', 'fault-2'])
})

const preset = { preset: 'server-error' }
const UNTIL = { calls: 9 }

test.for<[request: string, body: unknown, pointer: string, detail: RegExp]>([
  ['POST /faults', undefined, '', /a JSON body is required/],
  ['POST /faults', 'down', '', /must be a rule or a list of rules/],
  ['POST /faults', [], '', /too small|at least/i],
  ['POST /faults', {}, '/match', /is required/],
  ['POST /faults?dry_run=true', { preset: 'server-eror' }, '/preset', /Did you mean "server-error"\?/],
  ['POST /faults?dry_run=maybe', preset, '/query/dry_run', /true/],
  ['POST /faults?first=0', preset, '/query/first', /must be an integer from 1 to 9007199254740991/],
  ['POST /faults?first=2&always=true', preset, '/query/first', /must be left out with always=true/],
  ['PATCH /faults/a', { id: 'b' }, '/id', /cannot be changed/],
  ['PATCH /faults/a', { preset: 'rate-limited' }, '/preset', /cannot be changed/],
  ['PATCH /faults/a', { match: null }, '/match', /is required/],
  ['PATCH /faults/a', { do: null }, '/do', /at least one action/],
  ['PATCH /faults/a', { whn: {} }, '/whn', /Did you mean "when"\?/],
  ['PATCH /faults/a', { source: 'header' }, '/source', /not a known field/],
  ['PATCH /faults/a', { when: { nth: 0 } }, '/when/nth', /from 1/],
])('%s refuses %j, and rules stay', async ([request, rule, pointer, detail]) => {
  const emulator = await armed({ ...fail, id: 'a' })
  const before = emulator.digest()
  const [method = '', path = ''] = request.split(' ')
  const { status, body } = await emulator.control(method, path, rule)
  expect(status).toBe(400)
  expect(body.details.errors).toContainEqual({ pointer, detail: expect.stringMatching(detail) })
  expect(emulator.digest()).toBe(before)
})

test('a rule with dry_run is not armed, and changes nothing', async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const { status, body } = await emulator.control('POST', '/faults?dry_run=true', preset)
  expect([status, body.data, emulator.digest()]).toEqual([200, [], before])
  expect((await emulator.control('POST', '/faults?dry_run=false', preset)).status).toBe(201)
  expect(await idsOf(emulator)).toEqual(['server-error'])
})

test.for([
  ['first=2', preset, { when: { first: 2 }, times: null }],
  ['always=true', preset, { when: {}, times: null }],
  // The keys that matches are counted by, and the end of the rule, stay.
  ['first=4', { preset: 'batch-poll-transient-error' }, { when: { first: 4, by: 'resource_id' } }],
  ['always=true', { preset: 'batch-poll-transient-error' }, { when: { by: 'resource_id' } }],
  ['first=1', { ...preset, when: { nth: 3, until: UNTIL } }, { when: { until: UNTIL, first: 1 } }],
  ['first=1', { ...preset, times: 5 }, { times: null }],
  ['always=false', { ...preset, times: 5 }, { when: {}, times: 5 }],
] as const)('POST /faults?%s changes the matches on which %j fires', async ([query, rule, expected]) => {
  const emulator = await testEmulator()
  const { body } = await emulator.control('POST', `/faults?${query}`, rule)
  expect(body).toMatchObject(expected)
  const { body: both } = await emulator.control('POST', `/faults?${query}`, [rule, rule])
  expect(both.data).toMatchObject([expected, expected])
})

test('every preset is a valid rule, with an example that arms it', async () => {
  const emulator = await testEmulator()
  const { body } = await emulator.control('GET', '/fault-presets')
  expect(body.data.length).toBe(workspaceService.presets.size)
  for (const { name, family, description, lasts, example, ...written } of body.data) {
    const checked = checkDraft(written, emulator.sandbox.service, emulator.sandbox.settings)
    expect([name, 'issues' in checked ? checked.issues : []]).toEqual([name, []])
    expect([name, lasts]).toEqual([name, written.times === undefined ? 'until_removed' : 'once'])
    expect([name, typeof family, description.endsWith('.')]).toEqual([name, 'string', true])
    const armed = await emulator.control('POST', '/faults', example)
    expect([armed.status, armed.body.preset]).toEqual([201, name])
    const shown = { name, family, description, lasts, example, ...written }
    expect((await emulator.control('GET', `/fault-presets/${name}`)).body).toEqual(shown)
  }
})

test('every primitive has an example, which is a rule that can be armed', async () => {
  const emulator = await testEmulator()
  const { primitives } = (await emulator.control('GET', '/fault-presets')).body
  const names = primitives.map(({ name }: { name: string }) => name)
  expect(names).toEqual([...workspaceService.primitives.keys()])
  for (const { name, description, example } of primitives) {
    expect([name, description]).toEqual([name, expect.any(String)])
    const { status, body } = await emulator.control('POST', '/faults', example)
    expect([name, status, Object.keys(body.do?.[0] ?? body)]).toEqual([name, 201, [name]])
  }
})

test('presets are still at their first path', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true })
  const get = async (path: string) => (await fetch(emulator.controlUrl + path)).json()
  expect(await get('/faults/presets')).toEqual(await get('/fault-presets'))
  expect(await get('/faults/presets/slow-drip')).toMatchObject({ name: 'slow-drip' })
})

test.for([
  ['/faults/doun', 'There is no fault rule "doun". Did you mean "down"?'],
  ['/fault-presets/slow-drop', 'There is no preset "slow-drop". Did you mean "slow-drip"?'],
  ['/falts', 'The control interface has no route /__emulator/falts. Did you mean "/__emulator/faults"?'],
])('the 404 of %s has the nearest name', async ([path = '', message]) => {
  const emulator = await armed({ ...fail, id: 'down' })
  const { status, body } = await emulator.control('GET', path)
  expect([status, body.message]).toEqual([404, message])
})

test('a rule for everything applies neither to the control interface nor to CORS preflights, in no phase', async () => {
  const cut = { match: 'everything', then: 'continue', do: [{ cut: { at: 'before-read', how: 'rst' } }] }
  const emulator = await armed([cut, { ...fail, match: 'everything' }])
  expect((await emulator.control('GET', '/health')).status).toBe(200)
  const headers = { origin: 'http://localhost:3000', 'access-control-request-method': 'GET' }
  expect((await emulator.request('OPTIONS', '/data-views', { headers })).status).toBe(204)
  expect((await emulator.control('GET', '/faults')).body.data).toMatchObject([{ matched: 0 }, { matched: 0 }])
})

test('a merge patch changes a rule and keeps its counters', async () => {
  const emulator = await armed({ ...fail, id: 'a', when: { nth: 2 }, ttl: '1h' })
  await emulator.get('/data-views')
  const patch = { match: { method: 'GET' }, when: { nth: 3 }, ttl: null, description: 'The third' }
  const { body } = await emulator.control('PATCH', '/faults/a', patch)
  expect(body).toMatchObject({ ...patch, match: { operation: 'data-views.list', method: 'GET' }, matched: 1 })
  const statuses = [await emulator.get('/data-views'), await emulator.get('/data-views')]
  expect(statuses.map(({ status }) => status)).toEqual([200, 503])
})

test('a request that was cut before its handling has the status 0, and can be found by it', async () => {
  const cut = { match: { operation: 'data-views.list' }, do: [{ cut: { at: 'before-read', how: 'rst' } }] }
  const emulator = await armed({ ...cut, id: 'gone' })
  await expect(emulator.get('/data-views')).rejects.toThrow('fetch failed')
  const { body } = await emulator.control('GET', '/requests?status=0')
  expect(body.data).toMatchObject([{ status: 0, decided: 'faultsBefore', faults: ['gone'], error: null }])
})
