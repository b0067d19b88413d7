import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { type RequestOptions, type TestEmulator, testEmulator } from '../support/emulator.ts'

function asking(fault: string, more: RequestOptions = {}): RequestOptions {
  return { ...more, headers: { ...more.headers, 'X-Emulator-Fault': fault } }
}

/** The statuses of requests of data views with these headers. */
async function statuses(emulator: TestEmulator, ...faults: readonly string[]): Promise<number[]> {
  const seen: number[] = []
  for (const fault of faults) seen.push((await emulator.get('/data-views', asking(fault))).status)
  return seen
}

const SAME = 'server-error'

test.for<[what: string, faults: readonly string[], seen: readonly number[]]>([
  ['only on the first of several attempts', [SAME, SAME, SAME], [500, 200, 200]],
  ['only on requests that have its header', [SAME, '', 'rate-limited'], [500, 200, 429]],
  ['in turn with another one', Array(3).fill('rate-limited, server-error'), [429, 500, 200]],
  ['with its own timing, if it has one', Array(4).fill('token-expired-mid-session'), [200, 200, 401, 401]],
])('the fault of a header fires %s', async ([, faults, seen]) => {
  expect(await statuses(await testEmulator(), ...faults)).toEqual(seen)
})

test('the fault of a header fires once for each operation and sandbox, and a reset removes its rule', async () => {
  const emulator = await testEmulator()
  const ask = async (path: string, headers = {}) =>
    (await emulator.get(path, asking(SAME, { headers }))).status
  expect([await ask('/data-views'), await ask('/agents'), await ask('/agents')]).toEqual([500, 500, 200])
  expect(await ask('/agents', { 'X-Emulator-Sandbox': 'w2' })).toBe(500)
  await emulator.control('POST', '/reset', {})
  expect(emulator.state('$faults')).toEqual([])
  expect(await ask('/agents')).toBe(500)
})

test('the fault fires once for each idempotency key', async () => {
  const emulator = await batchEmulator()
  const seen: number[] = []
  for (const key of ['a', 'a', 'b', 'b']) {
    const options = asking(SAME, { headers: { 'Idempotency-Key': key } })
    seen.push((await emulator.post('/batch-predictions', aBatch(), options)).status)
  }
  expect(seen).toEqual([500, 200, 500, 200])
})

test('a header that names an armed rule adds no rule, and the rule matches as usual', async () => {
  const emulator = await testEmulator()
  const only = { headers: { 'x-emulator-fault': '*busy*' } }
  await emulator.control('POST', '/faults', { id: 'busy', match: only, do: [{ respond: { status: 503 } }] })
  expect(await statuses(emulator, 'busy', 'busy', '', 'busy, server-error')).toEqual([503, 503, 200, 503])
  expect(emulator.state('$faults').map(({ id }) => id)).toEqual(['busy', 'header:server-error'])
  const { body } = await emulator.get('/data-views', asking('bussy'))
  expect(body.message).toContain('There is no preset and no armed rule "bussy". Did you mean "busy"?')
})

test('the rule of a header is listed, counted, logged and explained like every other', async () => {
  const emulator = await testEmulator({ revealFaults: true })
  const refused = await emulator.get('/data-views', asking(SAME))
  await emulator.get('/data-views', asking(`  ${SAME} `))
  const { body } = await emulator.control('GET', '/faults')
  const id = 'header:server-error'
  expect(refused.headers.get('x-emulator-fault')).toBe(id)
  expect(body.data).toMatchObject([{ id, source: 'header', preset: SAME, matched: 2, fired: 1 }])
  expect(emulator.sandbox.log.entries().at(-2)?.headers).toMatchObject({ 'x-emulator-fault': SAME })
  const explained = await emulator.control('GET', `/explain/${refused.headers.get('x-emulator-request-id')}`)
  expect(explained.body.faults).toMatchObject([{ rule: id, source: 'header', fired: true }])
})

test('a header can name every preset for requests', async () => {
  const emulator = await testEmulator()
  const names = [...workspaceService.presets.values()].flatMap(({ name, match }) =>
    match !== 'everything' && match.webhook !== undefined ? [] : [name],
  )
  for (let n = 0; n < names.length; n += 20) {
    // A path without a route, so that most presets do not match.
    await emulator.post('/nowhere', {}, asking(names.slice(n, n + 20).join(','))).catch(() => undefined)
  }
  expect(emulator.state('$faults').map(({ preset }) => preset)).toEqual(names)
})

test.for([
  ['server-eror', 'There is no preset and no armed rule "server-eror". Did you mean "server-error"?'],
  ['constructor', 'There is no preset and no armed rule "constructor".'],
  ['server-error, server-eror', 'There is no preset and no armed rule "server-eror".'],
  ['server-error, "x"', 'There is no preset and no armed rule ""x"".'],
  ['server-error,', 'A name before or after a comma is empty.'],
  ['server-error;status=503', 'Names cannot have parameters. To set parameters, arm a rule with "'],
  [Array(21).fill('server-error').join(), 'It names 21 faults; at most 20 may be named'],
  ['webhook-dropped', 'The preset webhook-dropped applies to webhooks, not to requests.'],
] as const)('%s is refused before the request is handled', async ([fault, message]) => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const { status, body, headers } = await emulator.get('/data-views', asking(fault))
  expect([status, body.error, body.message]).toEqual([400, 'bad_request', expect.stringContaining(message)])
  expect(body.message).toMatch(/^The header X-Emulator-Fault is not valid\. /)
  expect(body.details.errors).toMatchObject([{ pointer: '/headers/x-emulator-fault' }])
  expect(headers.get('x-ratelimit-remaining')).toBe('200')
  expect(emulator.digest()).toBe(before)
})

test('a refusal of the header names the fix, in the error format of the operation', async () => {
  const emulator = await batchEmulator()
  const { status, headers, body } = await emulator.post('/batch-predictions', aBatch(), asking('slow-drop'))
  expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json'])
  const fix = 'Did you mean "slow-drip"? "workspace-emulator faults presets" lists every preset.'
  expect(body.detail).toContain(fix)
  expect(emulator.state('batch_predictions')).toEqual([])
})

test('the header also works on an unknown path, and an unknown name is refused there', async () => {
  const emulator = await testEmulator()
  const seen: number[] = []
  for (const fault of [SAME, SAME, 'server-eror'])
    seen.push((await emulator.get('/nowhere', asking(fault))).status)
  expect(seen).toEqual([500, 404, 400])
})
