import { expect, test } from 'vitest'
import { clockwork, event, ran, START, ticked } from '../../../test/support/clockwork.ts'
import { Refusal } from '../errors.ts'
import type { Sandbox } from '../worlds/sandbox.ts'
import type { Target } from './advance.ts'
import { END_OF_TIME } from './clock.ts'
import type { Outbox } from './outbox.ts'

const SECOND = 1_000

/** An outbox that is busy after each tick until it is told to be done. */
class SlowOutbox implements Outbox {
  /** The virtual instants at which something was waited for. */
  readonly waits: number[] = []
  #waiting: (() => void) | undefined
  isIdle = true

  constructor(world: Sandbox) {
    world.onEvent(() => {
      this.isIdle = false
    })
    this.settled = () =>
      new Promise((resolve) => {
        this.waits.push(world.clock.now - START)
        this.#waiting = () => {
          this.isIdle = true
          resolve()
        }
      })
  }

  settled: () => Promise<void>

  async finish(): Promise<void> {
    while (this.#waiting === undefined) await Promise.resolve()
    const done = this.#waiting
    this.#waiting = undefined
    done()
  }
}

const by = (ms: number): Target => ({ to: (now) => now + ms })

async function worldWithTicks(...seconds: number[]): Promise<Sandbox> {
  const world = await clockwork()
  world.change(({ schedule }) => {
    for (const second of seconds) schedule(event('tick', `r/${second}`, START + second * SECOND))
  })
  return world
}

test('time waits at each instant until what it gave rise to is delivered', async () => {
  const world = await worldWithTicks(1, 2)
  const outbox = new SlowOutbox(world)
  world.outbox = outbox
  const passage = world.advance(by(10 * SECOND))
  await outbox.finish()
  await outbox.finish()
  const receipt = await passage
  expect(outbox.waits).toEqual([1 * SECOND, 2 * SECOND])
  expect(receipt.events.map(({ ref }) => ref)).toEqual(['r/1', 'r/2'])
  expect(world.clock.now).toBe(START + 10 * SECOND)
})

test('a goal that is reached already is answered when what is under way has been delivered', async () => {
  const world = await worldWithTicks(1)
  await world.advance(by(1 * SECOND))
  const outbox = new SlowOutbox(world)
  outbox.isIdle = false
  world.outbox = outbox
  const passage = world.advance({ until: { milestone: ticked, goal: { tick: 'r/1' } } })
  await outbox.finish()
  expect((await passage).events).toEqual([])
  expect(outbox.waits).toEqual([1 * SECOND])
})

test('two passages of time follow one another and never interleave', async () => {
  const world = await worldWithTicks(1, 2, 3, 4)
  const outbox = new SlowOutbox(world)
  world.outbox = outbox
  const both = [world.advance(by(2 * SECOND)), world.advance(by(2 * SECOND))]
  for (let n = 0; n < 4; n++) await outbox.finish()
  const [first, second] = await Promise.all(both)
  expect(first?.events.map(({ ref }) => ref)).toEqual(['r/1', 'r/2'])
  expect(second?.events.map(({ ref }) => ref)).toEqual(['r/3', 'r/4'])
  expect(second?.from).toBe(first?.to)
})

test('a passage that is refused does not hold up the next one', async () => {
  const world = await worldWithTicks(1)
  const refused = world.advance({ until: { milestone: ticked, goal: { tick: 'r/never' } } })
  const next = world.advance(by(2 * SECOND))
  await expect(refused).rejects.toThrow('nothing is scheduled for r/never')
  expect((await next).events).toHaveLength(1)
})

test('what happens meanwhile for other requests is in the receipt too', async () => {
  const world = await worldWithTicks(1)
  const outbox = new SlowOutbox(world)
  world.outbox = outbox
  const passage = world.advance(by(5 * SECOND))
  while (outbox.waits.length === 0) await Promise.resolve()
  world.change(({ schedule, now }) => schedule(event('tick', 'r/meanwhile', now)))
  world.catchUp()
  await outbox.finish()
  const receipt = await passage
  expect(receipt.events.map(({ ref }) => ref)).toEqual(['r/1', 'r/meanwhile'])
})

test('a world that is replaced ends the passage of time through the old one', async () => {
  const world = await worldWithTicks(1)
  const start = world.capture()
  const outbox = new SlowOutbox(world)
  world.outbox = outbox
  const passage = world.advance(by(5 * SECOND))
  while (outbox.waits.length === 0) await Promise.resolve()
  world.become(start)
  await outbox.finish()
  await expect(passage).rejects.toThrow('reset, restored or replaced')
  expect(world.clock.now).toBe(START)
  expect(ran(world)).toEqual([])
})

test('until runs exactly as far as the goal needs', async () => {
  const world = await worldWithTicks(1, 2, 3)
  const receipt = await world.advance({ until: { milestone: ticked, goal: { tick: 'r/2' } } })
  expect(receipt.events.map(({ ref }) => ref)).toEqual(['r/1', 'r/2'])
  expect(world.clock.now).toBe(START + 2 * SECOND)
  expect((await world.advance({ until: { milestone: ticked, goal: { tick: 'r/2' } } })).events).toEqual([])
})

test('steps stop where nothing more is to come', async () => {
  const world = await worldWithTicks(1, 2)
  expect((await world.advance({ steps: 5 })).events).toHaveLength(2)
  expect(world.clock.now).toBe(START + 2 * SECOND)
})

test('an endless loop ends at a bound that names the suspects, and the clock says how far time came', async () => {
  const world = await clockwork({ mostEvents: 10_000 })
  world.change(({ schedule }) => {
    schedule(event('tick', 'r/1', START + 1 * SECOND))
    schedule(event('stuck', 'r/2', START + 2 * SECOND))
  })
  const error = await world.advance(by(5 * SECOND)).catch((each: unknown) => each)
  expect(error).toBeInstanceOf(Refusal)
  const { message, options } = error as Refusal
  expect(message).toContain('after 10000 events')
  expect(message).toContain('stands at 2026-03-01T12:00:02.000Z')
  expect(options.details).toMatchObject({ suspects: [{ name: 'stuck r/2' }, { name: 'tick r/1', times: 1 }] })
  expect(world.clock.now).toBe(START + 2 * SECOND)
})

test('every event says what it was caused by: a change from outside, or the event before', async () => {
  const world = await clockwork()
  world.change(({ schedule }) => schedule(event('chain', 'r/1', START + 1 * SECOND)))
  const { events } = await world.advance({ steps: 2 })
  expect(events.map(({ caused_by }) => caused_by)).toEqual(['control', 'chain:r/1'])
})

test('steps end at the last instant there is: what is due behind it never happens', async () => {
  const world = await clockwork()
  world.change(({ schedule }) => {
    schedule(event('tick', 'r/1', END_OF_TIME))
    schedule(event('tick', 'r/2', END_OF_TIME + 1))
  })
  const { events } = await world.advance({ steps: 5 })
  expect(events.map(({ ref }) => ref)).toEqual(['r/1'])
  expect(world.clock.now).toBe(END_OF_TIME)
})
