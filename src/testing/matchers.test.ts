import { expect, onTestFinished, test } from 'vitest'
import { bothWays } from '../../test/library/both-ways.ts'
import type { SandboxClient } from '../index.ts'
import { aBatch } from '../service/batch-predictions/builders.ts'
import { aPage } from '../service/builders.ts'
import { matchers } from './matchers.ts'
import { reportOn } from './report.ts'

const { emulator } = bothWays({ clock: '2030-01-01T00:00:00.250Z' })

async function aFreshState(): Promise<SandboxClient> {
  const sandbox = await emulator().sandbox()
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  return sandbox
}

const { toHaveReceived, toHaveDelivered, toHaveRespectedRetryAfter, toHaveFiredAllFaults, toHaveBehaved } =
  matchers

// With one id, so that requests are attempts of one call on whatever connections they come.
const send = (sandbox: SandboxClient, name = 'Roof plan') =>
  sandbox.fetch('/pages', { json: aPage({ name }), headers: { 'X-Request-Id': 'one' } })

test.for<[count: Parameters<typeof toHaveReceived>[2], pass: boolean, description: string]>([
  [2, true, 'exactly 2 requests'],
  [1, false, 'exactly 1 request '],
  [0, false, 'exactly 0 requests'],
  [{ at_least: 3 }, false, 'at least 3 requests'],
  [{ at_most: 1 }, false, 'at most 1 request '],
  [{ at_least: 1, at_most: 2 }, true, '1 to 2 requests'],
  [undefined, true, 'at least 1 request '],
])('two requests against %j: %s', async ([count, pass, description]) => {
  const sandbox = await aFreshState()
  await send(sandbox)
  await send(sandbox)
  const result = await toHaveReceived(sandbox, { operation: 'pages.create' }, count)
  expect(result.pass).toBe(pass)
  expect(result.message()).toContain(description)
})

test('requests that the log has dropped do not count as absent', async () => {
  const sandbox = await aFreshState()
  await send(sandbox)
  await send(sandbox)
  // A log with room for one request: the real one keeps a thousand.
  const requests: SandboxClient['requests'] = {
    ...sandbox.requests,
    count: async () => ({ matched: 2, dropped: 1, capacity: 1 }),
    verify: async (...search) => ({ ...(await sandbox.requests.verify(...search)), actual: 1, passed: true }),
  }
  const short: SandboxClient = { ...sandbox, requests }
  const match = { operation: 'pages.create' }
  for (const count of [1, 2, { at_least: 2 }, { at_most: 1 }]) {
    await expect(toHaveReceived(short, match, count)).rejects.toThrow('the newest 1 and has dropped 1')
  }
  for (const count of [undefined, 0, { at_most: 2 }, { at_least: 3 }]) {
    expect(await toHaveReceived(short, match, count)).toMatchObject({ pass: expect.any(Boolean) })
  }
})

test('the message for a missing request shows the nearest one, and the criteria that it misses', async () => {
  const sandbox = await aFreshState()
  await send(sandbox, 'Roof')
  expect(await toHaveReceived(sandbox, { operation: 'agents.list' })).toMatchObject({ pass: false })
  const { message } = await toHaveReceived(sandbox, {
    operation: 'pages.create',
    body: { '/name': { equals: 'Wall' } },
  })
  expect(message()).toBe(
    [
      `Expected ${sandbox.name} to have received at least 1 request with {"operation":"pages.create","body":{"/name":{"equals":"Wall"}}}; 0 of 1 requests match.`,
      'The nearest requests, and their differences:',
      `  POST /v1/pages  200  ${sandbox.name}-000001`,
      '    body /name: expected {"equals":"Wall"}, was "Roof"',
    ].join('\n'),
  )
})

test('the message shows requests that should not have come', async () => {
  const sandbox = await aFreshState()
  for (let n = 0; n < 7; n++) await send(sandbox)
  const lines = (await toHaveReceived(sandbox, { operation: 'pages.create' })).message().split('\n')
  expect(lines[0]).toContain(`Expected ${sandbox.name} not to have received`)
  expect(lines).toHaveLength(8)
  expect(lines.at(-1)).toBe('  and 2 more')
})

test.for([undefined, null, 7, { name: 'no sandbox' }])(
  '%j is refused, since it is not a sandbox',
  async (value) => {
    expect(() => toHaveReceived(value as never, {})).toThrow('expect(sandbox)')
  },
)

/** A sandbox that has sent webhooks of one batch to two receivers, of which one does not respond. */
async function aToldEmulator(): Promise<SandboxClient> {
  const sandbox = await aFreshState()
  await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/hook' })
  await sandbox.fetch('/batch-predictions', { json: aBatch() })
  await sandbox.clock.advance('24h')
  return sandbox
}

