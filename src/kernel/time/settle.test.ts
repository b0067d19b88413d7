import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clockwork, event, ran, START } from '../../../test/support/clockwork.ts'
import { advanceTo } from './settle.ts'

test('events run in order of instant and then of scheduling, each at its own instant', async () => {
  const world = await clockwork()
  world.change(({ schedule }) => {
    schedule(event('tick', 'late', START + 9_000))
    schedule(event('tick', 'first', START + 5_000))
    schedule(event('tick', 'second', START + 5_000))
  })
  const receipt = advanceTo(world, START + 60_000)
  expect(ran(world).map(({ ref, now }) => [ref, now - START])).toEqual([
    ['first', 5_000],
    ['second', 5_000],
    ['late', 9_000],
  ])
  expect(receipt.events.map(({ ref }) => ref)).toEqual(['first', 'second', 'late'])
  expect(world.clock.now).toBe(START + 60_000)
})

test('however time is cut into pieces, the same happens at the same instants', async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 12 })
  const dues = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(dues, cuts, async (offsets, steps) => {
      const [whole, pieces] = [await clockwork(), await clockwork()]
      for (const world of [whole, pieces]) {
        world.change(({ schedule }) => {
          for (const [index, offset] of offsets.entries())
            schedule(event('tick', `r/${index}`, START + offset))
        })
      }
      advanceTo(whole, START + 500_000)
      for (const step of steps) advanceTo(pieces, pieces.clock.now + step)
      advanceTo(pieces, START + 500_000)
      expect(ran(pieces)).toEqual(ran(whole))
    }),
    { numRuns: 50 },
  )
})

test('steps run that many events, wherever they are in time', async () => {
  const world = await clockwork()
  world.change(({ schedule }) => schedule(event('chain', 'r/1', START + 1_000)))
  expect((await world.advance({ steps: 3 })).events).toHaveLength(3)
  expect(world.clock.now).toBe(START + 3_000)
})

test('an event whose handler fails is undone alone, parked with its message, and time goes on', async () => {
  const surprises: unknown[] = []
  const world = await clockwork({ surprises })
  world.change(({ schedule }) => {
    schedule(event('broken', 'r/1', START + 1_000))
    schedule(event('tick', 'r/2', START + 2_000))
  })
  const receipt = advanceTo(world, START + 5_000)
  expect(receipt.parked).toMatchObject([{ kind: 'broken', error: 'the handler failed' }])
  expect(ran(world).map(({ ref }) => ref)).toEqual(['r/2'])
  expect(world.document().parked).toMatchObject([{ kind: 'broken', ref: 'r/1', error: 'the handler failed' }])
  expect(surprises).toHaveLength(1)
})

test('a record has one event of a kind ahead: scheduling it again moves it, and it can be taken out', async () => {
  const world = await clockwork()
  world.change(({ schedule }) => schedule(event('tick', 'r/1', START + 1_000)))
  world.change(({ schedule }) => schedule(event('tick', 'r/1', START + 8_000)))
  world.change(({ schedule }) => schedule(event('tick', 'r/2', START + 2_000)))
  world.change(({ unschedule }) => unschedule('r/2', ['tick']))
  advanceTo(world, START + 60_000)
  expect(ran(world).map(({ ref, now }) => [ref, now - START])).toEqual([['r/1', 8_000]])
})

test('a running clock follows the host, at its rate, and never back', async () => {
  let host = START
  const world = await clockwork({ rate: 10, host: () => host })
  host += 1_000
  world.catchUp()
  expect(world.clock.now).toBe(START + 10_000)
  host -= 5_000
  world.catchUp()
  expect(world.clock.now).toBe(START + 10_000)
})

test('advancing a running clock moves it on, and it runs on from there', async () => {
  let host = START
  const world = await clockwork({ rate: 1, host: () => host })
  advanceTo(world, START + 3_600_000)
  host += 5_000
  world.catchUp()
  expect(world.clock.now).toBe(START + 3_605_000)
})

test('a world goes on from its document where it stood, schedule and ids included', async () => {
  const world = await clockwork()
  world.change(({ schedule }) => schedule(event('chain', 'r/1', START + 1_000)))
  advanceTo(world, START + 1_500)
  const other = await clockwork()
  other.load(JSON.parse(JSON.stringify(world.document())))
  expect(other.scheduler.horizon()).toEqual(world.scheduler.horizon())
  expect((await other.advance({ steps: 1 })).to).toBe('2026-03-01T12:00:02.000Z')
})
