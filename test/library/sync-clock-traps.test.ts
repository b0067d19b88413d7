// One test for each row of the table in docs/reference/library.md, under "One clock with the client"; those of faked timers are in
// sync-clock.test.ts.
import type { RequestListener } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { aBatch } from 'agent-workspace-emulator'
import { expect, syncClock, test } from 'agent-workspace-emulator/vitest'
import ky from 'ky'
import { Agent, request } from 'undici'
import { onTestFinished, vi } from 'vitest'
import { real } from '../../src/core/time/real.ts'
import { serving } from '../support/http-server.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** What a module has that reads its timers and clocks when it is loaded. */
const early = { setTimeout: globalThis.setTimeout, now: performance.now.bind(performance) }

async function serve(listener: RequestListener) {
  const { server, port } = await serving(listener)
  return { server, url: `http://127.0.0.1:${port}/` }
}

test.beforeEach(async ({ sandbox }) => {
  await syncClock(sandbox)
})

test('a timer that a microtask or another timer starts runs within the same advance', async ({ sandbox }) => {
  const start = Date.now()
  const ran: number[] = []
  const note = () => ran.push(Date.now() - start)
  setTimeout(() => {
    note()
    queueMicrotask(() => setTimeout(() => void Promise.resolve().then(note), MINUTE))
  }, MINUTE)
  await sandbox.clock.advance('2m')
  expect(ran).toEqual([MINUTE, 2 * MINUTE])
})

test('promises, microtasks, setImmediate and nextTick run at their own instant', async ({ sandbox }) => {
  const start = Date.now()
  const ran: Record<string, number> = {}
  const note = (name: string) => () => void Object.assign(ran, { [name]: Date.now() - start })
  setTimeout(() => {
    Promise.resolve().then(note('promise'))
    queueMicrotask(note('microtask'))
    setImmediate(note('immediate'))
    process.nextTick(note('tick'))
  }, MINUTE)
  setTimeout(note('next timer'), MINUTE + 1)
  await sandbox.clock.advance('1h')
  const at = MINUTE
  expect(ran).toEqual({ promise: at, microtask: at, immediate: at, tick: at, 'next timer': at + 1 })
})

test('performance.now is virtual, and real where it was read before', async ({ sandbox }) => {
  const began = [performance.now(), early.now()] as const
  await sandbox.clock.advance('36h')
  expect(performance.now() - began[0]).toBe(36 * HOUR)
  expect(early.now() - began[1]).toBeLessThan(HOUR)
})

test('ky waits for the Retry-After of a response in virtual time', async ({ sandbox }) => {
  const start = Date.now()
  const quota = { remaining: 0, reset_in_s: 3600, reject: true }
  await sandbox.faults.arm({ match: 'everything', do: [{ quota }], times: 1 })
  // Its time-out, 10 s by default, includes no retries.
  const headers = { authorization: `Bearer ${sandbox.apiKey}` }
  const views = ky.get(`${sandbox.baseUrl}/data-views`, { headers, timeout: false })
  await sandbox.clock.advance('2h')
  expect((await views).status).toBe(200)
  expect((await sandbox.requests.list()).map(({ at }) => Date.parse(at) - start)).toEqual([0, HOUR])
})

test('AbortSignal.timeout is real; AbortController and setTimeout are virtual', async ({ sandbox }) => {
  const signal = AbortSignal.timeout(HOUR)
  const abort = new AbortController()
  setTimeout(() => abort.abort(), HOUR)
  await sandbox.clock.advance('2h')
  expect([signal.aborted, abort.signal.aborted]).toEqual([false, true])
})

test('node:timers/promises by name is real; a promise with setTimeout is virtual', async ({ sandbox }) => {
  const stop = new AbortController()
  const over: string[] = []
  const slept = sleep(HOUR, undefined, { signal: stop.signal }).then(
    () => over.push('sleep'),
    () => {},
  )
  new Promise((resolve) => setTimeout(resolve, HOUR)).then(() => over.push('promise'))
  await sandbox.clock.advance('2h')
  expect(over).toEqual(['promise'])
  stop.abort()
  await slept
})

