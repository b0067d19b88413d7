import { expect, test } from 'vitest'
import { clockwork, event, START, ticked } from '../../../test/support/clockwork.ts'
import type { Sandbox } from '../worlds/sandbox.ts'
import { END_OF_TIME } from './clock.ts'
import type { Outbox } from './outbox.ts'

const SECOND = 1_000

function plan(
  world: Sandbox,
  ...events: readonly (readonly [kind: string, ref: string, after: number])[]
): void {
  world.change(({ schedule }) => {
    for (const [kind, ref, after] of events) schedule(event(kind, ref, START + after))
  })
}

/** Something to wait for after each event, and no time in which it is waited for. */
function busyAfterEach(world: Sandbox): Outbox {
  const outbox = {
    isIdle: true,
    settled: async () => {
      outbox.isIdle = true
    },
  }
  world.onEvent(() => {
    outbox.isIdle = false
  })
  return outbox
}

test('what a running clock has left undone happens first, and is not part of the passage', async () => {
  let host = START
  const world = await clockwork({ rate: 1, host: () => host })
  plan(world, ['tick', 'r/before', 1 * SECOND], ['tick', 'r/after', 9 * SECOND])
  host += 5 * SECOND
  const receipt = await world.advance({ to: (now) => now + 10 * SECOND })
  expect(receipt.events.map(({ ref }) => ref)).toEqual(['r/after'])
  expect([receipt.from, receipt.to]).toEqual(['2026-03-01T12:00:05.000Z', '2026-03-01T12:00:15.000Z'])
})

test('what a clock that stands still has left due is part of the passage', async () => {
  const world = await clockwork()
  plan(world, ['tick', 'r/due', 0])
  const receipt = await world.advance({ to: (now) => now + 1 * SECOND })
  expect(receipt.events.map(({ ref }) => ref)).toEqual(['r/due'])
})

test('a receipt keeps apart what happened and what was parked', async () => {
  const world = await clockwork()
  plan(world, ['broken', 'r/1', 1 * SECOND], ['tick', 'r/2', 2 * SECOND])
  const { events, parked } = await world.advance({ to: (now) => now + 5 * SECOND })
  expect(events.map(({ ref }) => ref)).toEqual(['r/2'])
  expect(parked.map(({ ref }) => ref)).toEqual(['r/1'])
})

test('of two events at one instant a step runs one', async () => {
  const world = await clockwork()
  plan(world, ['tick', 'r/1', 1 * SECOND], ['tick', 'r/2', 1 * SECOND])
  expect((await world.advance({ steps: 1 })).events.map(({ ref }) => ref)).toEqual(['r/1'])
  expect((await world.advance({ steps: 1 })).events.map(({ ref }) => ref)).toEqual(['r/2'])
})

test.for([0, 1] as const)(
  'the bound holds over all of a passage, %d parked events included',
  async (parked) => {
    const kinds = parked === 0 ? ['tick', 'tick', 'tick', 'tick'] : ['broken', 'tick', 'tick', 'tick']
    const planned = kinds.map((kind, n) => [kind, `r/${n}`, (n + 1) * SECOND] as const)
    const strict = await clockwork({ mostEvents: 3 })
    plan(strict, ...planned)
    strict.outbox = busyAfterEach(strict)
    await expect(strict.advance({ to: (now) => now + 60 * SECOND })).rejects.toThrow(
      'after 3 events; the clock stands at 2026-03-01T12:00:03.000Z',
    )
    const wide = await clockwork({ mostEvents: 5 })
    plan(wide, ...planned)
    wide.outbox = busyAfterEach(wide)
    expect((await wide.advance({ to: (now) => now + 60 * SECOND })).events).toHaveLength(4 - parked)
  },
)

function goalAt(instant: number | undefined) {
  return { milestone: { ...ticked, reachedAt: () => instant }, goal: { tick: 'r/1' } }
}

test('a goal that is known to be reached at an instant is waited for, with or without an event there', async () => {
  const world = await clockwork()
  plan(world, ['tick', 'r/2', 1 * SECOND], ['tick', 'r/1', 9 * SECOND])
  const receipt = await world.advance({ until: goalAt(START + 5 * SECOND) })
  expect(receipt.events.map(({ ref }) => ref)).toEqual(['r/2'])
  expect(world.clock.now).toBe(START + 5 * SECOND)
  await world.advance({ until: goalAt(START + 5 * SECOND) })
  await world.advance({ until: goalAt(START + 1 * SECOND) })
  expect(world.clock.now).toBe(START + 5 * SECOND)
})

test('a goal at the last instant is reached, one behind it never', async () => {
  const world = await clockwork()
  const refused = await world.advance({ until: goalAt(END_OF_TIME + 1) }).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    code: 'conflict',
    message:
      'Time alone does not bring that about: nothing is scheduled for r/1. The clock stands at 2026-03-01T12:00:00.000Z.',
    options: {
      mitigation: 'Look at what holds it: GET /__emulator/state/r/1 and GET /__emulator/clock/horizon.',
    },
  })
  await world.advance({ until: goalAt(END_OF_TIME) })
  expect(world.clock.now).toBe(END_OF_TIME)
})
