import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { type ClockTarget, connect, type SandboxClient, startEmulator } from 'agent-workspace-emulator'
import { expect, syncClock, test } from 'agent-workspace-emulator/vitest'
import got from 'got'
import { describe, onTestFinished, vi } from 'vitest'
import { real } from '../../src/core/time/real.ts'
import { serving } from '../support/http-server.ts'
import { pageOfViews } from '../support/react-page.ts'
import { createBatch as newBatch } from './both-ways.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Advances, and asserts that the emulator has waited for no real timer. */
async function advance({ clock }: SandboxClient, duration: string): Promise<void> {
  const timers = vi.spyOn(real, 'setTimeout')
  await clock.advance(duration)
  // The limit of a held response is longer, and nothing waits for it.
  expect(timers.mock.calls.filter(([, ms = 0]) => ms < MINUTE)).toEqual([])
  timers.mockRestore()
}

const headersOf = ({ apiKey }: SandboxClient) => ({ authorization: `Bearer ${apiKey}` })
const nowOf = async ({ clock }: SandboxClient) => Date.parse((await clock.show()).now)

async function createBatch(sandbox: SandboxClient, in_progress = '1h'): Promise<string> {
  const id = await newBatch(sandbox)
  await sandbox.batches.change(id, { pace: { in_progress } })
  return id
}

test('got waits for an hour of Retry-After with its default retries', async ({ sandbox }) => {
  await syncClock(sandbox)
  const start = Date.now()
  const quota = { remaining: 0, reset_in_s: 3600, reject: true }
  await sandbox.faults.arm({ match: 'everything', do: [{ quota }], times: 1 })
  const page = got.get(`${sandbox.baseUrl}/data-views`, { headers: headersOf(sandbox) })
  await advance(sandbox, '2h')
  expect((await page).statusCode).toBe(200)
  expect((await sandbox.requests.list()).map(({ status, at }) => [status, Date.parse(at) - start])).toEqual([
    [429, 0],
    [200, HOUR],
  ])
  await expect(sandbox).toHaveRespectedRetryAfter()
})

test('each poll of an interval arrives at its own instant of the sandbox', async ({ sandbox }) => {
  await syncClock(sandbox)
  const start = Date.now()
  const poll = setInterval(() => void sandbox.fetch('/data-views').then((each) => each.json()), 10 * MINUTE)
  await advance(sandbox, '1h')
  clearInterval(poll)
  expect((await sandbox.requests.list()).map(({ at }) => Date.parse(at) - start)).toEqual(
    Array.from({ length: 6 }, (_, n) => (n + 1) * 10 * MINUTE),
  )
})

test('a React component shows an error when the time-out of its request has passed', async ({ sandbox }) => {
  await sandbox.faults.arm({ match: 'everything', do: [{ cut: { at: 'before-head', how: 'pause' } }] })
  await syncClock(sandbox)
  const page = pageOfViews(sandbox)
  await advance(sandbox, '29s')
  expect(page.text()).toBe('loading')
  await sandbox.clock.advance('1s')
  expect(page.text()).toBe('the service does not respond')
})

test('an advance of the timers of Vitest advances the sandbox', async ({ sandbox }) => {
  await syncClock(sandbox)
  const id = await createBatch(sandbox, '23h')
  await vi.advanceTimersByTimeAsync(24 * HOUR)
  expect((await sandbox.batches.show(id)).batch.status).toBe('completed')
  expect(Date.now()).toBe(await nowOf(sandbox))
})

test('the clock of an emulator elsewhere is advanced by few calls', async ({ emulator }) => {
  await using sandbox = await connect(emulator.url).sandbox()
  await syncClock(sandbox)
  const calls: string[] = []
  const note = (message: unknown) => {
    const { path } = (message as { request: ClientRequest }).request
    if (path.includes('/__emulator/clock')) calls.push(path)
  }
  subscribe('http.client.request.start', note)
  onTestFinished(() => void unsubscribe('http.client.request.start', note))
  const start = Date.now()
  const ran: number[] = []
  for (const at of [HOUR, 2 * HOUR, 3 * HOUR]) setTimeout(() => ran.push(Date.now() - start), at)
  const { events } = await sandbox.clock.advance('24h')
  expect(ran).toEqual([HOUR, 2 * HOUR, 3 * HOUR])
  expect(await nowOf(sandbox)).toBe(start + 24 * HOUR)
  // Two for each timer, for each event and for the end; the first one and the last one ask for the time.
  expect(calls.length).toBeLessThanOrEqual(2 * (ran.length + events.length + 1) + 2)
})

test('the requests of a client without a network are awaited, too', async () => {
  await using emulator = await startEmulator({ listen: false, ephemeral: true, rate: 0 })
  const { defaultSandbox: sandbox, baseUrl, fetch } = emulator
  await syncClock(sandbox)
  let statuses: number[] = []
  const ask = async () => {
    const { status } = await fetch(`${baseUrl}/data-views`, { headers: headersOf(sandbox) })
    statuses = [...statuses, status]
  }
  // The first one loads a part of the emulator.
  await ask()
  const poll = setInterval(ask, HOUR)
  await sandbox.clock.advance('3h')
  clearInterval(poll)
  expect(statuses).toEqual([200, 200, 200, 200])
})

