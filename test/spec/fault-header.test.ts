import { expect, test } from 'vitest'
import type { FaultRule } from '../../src/core/faults/rule.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { type RequestOptions, type TestEmulator, testEmulator } from '../support/emulator.ts'

function asking(fault: string, more: RequestOptions = {}): RequestOptions {
  return { ...more, headers: { ...more.headers, 'X-Emulator-Fault': fault } }
}

async function statuses(emulator: TestEmulator, fault: string, times: number, path = '/data-views') {
  const seen: number[] = []
  for (let n = 0; n < times; n++) seen.push((await emulator.get(path, asking(fault))).status)
  return seen
}

function armed(emulator: TestEmulator): FaultRule[] {
  return emulator.state('$faults')
}

test('a header on every attempt fails only the first attempt of each operation', async () => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, 'server-error', 3)).toEqual([500, 200, 200])
  expect(await statuses(emulator, 'server-error', 2, '/agents')).toEqual([500, 200])
})

test('the fault fires once for each idempotency key', async () => {
  const emulator = await batchEmulator()
  const create = async (key: string) => {
    const options = asking('server-error', { headers: { 'Idempotency-Key': key } })
    return (await emulator.post('/batch-predictions', aBatch(), options)).status
  }
  expect([await create('a'), await create('a'), await create('b'), await create('b')]).toEqual([
    500, 200, 500, 200,
  ])
})

test('a fault fires only on requests that have its header', async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views', asking('server-error'))).status).toBe(500)
  expect((await emulator.get('/data-views')).status).toBe(200)
  expect((await emulator.get('/agents', asking('server-error'))).status).toBe(500)
  expect((await emulator.get('/data-views', asking('rate-limited'))).status).toBe(429)
})

test('the first of two names fires first, then the second', async () => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, 'rate-limited, server-error', 3)).toEqual([429, 500, 200])
})

test('a header that names an armed rule adds no rule, and the rule matches as usual', async () => {
  const emulator = await testEmulator()
  const only = { headers: { 'x-emulator-fault': '*busy*' } }
  await emulator.control('POST', '/faults', { id: 'busy', match: only, do: [{ respond: { status: 503 } }] })
  expect(await statuses(emulator, 'busy', 2)).toEqual([503, 503])
  expect((await emulator.get('/data-views')).status).toBe(200)
  expect(await statuses(emulator, 'busy, server-error', 1)).toEqual([503])
  expect(armed(emulator).map(({ id }) => id)).toEqual(['busy', 'header:server-error'])
  const { body } = await emulator.get('/data-views', asking('bussy'))
  expect(body.message).toContain('There is no preset and no armed rule "bussy". Did you mean "busy"?')
})

test('a preset with its own counting keeps its timing', async () => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, 'token-expired-mid-session', 4)).toEqual([200, 200, 401, 401])
})

test('the rule of a header is listed, counted, logged and explained like every other', async () => {
  const emulator = await testEmulator()
  const fault = 'server-error'
  const refused = await emulator.get('/data-views', asking(fault))
  await emulator.get('/data-views', asking(`  ${fault} `))
  const { body } = await emulator.control('GET', '/faults')
  const id = 'header:server-error'
  expect(body.data).toMatchObject([{ id, source: 'header', preset: 'server-error', matched: 2, fired: 1 }])
  expect(emulator.sandbox.log.entries().at(-2)).toMatchObject({
    status: 500,
    headers: { 'x-emulator-fault': fault },
  })
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
  expect(armed(emulator).map(({ preset }) => preset)).toEqual(names)
})

test.for([
  ['server-eror', 'There is no preset and no armed rule "server-eror". Did you mean "server-error"?'],
  ['constructor', 'There is no preset and no armed rule "constructor".'],
  ['server-error, "x"', 'There is no preset and no armed rule ""x"".'],
  ['server-error,', 'A name before or after a comma is empty.'],
  [
    'server-error;status=503',
    'Names cannot have parameters. To set parameters, arm a rule with "workspace-emulator faults add".',
  ],
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
  expect(body.detail).toMatch(
    /Did you mean "slow-drip"\? "workspace-emulator faults presets" lists every preset\.$/,
  )
  expect(emulator.state('batch_predictions')).toEqual([])
})

test('one wrong name among several arms none of them', async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views', asking('server-error, server-eror'))).status).toBe(400)
  expect(armed(emulator)).toEqual([])
})

test('rules of headers belong to their sandbox, and a reset removes them', async () => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, 'server-error', 2)).toEqual([500, 200])
  const other = await emulator.get(
    '/data-views',
    asking('server-error', { headers: { 'X-Emulator-Sandbox': 'w2' } }),
  )
  expect(other.status).toBe(500)
  await emulator.control('POST', '/reset', {})
  expect(armed(emulator)).toEqual([])
  expect(await statuses(emulator, 'server-error', 1)).toEqual([500])
})

test('an empty header has no effect', async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views', asking(''))).status).toBe(200)
  expect(armed(emulator)).toEqual([])
})

test('with revealFaults, responses name the rules that fired, and pages can read that header', async () => {
  const open = await testEmulator({ revealFaults: true })
  const from = { headers: { Origin: 'http://localhost:3000' } }
  const failed = await open.get('/data-views', asking('server-error', from))
  expect(failed.headers.get('x-emulator-fault')).toBe('header:server-error')
  expect(failed.headers.get('access-control-expose-headers')).toContain('X-Emulator-Fault')
  expect((await open.get('/data-views')).headers.has('x-emulator-fault')).toBe(false)
  const closed = await testEmulator()
  expect((await closed.get('/data-views', asking('server-error'))).headers.has('x-emulator-fault')).toBe(
    false,
  )
})

test('a preflight allows the header, and no fault fires on it', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/faults', { preset: 'server-error', match: 'everything' })
  const { status, headers } = await emulator.request('OPTIONS', '/data-views', {
    headers: {
      Origin: 'http://localhost:3000',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'x-emulator-fault',
    },
  })
  expect([status, headers.get('access-control-allow-headers')]).toEqual([204, 'x-emulator-fault'])
})

test('a header can name a fault that cuts the connection', async () => {
  const emulator = await testEmulator()
  await expect(emulator.get('/data-views', asking('fin-before-headers'))).rejects.toThrow('fetch failed')
  expect((await emulator.get('/data-views', asking('fin-before-headers'))).status).toBe(200)
})

test('the header also works on an unknown path, and an unknown name is refused there', async () => {
  const emulator = await testEmulator()
  const first = await emulator.get('/nowhere', asking('server-error'))
  expect([first.status, (await emulator.get('/nowhere', asking('server-error'))).status]).toEqual([500, 404])
  const refused = await emulator.get('/nowhere', asking('server-eror'))
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('server-error')])
})
