import { expect, test } from 'vitest'
import { clockwork, event, ran, START, ticked } from '../../../test/support/clockwork.ts'
import { Refusal } from '../errors.ts'
import { change } from '../sandboxes/change.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { type AdvanceTarget, advance } from './advance.ts'
import { runDueEvents } from './run-events.ts'
import type { AdvanceResult } from './scheduler.ts'
import type { PendingWork } from './turn.ts'

const SECOND = 1_000

/** Work that is busy after each tick until the test calls `finish`. */
class SlowWork implements PendingWork {
  /** The offsets from START, in virtual milliseconds, at which an advance waited. */
  readonly waits: number[] = []
  readonly #sandbox: Sandbox
  #waiting: (() => void) | undefined
  isIdle = true
  isRequesting = false

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
    sandbox.listeners.onEvent(() => {
      this.isIdle = false
    })
  }

  async whenIdle(): Promise<void> {
    this.waits.push(this.#sandbox.clock.now - START)
    this.isRequesting = true
    await new Promise<void>((resolve) => {
      this.#waiting = resolve
    })
  }

  async finish(): Promise<void> {
    while (this.#waiting === undefined) await new Promise(setImmediate)
    Object.assign(this, { isIdle: true, isRequesting: false })
    this.#waiting()
    this.#waiting = undefined
  }
}

const by = (ms: number): AdvanceTarget => ({ to: (now) => now + ms })
const refs = ({ events }: AdvanceResult) => events.map(({ ref }) => ref)

async function until(work: SlowWork): Promise<void> {
  while (work.waits.length === 0) await Promise.resolve()
}

async function emulatorWithTicks(...seconds: number[]): Promise<Sandbox> {
  const sandbox = await clockwork()
  change(sandbox, ({ schedule }) => {
    for (const second of seconds) schedule(event('tick', `r/${second}`, START + second * SECOND))
  })
  return sandbox
}

async function busyEmulator(...seconds: number[]) {
  const sandbox = await emulatorWithTicks(...seconds)
  const work = new SlowWork(sandbox)
  sandbox.deliveries.add(work)
  return { sandbox, work }
}

test('a running advance is shown with its events up to now, and a failed one with those that ran', async () => {
  const { sandbox, work } = await busyEmulator(1, 2)
  expect(sandbox.advances.latest).toEqual({ running: false, result: null })
  const client = new AbortController()
  const passage = advance(sandbox, by(5 * SECOND), { signal: client.signal })
  await until(work)
  expect(sandbox.advances.latest).toMatchObject({ running: true, result: { events: [{ ref: 'r/1' }] } })
  client.abort()
  await expect(passage).rejects.toThrow(Refusal)
  const result = { events: [{ ref: 'r/1' }], to: '2026-03-01T12:00:01.000Z' }
  expect(sandbox.advances.latest).toMatchObject({ running: false, result })
})

test('an advance waits at each instant until the webhooks of its events are delivered', async () => {
  const { sandbox, work } = await busyEmulator(1, 2)
  const passage = advance(sandbox, by(10 * SECOND))
  await work.finish()
  await work.finish()
  expect(refs(await passage)).toEqual(['r/1', 'r/2'])
  expect(work.waits).toEqual([1 * SECOND, 2 * SECOND])
  expect(sandbox.clock.now).toBe(START + 10 * SECOND)
})

test('an advance to a goal that is already reached waits for deliveries in flight', async () => {
  const sandbox = await emulatorWithTicks(1)
  await advance(sandbox, by(1 * SECOND))
  const work = new SlowWork(sandbox)
  work.isIdle = false
  sandbox.deliveries.add(work)
  const passage = advance(sandbox, { until: { milestone: ticked, goal: { tick: 'r/1' } } })
  await work.finish()
  expect((await passage).events).toEqual([])
  expect(work.waits).toEqual([1 * SECOND])
})

test('an advance that begins during another waits for its end', async () => {
  const sandbox = await emulatorWithTicks(1, 2, 3)
  const both = await Promise.all([advance(sandbox, by(2 * SECOND)), advance(sandbox, by(1 * SECOND))])
  expect(both.map(refs)).toEqual([['r/1', 'r/2'], ['r/3']])
  expect(sandbox.clock.now).toBe(START + 3 * SECOND)
})

test('an advance waits while another one calls functions of scenarios', async () => {
  const { sandbox, work } = await busyEmulator(1, 2)
  const first = advance(sandbox, by(1 * SECOND))
  await until(work)
  work.isRequesting = false
  const second = advance(sandbox, by(1 * SECOND))
  await new Promise(setImmediate)
  await work.finish()
  expect(refs(await first)).toEqual(['r/1'])
  await work.finish()
  expect(refs(await second)).toEqual(['r/2'])
})

test('an advance that waits for another ends when its client leaves or its sandbox is closed', async () => {
  const { sandbox, work } = await busyEmulator(1)
  const first = advance(sandbox, by(1 * SECOND))
  await until(work)
  work.isRequesting = false
  const client = new AbortController()
  const left = advance(sandbox, by(1 * SECOND), { signal: client.signal })
  const waiting = advance(sandbox, by(1 * SECOND))
  client.abort()
  await expect(left).rejects.toThrow('The advance was ended before it reached its target')
  sandbox.close(new Refusal('not_found', { detail: 'The sandbox is gone.' }), true)
  await work.finish()
  await expect(first).rejects.toThrow('The sandbox is gone.')
  await expect(waiting).rejects.toThrow('The sandbox is gone.')
})

test('events that run for other requests during an advance are in its result', async () => {
  const { sandbox, work } = await busyEmulator(1)
  const passage = advance(sandbox, by(5 * SECOND))
  await until(work)
  change(sandbox, ({ schedule, now }) => schedule(event('tick', 'r/meanwhile', now)))
  runDueEvents(sandbox)
  await work.finish()
  expect(refs(await passage)).toEqual(['r/1', 'r/meanwhile'])
})

test('an advance ends when its sandbox is replaced', async () => {
  const { sandbox, work } = await busyEmulator(1)
  const start = sandbox.capture()
  const passage = advance(sandbox, by(5 * SECOND))
  await until(work)
  sandbox.replaceWith(start)
  await work.finish()
  await expect(passage).rejects.toThrow('reset, restored or replaced')
  expect(sandbox.clock.now).toBe(START)
  expect(ran(sandbox)).toEqual([])
})

test('an advance by steps stops when no event is left', async () => {
  const sandbox = await emulatorWithTicks(1, 2)
  expect((await advance(sandbox, { steps: 5 })).events).toHaveLength(2)
  expect(sandbox.clock.now).toBe(START + 2 * SECOND)
})

test('an endless loop at one instant ends with an error that names the suspects, and the clock stays there', async () => {
  const sandbox = await clockwork({ mostEvents: 10_000 })
  change(sandbox, ({ schedule }) => {
    schedule(event('tick', 'r/1', START + 2 * SECOND))
    schedule(event('stuck', 'r/2', START + 2 * SECOND))
    schedule(event('tick', 'r/3', START + 3 * SECOND))
  })
  await expect(advance(sandbox, by(5 * SECOND))).rejects.toMatchObject({
    code: 'conflict',
    message:
      'The clock stopped at 2026-03-01T12:00:02.000Z: 10000 events ran at this instant, and time did not pass. Most frequent of the last 1000: stuck r/2 (1000 times).',
    options: { details: { suspects: [{ name: 'stuck r/2', times: 1000 }] } },
  })
  runDueEvents(sandbox)
  await expect(advance(sandbox, by(5 * SECOND))).rejects.toThrow('10000 events ran')
  expect(ran(sandbox).map(({ ref }) => ref)).toEqual(['r/1'])
  change(sandbox, ({ unschedule }) => unschedule('r/2', ['stuck']))
  await advance(sandbox, by(5 * SECOND))
  expect(ran(sandbox).map(({ ref }) => ref)).toEqual(['r/1', 'r/3'])
})
