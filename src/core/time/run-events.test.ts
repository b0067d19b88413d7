import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clockwork, event, ran, START } from '../../../test/support/clockwork.ts'
import { change } from '../sandboxes/change.ts'
import { advanceTo, runDueEvents } from './run-events.ts'

test('the same events run at the same instants however an advance is divided', async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 12 })
  const dues = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(dues, cuts, async (offsets, steps) => {
      const [whole, pieces] = [await clockwork(), await clockwork()]
      for (const sandbox of [whole, pieces]) {
        change(sandbox, ({ schedule }) => {
          for (const [n, offset] of offsets.entries()) schedule(event('tick', `r/${n}`, START + offset))
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

test('an event whose handler fails is undone alone and listed as failed, and time goes on', async () => {
  const defects: unknown[] = []
  const sandbox = await clockwork({ defects })
  change(sandbox, ({ schedule }) => {
    schedule(event('broken', 'r/1', START + 1_000))
    schedule(event('tick', 'r/2', START + 2_000))
  })
  const result = advanceTo(sandbox, START + 5_000)
  expect(result.failed).toMatchObject([{ kind: 'broken', error: 'the handler failed' }])
  expect(ran(sandbox).map(({ ref }) => ref)).toEqual(['r/2'])
  expect(sandbox.document().failed).toMatchObject([{ ref: 'r/1', error: 'the handler failed' }])
  expect(defects).toHaveLength(1)
})

test('a host clock that is set is reported once, and the clock record is written again', async () => {
  const warnings: string[] = []
  const state = { wall: START, elapsed: 0 }
  const host = Object.assign(() => state.wall, { elapsed: () => state.elapsed })
  const sandbox = await clockwork({ rate: 1, host, warnings })
  state.wall += 5_000 - 3_600_000
  state.elapsed += 5_000
  runDueEvents(sandbox)
  runDueEvents(sandbox)
  expect(warnings).toEqual([
    'The clock of this machine was set back by 1h. The virtual clock of the sandbox default is not set back: it continues with the real time that passes.',
  ])
  expect(sandbox.clock.now).toBe(START + 5_000)
  expect(sandbox.store.get('$sandbox', 'clock')).toMatchObject({ wall: '2026-03-01T11:00:00.000Z' })
  state.wall += 7_200_000
  runDueEvents(sandbox)
  expect(warnings[1]).toMatch(/^The clock of this machine is 2h ahead .* was moved forward with it\./)
  expect(sandbox.clock.now).toBe(START + 5_000 + 7_200_000)
})

test('a running clock that is advanced runs on from there', async () => {
  let host = START
  const sandbox = await clockwork({ rate: 1, host: () => host })
  advanceTo(sandbox, START + 3_600_000)
  host += 5_000
  runDueEvents(sandbox)
  expect(sandbox.clock.now).toBe(START + 3_605_000)
})
