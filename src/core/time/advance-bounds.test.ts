import { expect, test } from 'vitest'
import { clockwork, event, ran, START, ticked } from '../../../test/support/clockwork.ts'
import { change } from '../sandboxes/change.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { type AdvanceTarget, advance } from './advance.ts'
import { END_OF_TIME } from './clock.ts'
import { lagOf } from './run-events.ts'
import type { PendingWork } from './turn.ts'

const SECOND = 1_000
const minute: AdvanceTarget = { to: (now) => now + 60 * SECOND }

type Planned = readonly [kind: string, ref: string, after: number]

function plan(sandbox: Sandbox, ...events: readonly Planned[]): void {
  change(sandbox, ({ schedule }) => {
    for (const [kind, ref, after] of events) schedule(event(kind, ref, START + after))
  })
}

/** Ticks `r/1` and so on, `gap` milliseconds apart. */
const ticks = (count: number, gap: number = SECOND): Planned[] =>
  Array.from({ length: count }, (_, n) => ['tick', `r/${n + 1}`, (n + 1) * gap])

/** Work that is pending after each event, and done as soon as an advance waits for it. */
function busyAfterEach(sandbox: Sandbox): PendingWork {
  const work = { isIdle: true, isRequesting: false, whenIdle: async () => {} }
  const set = (isIdle: boolean) => () => void Object.assign(work, { isIdle })
  work.whenIdle = async () => set(true)()
  sandbox.listeners.onEvent(set(false))
  return work
}

test('a step runs only one of two events at one instant', async () => {
  const sandbox = await clockwork()
  plan(sandbox, ['tick', 'r/1', 1 * SECOND], ['tick', 'r/2', 1 * SECOND])
  expect((await advance(sandbox, { steps: 1 })).events.map(({ ref }) => ref)).toEqual(['r/1'])
  expect((await advance(sandbox, { steps: 1 })).events.map(({ ref }) => ref)).toEqual(['r/2'])
})

test.for([0, 1])('an advance stops after its maximum of events, %d failed ones included', async (failed) => {
  const sandbox = await clockwork()
  plan(sandbox, ...ticks(4))
  if (failed === 1) plan(sandbox, ['broken', 'r/b', 1])
  sandbox.deliveries.add(busyAfterEach(sandbox))
  const first = await advance(sandbox, minute, { maxEvents: 3 + failed })
  expect(first).toMatchObject({ stopped: 'limit', to: '2026-03-01T12:00:03.000Z' })
  expect([first.events.length, first.failed.length]).toEqual([3, failed])
  expect(sandbox.clock.now).toBe(START + 3 * SECOND)
  // The last event that may run is the last that is due: the target is reached.
  const second = await advance(sandbox, minute, { maxEvents: 1 })
  expect(second).toMatchObject({ to: '2026-03-01T12:01:03.000Z', events: [{ ref: 'r/4' }] })
  expect(second).not.toHaveProperty('stopped')
})

test.for<[string, AdvanceTarget]>([
  ['steps', { steps: 9 }],
  ['a goal', { until: { milestone: ticked, goal: { tick: 'r/8' } } }],
])('an advance over %s stops at the limit, too', async ([, target]) => {
  const sandbox = await clockwork()
  plan(sandbox, ...ticks(8))
  const stopped = { stopped: 'limit', to: '2026-03-01T12:00:02.000Z' }
  expect(await advance(sandbox, target, { maxEvents: 2 })).toMatchObject(stopped)
})

test('a result lists the first thousand of each list, and counts the others by kind', async () => {
  const sandbox = await clockwork({ defects: [] })
  plan(sandbox, ...ticks(1_300, 1), ...ticks(1_001, 1).map(([, ref, at]) => ['broken', ref, at] as const))
  const result = await advance(sandbox, minute)
  expect(result.events.map(({ ref }) => ref)).toEqual(ticks(1_000).map(([, ref]) => ref))
  expect(result.failed).toHaveLength(1_000)
  expect(result.omitted).toEqual({ tick: 300, broken: 1 })
})

/** A sandbox in which each event takes some milliseconds of real time. */
async function slowSandbox(ms: number, rate = 0): Promise<Sandbox> {
  let elapsed = 0
  const host = Object.assign(() => START, { elapsed: () => elapsed })
  const sandbox = await clockwork({ rate, host })
  sandbox.listeners.onEvent(() => {
    elapsed += ms
  })
  return sandbox
}

test.for([false, true])('an advance yields after 10 ms of events; with webhooks: %s', async (waits) => {
  const sandbox = await slowSandbox(2)
  plan(sandbox, ...ticks(30, 1))
  if (waits) sandbox.deliveries.add(busyAfterEach(sandbox))
  const seen = new Set<number>()
  let isOver = false
  const look = (): void => {
    seen.add(ran(sandbox).length)
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await advance(sandbox, minute)
  isOver = true
  expect([...seen]).toEqual([5, 10, 15, 20, 25, 30])
})

test('an advance ends between two turns when its client leaves, and the clock runs on from there', async () => {
  const gone = new AbortController()
  const sandbox = await slowSandbox(5, 1)
  plan(sandbox, ...ticks(4))
  setImmediate(() => gone.abort())
  await expect(advance(sandbox, minute, { signal: gone.signal })).rejects.toThrow(
    'The advance was ended before it reached its target. The clock is at 2026-03-01T12:00:02.000Z.',
  )
  expect([sandbox.clock.due(), sandbox.advances.running]).toEqual([START + 2 * SECOND, undefined])
})

test('an advance of a running clock that cannot keep up is refused with ways to fix it', async () => {
  let host = START
  const sandbox = await clockwork({ rate: 1, host: () => host })
  plan(sandbox, ['chain', 'r/1', 1 * SECOND])
  host += 200_000 * SECOND
  await expect(advance(sandbox, minute)).rejects.toMatchObject({
    options: { mitigation: expect.stringContaining('"workspace-emulator clock rate 0" stops it') },
  })
  // The clock is still late: every due event is still scheduled.
  expect(lagOf(sandbox)).toBe(START + 200_000 * SECOND - sandbox.clock.now)
})

const goalAt = (instant: number): AdvanceTarget => ({
  until: { milestone: { ...ticked, reachedAt: () => instant }, goal: { tick: 'r/1' } },
})

test('an advance to a goal with a known instant stops there, with or without an event', async () => {
  const sandbox = await clockwork()
  plan(sandbox, ['tick', 'r/2', 1 * SECOND], ['tick', 'r/1', 9 * SECOND])
  const result = await advance(sandbox, goalAt(START + 5 * SECOND))
  expect(result.events.map(({ ref }) => ref)).toEqual(['r/2'])
  expect(sandbox.clock.now).toBe(START + 5 * SECOND)
  await advance(sandbox, goalAt(START + 5 * SECOND))
  await advance(sandbox, goalAt(START + 1 * SECOND))
  expect(sandbox.clock.now).toBe(START + 5 * SECOND)
})

test('a goal at the last instant is reached, and a later one is refused', async () => {
  const sandbox = await clockwork()
  await expect(advance(sandbox, goalAt(END_OF_TIME + 1))).rejects.toMatchObject({
    message: expect.stringContaining('by time alone: no event is scheduled for r/1. The clock is at 2026-03'),
    options: { mitigation: expect.stringContaining('"workspace-emulator state get r 1"') },
  })
  await advance(sandbox, goalAt(END_OF_TIME))
  expect(sandbox.clock.now).toBe(END_OF_TIME)
})
