import { expect, test } from 'vitest'
import type { FaultRule } from '../../src/core/faults/rule.ts'
import { workspaceService } from '../../src/service.ts'
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

test('a header that comes with every attempt fails the first one of each operation', async () => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, 'server-error', 3)).toEqual([500, 200, 200])
  expect(await statuses(emulator, 'server-error', 2, '/agents')).toEqual([500, 200])
})

test('each idempotency key meets the fault once', async () => {
  const emulator = await batchEmulator()
  const create = async (key: string) => {
    const options = asking('server-error;status=503', { headers: { 'Idempotency-Key': key } })
    return (await emulator.post('/batch-predictions', aBatch(), options)).status
  }
  expect([await create('a'), await create('a'), await create('b'), await create('b')]).toEqual([
    503, 200, 503, 200,
  ])
})

test('only requests that ask for it meet it', async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views', asking('server-error;every=1'))).status).toBe(500)
  expect((await emulator.get('/data-views')).status).toBe(200)
  expect((await emulator.get('/data-views', asking('server-error;every=1'))).status).toBe(500)
  expect((await emulator.get('/data-views', asking('rate-limited'))).status).toBe(429)
})

test('two clients share a count unless the fault is counted by key or has a label', async () => {
  const emulator = await testEmulator()
  const both = async (fault: string) => {
    const ask = (key: 'KU' | 'KM') => emulator.get('/data-views', asking(fault, { key }))
    return [(await ask('KU')).status, (await ask('KM')).status]
  }
  expect(await both('server-error')).toEqual([500, 200])
  expect(await both('server-error;by=api_key')).toEqual([500, 500])
  expect(await both('server-error;by=operation+api_key')).toEqual([500, 500])
  const labelled = (label: string) => emulator.get('/data-views', asking(`server-error;label=${label}`))
  expect([(await labelled('a')).status, (await labelled('b')).status, (await labelled('a')).status]).toEqual([
    500, 500, 200,
  ])
})

test('of two members the first fires first, and with then=continue both do', async () => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, 'rate-limited, server-error;status=503', 3)).toEqual([429, 503, 200])
  const both = 'unavailable-with-retry-after;then=continue, rate-headers-lowercase'
  const { status } = await emulator.get('/data-views', asking(both))
  expect(status).toBe(503)
  expect(
    emulator.sandbox.log
      .entries()
      .at(-1)
      ?.faults?.fired.map(({ rule }) => rule.preset),
  ).toEqual(['unavailable-with-retry-after', 'rate-headers-lowercase'])
})

test.for([
  ['server-error;status=502', [502, 200, 200, 200]],
  ['server-error;nth=2', [200, 500, 200, 200]],
  ['server-error;first=2', [500, 500, 200, 200]],
  ['server-error;after=2', [200, 200, 500, 500]],
  ['server-error;every=2', [200, 500, 200, 500]],
  ['server-error;times=2', [500, 500, 200, 200]],
  ['server-error;times=1;every=2', [200, 500, 200, 200]],
  ['server-error;probability=1', [500, 500, 500, 500]],
  ['server-error;probability=0', [200, 200, 200, 200]],
  ['server-error;ttl="10m"', [500, 200, 200, 200]],
] as const)('%s answers %j', async ([fault, expected]) => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, fault, 4)).toEqual(expected)
})

test('a preset that counts by something of its own keeps its timing', async () => {
  const emulator = await testEmulator()
  expect(await statuses(emulator, 'token-expired-mid-session', 4)).toEqual([200, 200, 401, 401])
  expect(await statuses(emulator, 'token-expired-mid-session;calls=1', 3)).toEqual([200, 401, 401])
})

test('parameters change what an answer says', async () => {
  const emulator = await testEmulator()
  const answer = (fault: string) => emulator.get('/data-views', asking(fault))
  const soon = await answer('retry-after-http-date;in=2;nth=1')
  expect(soon.headers.get('retry-after')).toBe('Sun, 01 Mar 2026 12:00:02 GMT')
  expect((await answer('unavailable-with-retry-after;in=7')).headers.get('retry-after')).toBe('7')
  expect((await answer('rate-limited;retry_after="in a while"')).headers.get('retry-after')).toBe(
    'in a while',
  )
  expect((await answer('rate-limited;retry_after=missing')).headers.get('retry-after')).toBeNull()
  expect((await answer('rate-limited;remaining=4')).headers.get('x-ratelimit-remaining')).toBe('4')
  const { status, body } = await answer('server-error;status=409;code=conflict;detail="Come back later"')
  expect([status, body.error, body.message]).toEqual([409, 'conflict', 'Come back later'])
})