test('a webhook without a receiver is not delivered, and can be found by its status', async () => {
  const sandbox = await aToldEmulator()
  const { pass, message } = await toHaveDelivered(sandbox, { type: 'batch_prediction.*' })
  expect(pass).toBe(false)
  expect(message()).toMatch(
    /^Expected [\w-]+ to have delivered at least 1 webhook with .*; 0 of 1 match\.\n {2}batch_prediction\.completed to http:\/\/127\.0\.0\.1:9\/hook {2}failed: .+\n {4}status: expected "delivered", was "failed"$/,
  )
  const passes = async (...given: [object, number?]) => (await toHaveDelivered(sandbox, ...given)).pass
  expect(await passes({ status: 'failed', attempts: 1 }, 1)).toBe(true)
  expect(await passes({ status: '*', url: 'http://127.0.0.1:*' })).toBe(true)
  expect(await passes({ status: '*', ref: 'pages/*' })).toBe(false)
  expect(await passes({ status: '*', answered: 200 })).toBe(false)
  const without = await toHaveDelivered(await aFreshState())
  expect(without.message()).toContain('sandbox.webhooks.create')
})

test.for([
  ['60s', true, 'no client came back too early after 1 refusal'],
  ['59s', false, 'came back 1 s too early, after 59 s by the virtual clock'],
] as const)(
  'a client that waits %s of a minute has respected Retry-After: %s',
  { tags: ['R296'] },
  async ([wait, pass, description]) => {
    const sandbox = await aFreshState()
    await sandbox.limits.fill('pages.create', { remaining: 0 })
    await send(sandbox)
    await sandbox.clock.advance(wait)
    await send(sandbox)
    const result = await toHaveRespectedRetryAfter(sandbox)
    expect([result.pass, result.message()]).toEqual([pass, expect.stringContaining(description)])
  },
)

test('with a frozen clock, the wait of a client counts in real time', { tags: ['T07'] }, async () => {
  const sandbox = await aFreshState()
  await sandbox.faults.preset('rate-limited', { do: [{ quota: { reject: true, reset_in_s: 1 } }], times: 1 })
  await send(sandbox)
  // The real wait of a client: no such request comes.
  await sandbox.requests.wait({ status: 599 }, { timeoutMs: 1_000 })
  await send(sandbox)
  expect(await toHaveRespectedRetryAfter(sandbox)).toMatchObject({ pass: true })
  await sandbox.requests.clear()
  await sandbox.faults.preset('rate-limited')
  await send(sandbox)
  await send(sandbox)
  const { pass, message } = await toHaveRespectedRetryAfter(sandbox)
  expect(pass).toBe(false)
  expect(message()).toMatch(/after \d+ ms by the real clock/)
})

test('a log with dropped requests cannot prove a wait, but can prove a retry that was too early', async () => {
  const sandbox = await aFreshState()
  const dropped: SandboxClient = {
    ...sandbox,
    conduct: async () => {
      const report = await sandbox.conduct()
      return { ...report, judged: { ...report.judged, dropped: 1 } }
    },
  }
  await sandbox.faults.preset('rate-limited')
  await send(sandbox)
  await expect(toHaveRespectedRetryAfter(dropped)).rejects.toThrow('has dropped 1')
  expect(await toHaveRespectedRetryAfter(sandbox)).toMatchObject({ pass: true })
  await send(sandbox)
  expect(await toHaveRespectedRetryAfter(dropped)).toMatchObject({ pass: false })
})

test('a match excludes other requests', async () => {
  const sandbox = await aFreshState()
  await sandbox.faults.preset('rate-limited')
  await sandbox.fetch('/pages', { json: aPage(), headers: { 'Idempotency-Key': 'a' } })
  // Otherwise a request on another connection may have been sent before the refusal.
  await sandbox.clock.advance('1s')
  await sandbox.fetch('/pages', { json: aPage(), headers: { 'Idempotency-Key': 'b' } })
  expect(await toHaveRespectedRetryAfter(sandbox)).toMatchObject({ pass: false })
  expect(await toHaveRespectedRetryAfter(sandbox, { idempotency_key: 'a' })).toMatchObject({ pass: true })
})

test('a status selects refusals, and the requests after them count with any status', async () => {
  const sandbox = await aFreshState()
  await sandbox.faults.preset('unavailable-with-retry-after', { times: 1 })
  expect([(await send(sandbox)).status, (await send(sandbox)).status]).toEqual([503, 200])
  for (const match of [{ status: 503 }, { status: 503, method: 'POST' }])
    expect(await toHaveRespectedRetryAfter(sandbox, match)).toMatchObject({ pass: false })
  await expect(toHaveRespectedRetryAfter(sandbox, { status: 429 })).rejects.toThrow('No client had to wait')
})

