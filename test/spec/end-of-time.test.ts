import { expect, test } from 'vitest'
import { END_OF_TIME } from '../../src/kernel/time/clock.ts'
import { batchWorld, createBatch, retrieve } from '../support/batches.ts'

test('a poll that skips ahead does not skip past the last instant there is', async () => {
  const clock = new Date(END_OF_TIME - 1_000).toISOString()
  const world = await batchWorld({ 'batch.pace': { validating: '1h' } }, { clock, skipOnPoll: true })
  const { id } = await createBatch(world)
  expect(await retrieve(world, id)).toMatchObject({ status: 'validating' })
  expect(world.now()).toBe(END_OF_TIME - 1_000)
})