test('a clock that has moved alone is followed at the next advance', async ({ sandbox }) => {
  await syncClock(sandbox)
  const start = Date.now()
  vi.advanceTimersByTime(HOUR)
  await sandbox.clock.advance('1h')
  expect([Date.now() - start, (await nowOf(sandbox)) - start]).toEqual([2 * HOUR, 2 * HOUR])
  await sandbox.clock.set({ now: new Date(start + 3 * HOUR).toISOString() })
  await sandbox.clock.advance('1h')
  expect([Date.now() - start, (await nowOf(sandbox)) - start]).toEqual([4 * HOUR, 4 * HOUR])
})

test('a timer that a webhook starts runs before later events of the sandbox', async ({ sandbox }) => {
  await syncClock(sandbox)
  const { port } = await serving((req, res) => {
    req.resume().on('end', () => res.end())
    setTimeout(() => void sandbox.fetch('/data-views').then((response) => response.json()), 1_000)
  })
  await sandbox.webhooks.create({ url: `http://127.0.0.1:${port}/` })
  await createBatch(sandbox)
  const { to } = await sandbox.clock.advance('2h')
  const [, request] = await sandbox.requests.list()
  expect(Date.parse(request?.at ?? '')).toBe(Date.parse(to) - HOUR + 4_000)
})

test.for<[target: string, goalOf: (batch: string) => ClockTarget]>([
  ['goal', (batch) => ({ until: { batch } })],
  ['number of events', () => ({ steps: 3 })],
])('an advance to a %s runs the timers until then, and none later', async ([, goalOf], { sandbox }) => {
  await syncClock(sandbox)
  const id = await createBatch(sandbox)
  const start = Date.now()
  const ran: number[] = []
  for (const at of [HOUR, 2 * HOUR]) setTimeout(() => ran.push(Date.now() - start), at)
  await sandbox.clock.advance(goalOf(id))
  expect([ran, Date.now() - start]).toEqual([[HOUR], HOUR + 3_000])
})

test('a client that polls without a pause is named, with its timer and its request', async ({ sandbox }) => {
  await syncClock(sandbox)
  const poll = (): void => {
    const views = sandbox.fetch('/data-views').then((response) => response.json())
    // The last one comes after the end of the test.
    views.then(
      () => setTimeout(poll, 0),
      () => {},
    )
  }
  poll()
  const error = await sandbox.clock.advance('1h').catch((reason: Error) => reason.message)
  expect(error).toMatch(
    /^The client does not become quiet: the synced clocks stopped at .*Z, after more than 500 of/,
  )
  expect(error).toMatch(/GET http:\/\/127\.0\.0\.1:\d+\/@[\w-]+\/v1\/data-views \(\d+ times\)/)
  expect(error).toMatch(/Timeout of 0 ms \(\d+ times\)/)
})

test('a request without an answer is named', async ({ sandbox }) => {
  await syncClock(sandbox)
  await sandbox.faults.arm({ match: 'everything', do: [{ pace: { before_head_ms: 60_000 } }] })
  const elapsed = vi.spyOn(real, 'elapsed').mockImplementation(() => 100 * elapsed.mock.calls.length)
  onTestFinished(() => elapsed.mockRestore())
  const views = sandbox.fetch('/data-views').catch(() => {})
  await expect(sandbox.clock.advance('1h')).rejects.toThrow(
    /^The synced clocks stopped: GET http.*\/v1\/data-views got no whole response in 5 s of real time\. Read/,
  )
  await sandbox.faults.clear()
  await views
})

test('a clock that runs is refused', async ({ sandbox }) => {
  await sandbox.clock.set({ rate: 1 })
  await expect(syncClock(sandbox)).rejects.toThrow('Stop it first: await sandbox.clock.set({ rate: 0 })')
  expect(vi.isFakeTimers()).toBe(false)
})

test('a setImmediate that a test has faked runs one millisecond later', async ({ sandbox }) => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  await syncClock(sandbox)
  const start = Date.now()
  const ran: number[] = []
  setTimeout(() => setImmediate(() => ran.push(Date.now() - start)), MINUTE)
  await sandbox.clock.advance('1h')
  expect(ran).toEqual([MINUTE + 1])
})

test('a fake queueMicrotask is refused', async ({ sandbox }) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'queueMicrotask'] })
  onTestFinished(() => void vi.useRealTimers())
  await expect(syncClock(sandbox)).rejects.toThrow('syncClock() needs the real queueMicrotask')
})

test('restore() gives both their own clocks again', async ({ sandbox }) => {
  const own = sandbox.clock.advance
  const { advanceTimersByTimeAsync } = vi
  {
    using _clock = await syncClock(sandbox)
    expect(sandbox.clock.advance).not.toBe(own)
    await expect(syncClock(sandbox)).rejects.toThrow('The timers are already synced with the sandbox')
  }
  expect(sandbox.clock.advance).toBe(own)
  expect(vi.advanceTimersByTimeAsync).toBe(advanceTimersByTimeAsync)
  expect(vi.isFakeTimers()).toBe(false)
})

describe('in a hook', () => {
  test.beforeEach(async ({ sandbox }) => {
    await syncClock(sandbox)
  })

  test.for([1, 2])('each test has timers of its own (%i)', async (_, { sandbox }) => {
    expect(Date.now()).toBe(await nowOf(sandbox))
    await sandbox.clock.advance('1h')
    expect(Date.now()).toBe(await nowOf(sandbox))
  })
})