test.for<[match: object, count: unknown, description: string]>([
  [{ event: 'x' }, undefined, 'match has the unknown field event. Known fields: type, url, status, ref'],
  [
    'batch_prediction.completed' as never,
    undefined,
    'match is "batch_prediction.completed". Give an object with',
  ],
  [{}, { atLeast: 2 }, 'count has the unknown field atLeast. Known fields: at_least, at_most, exactly.'],
  [{}, {}, 'count is {}. Give a whole number, or'],
  [{}, -1, 'count is -1. Give a whole number, or'],
])('deliveries with the invalid criteria %j, %j are refused', async ([match, count, description]) => {
  const sandbox = await aFreshState()
  await expect(toHaveDelivered(sandbox, match, count as number)).rejects.toThrow(description)
})

test('toHaveFiredAllFaults passes if all have fired, fails if some have not, and rejects if there are none', async () => {
  const sandbox = await aFreshState()
  await expect(toHaveFiredAllFaults(sandbox)).rejects.toThrow('No fault is armed')
  await sandbox.faults.preset('rate-headers-lowercase')
  expect((await toHaveFiredAllFaults(sandbox)).pass).toBe(false)
  await send(sandbox)
  expect((await toHaveFiredAllFaults(sandbox)).pass).toBe(true)
  await sandbox.faults.preset('fin-before-headers', { match: { operation: 'agents.list' } })
  const never = { match: { method: 'POST' }, when: { nth: 9 }, priority: 1 }
  await sandbox.faults.arm({ id: 'late', ...never, do: [{ respond: { status: 500 } }] })
  await send(sandbox)
  const { pass, message } = await toHaveFiredAllFaults(sandbox)
  expect(pass).toBe(false)
  expect(message()).toContain(
    'fin-before-headers never fired: no request matched {"operation":"agents.list"}.',
  )
  expect(message()).toContain(
    'late never fired: one request matched {"method":"POST"}, but its timing excluded it.',
  )
})

/** A client that repeats a refused creation at once, although it is told to wait two seconds. */
async function impatient(): Promise<SandboxClient> {
  const sandbox = await aFreshState()
  await sandbox.faults.preset('rate-limited')
  for (let n = 0; n < 2; n++)
    await sandbox.fetch('/pages', { json: aPage(), headers: { 'Idempotency-Key': 'one' } })
  return sandbox
}

test('a client without errors has behaved', async () => {
  const sandbox = await aFreshState()
  await sandbox.fetch('/data-views')
  const { pass, message } = await toHaveBehaved(sandbox)
  expect(pass).toBe(true)
  expect(message()).toContain('the report on its 1 requests has no error')
})

test('a client that retries at once has not behaved, and the message has the finding', async () => {
  const sandbox = await impatient()
  const { pass, message } = await toHaveBehaved(sandbox)
  expect(pass).toBe(false)
  expect(message()).toMatch(/report on their conduct has \d errors?:\n {2}error wait\.\S+: .*Retry-After/)
  expect(message()).toContain(`requests ${sandbox.name}-000001, ${sandbox.name}-000002`)
})

test('verdicts that are excepted do not count', async () => {
  const sandbox = await impatient()
  const { findings } = await sandbox.conduct()
  const except = findings.map(({ code }) => code)
  expect(await toHaveBehaved(sandbox, { except })).toMatchObject({ pass: true })
  await expect(toHaveBehaved(sandbox, { except: ['wait.nothing'] })).rejects.toThrow(
    /"wait\.nothing" is not the code of a verdict/,
  )
})

test('a sandbox without requests proves nothing', async () => {
  await expect(toHaveBehaved(await aFreshState())).rejects.toThrow(
    'has received no request that could be judged',
  )
})

test('an unknown option is refused: a misspelled one would be ignored', async () => {
  const sandbox = await aFreshState()
  await expect(toHaveBehaved(sandbox, { retry: 2 } as never)).rejects.toThrow('the unknown field retry')
})

test('the report of a failed test has errors and warnings about the client', async () => {
  const lines = (await reportOn(await impatient())).split('\n')
  const at = lines.findIndex((line) => line.startsWith('  conduct of the client: '))
  expect(lines[at + 1]).toMatch(/^ {4}error wait\./)
  const calm = await aFreshState()
  await calm.fetch('/data-views')
  expect(await reportOn(calm)).not.toContain('conduct')
})
