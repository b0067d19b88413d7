import { expect, test } from 'vitest'
import { END_OF_TIME } from '../../src/core/time/clock.ts'
import { batchEmulator, createBatch, retrieve } from '../support/batches.ts'

test('a poll never skips beyond the last possible instant', async () => {
  const clock = new Date(END_OF_TIME - 1_000).toISOString()
  const emulator = await batchEmulator({ 'batch.pace': { validating: '1h' } }, { clock, skipOnPoll: true })
  const { id } = await createBatch(emulator)
  expect(await retrieve(emulator, id)).toMatchObject({ status: 'validating' })
  expect(emulator.now()).toBe(END_OF_TIME - 1_000)
})