test('what parameters change stands in the rule', async () => {
  const emulator = await testEmulator()
  const doing = async (fault: string) => {
    await emulator.get('/data-views', asking(fault))
    return armed(emulator).at(-1)?.do
  }
  const rare = ';after=1000'
  expect(await doing(`cut-mid-body;at=0.25;how=fin${rare}`)).toEqual([
    { cut: { at: { fraction: 0.25 }, how: 'fin' } },
  ])
  expect(await doing(`cut-mid-body;at=7${rare}`)).toEqual([{ cut: { at: { bytes: 7 }, how: 'rst' } }])
  expect(await doing(`stall-after-headers;at=before-head${rare}`)).toEqual([
    { pace: { stall_at: 'before-head' } },
  ])
  expect(await doing(`slow-drip;bytes=2;gap_ms=9${rare}`)).toEqual([
    { pace: { bytes: 2, gap_ms: 9, max_ms: 10_000 } },
  ])
  expect(await doing(`batch-404-after-create;reads=5${rare}`)).toEqual([
    { state: { visible_after_reads: 5 } },
  ])
})

test('the rule is listed, counted, logged and explained like every other', async () => {
  const emulator = await testEmulator()
  const fault = 'server-error;detail="Not now";in=2'
  const refused = await emulator.get('/data-views', asking(fault))
  await emulator.get('/data-views', asking(`  ${fault.replace(';in', '; in')} `))
  const { body } = await emulator.control('GET', '/faults')
  const id = 'header:server-error;detail="Not%20now";in=2'
  expect(body.data).toMatchObject([{ id, source: 'header', preset: 'server-error', matched: 2, fired: 1 }])
  expect(emulator.sandbox.log.entries().at(-2)).toMatchObject({
    status: 500,
    headers: { 'x-emulator-fault': fault },
  })
  const explained = await emulator.control('GET', `/explain/${refused.headers.get('x-emulator-request-id')}`)
  expect(explained.body.faults).toMatchObject([{ rule: id, source: 'header', fired: true }])
})

test('every preset about requests can be named', async () => {
  const emulator = await testEmulator()
  const names = [...workspaceService.presets.values()].flatMap(({ name, match }) =>
    match !== 'everything' && match.webhook !== undefined ? [] : [name],
  )
  for (const name of names) {
    const { status, text } = await emulator.get('/data-views', asking(`${name};after=1000000`))
    expect([name, status, text]).toEqual([name, 200, expect.anything()])
  }
  expect(armed(emulator).map(({ preset }) => preset)).toEqual(names)
})

test.for([
  ['server-eror', 'There is no preset "server-eror". Did you mean "server-error"?'],
  ['constructor', 'There is no preset "constructor".'],
  ['server-error, "x"', '""x"" is no name of a preset'],
  ['server-error;', 'It is no list of names with parameters (RFC 9651)'],
  ['server-error;statsu=503', 'There is no parameter "statsu". Did you mean "status"?'],
  ['server-error;constructor', 'There is no parameter "constructor".'],
  ['server-error;bytes=3', 'The parameter bytes changes nothing about server-error.'],
  ['server-error;status=99', 'server-error;status=99: status must be an integer from 200 to 599'],
  ['server-error;nth=0', 'nth must be'],
  ['server-error;nth', 'nth must be'],
  ['server-error;times=soon', 'times must be'],
  ['server-error;ttl=ages', 'ttl must be'],
  ['server-error;then=go', 'then must be one of "stop", "continue"'],
  ['server-error;by=operaton', 'by is no thing to count by. Did you mean "operation"?'],
  ['rate-limited;fields=ietff', 'fields must be one of'],
  ['slow-drip;gap_ms=1', 'gap_ms must be'],
  [`server-error;detail="${'x'.repeat(200)}"`, 'is too long: one fault may have 193 characters.'],
  ['webhook-dropped', 'The preset webhook-dropped is about webhooks, which belong to no request.'],
] as const)('%s is refused before anything happens', async ([fault, message]) => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const { status, body, headers } = await emulator.get('/data-views', asking(fault))
  expect([status, body.error, body.message]).toEqual([400, 'bad_request', expect.stringContaining(message)])
  expect(body.message).toMatch(/^The header X-Emulator-Fault cannot be obeyed\. /)
  expect(body.details.errors).toMatchObject([{ pointer: '/headers/x-emulator-fault' }])
  expect(headers.get('x-ratelimit-remaining')).toBe('200')
  expect(emulator.digest()).toBe(before)
})