test('a setTimeout that was read before is real; the global one is virtual', async ({ sandbox }) => {
  const over: string[] = []
  const timer = early.setTimeout(() => over.push('early'), HOUR)
  onTestFinished(() => clearTimeout(timer))
  globalThis.setTimeout(() => over.push('global'), HOUR)
  await sandbox.clock.advance('2h')
  expect(over).toEqual(['global'])
})

test('the first import of a module in a timer is not awaited', async ({ sandbox }) => {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  vi.stubGlobal('gate', gate)
  onTestFinished(() => void vi.unstubAllGlobals())
  const start = Date.now()
  const ran: number[] = []
  setTimeout(async () => {
    await import('data:text/javascript,await globalThis.gate' as string)
    setTimeout(() => ran.push(Date.now() - start), MINUTE)
  }, MINUTE)
  await sandbox.clock.advance('1h')
  open()
  await vi.dynamicImportSettled()
  expect(ran).toEqual([])
  await sandbox.clock.advance('1h')
  expect(ran).toEqual([HOUR + MINUTE])
})

test('a request in flight is answered before time passes', async ({ sandbox }) => {
  const start = Date.now()
  let answered = Number.NaN
  void sandbox.fetch('/data-views').then(async (response) => {
    await response.json()
    answered = Date.now() - start
  })
  setTimeout(() => {}, 1)
  await sandbox.clock.advance('1h')
  const [request] = await sandbox.requests.list()
  expect([Date.parse(request?.at ?? '') - start, answered]).toEqual([0, 0])
})

test('an idle connection of fetch closes in virtual time, and another is opened', async ({ sandbox }) => {
  let connections = 0
  const { server, url } = await serve((_, response) => void response.end())
  server.on('connection', () => {
    connections += 1
  })
  const poll = setInterval(async () => (await fetch(url)).text(), HOUR)
  await sandbox.clock.advance('3h')
  clearInterval(poll)
  expect(connections).toBe(3)
})

test('a time-out of undici itself, virtual or real, does not stop an advance', async ({ sandbox }) => {
  await sandbox.faults.arm({ match: 'everything', do: [{ cut: { at: 'before-head', how: 'pause' } }] })
  const abort = new AbortController()
  setTimeout(() => abort.abort(), HOUR)
  const dispatcher = new Agent({ headersTimeout: MINUTE })
  const views = request(`${sandbox.baseUrl}/data-views`, { dispatcher, signal: abort.signal })
  const outcome = views.then(
    () => 'answered',
    () => 'given up',
  )
  await sandbox.clock.advance('2h')
  expect(await outcome).toBe('given up')
})

test('a response that a fault delays is awaited in real time', async ({ sandbox }) => {
  const start = Date.now()
  await sandbox.faults.arm({ match: 'everything', do: [{ pace: { before_head_ms: 20 } }] })
  let answered = Number.NaN
  const views = sandbox.fetch('/data-views').then(async (response) => {
    await response.json()
    answered = Date.now() - start
  })
  await sandbox.clock.advance('1h')
  expect(answered).toBe(0)
  await views
})

test('a receiver that waits for a timer before it responds gets a time-out', async ({ sandbox }) => {
  const { url } = await serve((_, response) => void setTimeout(() => response.end(), 1_000))
  await sandbox.webhooks.create({ url })
  await sandbox.fetch('/batch-predictions', { json: aBatch() })
  const { setTimeout: later } = real
  // The time-out of a delivery passes at once.
  const timers = vi
    .spyOn(real, 'setTimeout')
    .mockImplementation(((run: () => void, ms: number) => later(run, Math.min(ms, 50))) as never)
  onTestFinished(() => timers.mockRestore())
  await sandbox.clock.advance({ steps: 4 })
  const [delivery] = await sandbox.webhooks.deliveries()
  expect(delivery?.attempts[0]).toMatchObject({ error: expect.stringContaining('no response within') })
})