test('a refusal says the way out, in the error format of the operation', async () => {
  const emulator = await batchEmulator()
  const { status, headers, body } = await emulator.post('/batch-predictions', aBatch(), asking('slow-drop'))
  expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json'])
  expect(body.detail).toMatch(
    /Did you mean "slow-drip"\? GET \/__emulator\/faults\/presets lists every preset\.$/,
  )
  expect(emulator.state('batch_predictions')).toEqual([])
  const unknown = await emulator.get('/data-views', asking('server-error;stauts=1'))
  expect(unknown.body.mitigation).toMatch(
    /^server-error takes nth, first, .*, status, code, detail, effects\.$/,
  )
})

test('of several members one that is wrong keeps all from being armed', async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views', asking('server-error, server-eror'))).status).toBe(400)
  expect(armed(emulator)).toEqual([])
})

test('at most 200 rules of headers stay; those that have waited longest go', async () => {
  const emulator = await testEmulator()
  const ask = (n: number) => emulator.get('/data-views', asking(`server-error;after=1000;label=l${n}`))
  await ask(0)
  await ask(1)
  emulator.advance('1m')
  await ask(0)
  for (let n = 2; n < 202; n++) await ask(n)
  const labels = armed(emulator).map(({ id }) => id.replace(/.*=l/, ''))
  expect(labels).toHaveLength(200)
  expect(labels).not.toContain('1')
  expect(labels).not.toContain('0')
  expect(labels).toContain('201')
  expect(emulator.state('$fault_counters').some(({ rule }) => rule.endsWith('=l1'))).toBe(false)
})

test('rules of headers belong to their sandbox, and leave with it', async () => {
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

test('an empty header asks for nothing', async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/data-views', asking(''))).status).toBe(200)
  expect(armed(emulator)).toEqual([])
})

test('answers name the rules that fired on them where that is asked for, and pages may read it', async () => {
  const open = await testEmulator({ revealFaults: true })
  const from = { headers: { Origin: 'http://localhost:3000' } }
  const failed = await open.get('/data-views', asking('server-error;status=503', from))
  expect(failed.headers.get('x-emulator-fault')).toBe('header:server-error;status=503')
  expect(failed.headers.get('access-control-expose-headers')).toContain('X-Emulator-Fault')
  expect((await open.get('/data-views')).headers.has('x-emulator-fault')).toBe(false)
  const closed = await testEmulator()
  expect((await closed.get('/data-views', asking('server-error'))).headers.has('x-emulator-fault')).toBe(
    false,
  )
})

test('a preflight of a page is granted the header, and met by no fault', async () => {
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

test('a fault that cuts before the body is read is decided in time', async () => {
  const emulator = await testEmulator()
  await expect(emulator.get('/data-views', asking('fin-before-headers'))).rejects.toThrow('fetch failed')
  await expect(emulator.post('/pages', {}, asking('cut-mid-body;at=before-read'))).rejects.toThrow(
    'fetch failed',
  )
  expect((await emulator.get('/data-views', asking('fin-before-headers'))).status).toBe(200)
  expect(emulator.state('pages')).toEqual([])
})

test('a path that is no route heeds the header as well, and refuses what it does not know', async () => {
  const emulator = await testEmulator()
  const first = await emulator.get('/nowhere', asking('server-error'))
  expect([first.status, (await emulator.get('/nowhere', asking('server-error'))).status]).toEqual([500, 404])
  const refused = await emulator.get('/nowhere', asking('server-eror'))
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('server-error')])
})
