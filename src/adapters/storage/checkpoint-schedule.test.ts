import { expect, test } from 'vitest'
import { HandTimers } from '../../../test/support/disk-emulator.ts'
import { Checkpointer } from './checkpoint-schedule.ts'

/** A checkpointer whose checkpoints end when the test ends them. */
function checkpointer(size = 0) {
  const timers = new HandTimers()
  const said: string[] = []
  const writes: { end: (busy?: number) => void; fail: (reason: string) => void }[] = []
  const subject = new Checkpointer({
    write: () =>
      new Promise((resolve, reject) =>
        writes.push({ end: (busy = 0) => resolve(busy), fail: (reason) => reject(new Error(reason)) }),
      ),
    later: timers.later,
    onFailure: (reason) => said.push(`failed: ${reason}`),
    onRecovery: () => said.push('recovered'),
    size,
  })
  const waits = (): number[] => timers.waiting.map(({ ms }) => ms)
  return { subject, timers, writes, said, waits }
}

test('changes that come together share one checkpoint, soon after the first', async () => {
  const { subject, timers, writes, waits } = checkpointer()
  for (let n = 0; n < 5; n++) subject.changed()
  expect(waits()).toEqual([50])
  timers.fire()
  await expect.poll(() => writes.length).toBe(1)
  writes[0]?.end()
  await subject.stop()
  expect(waits()).toEqual([])
})

test('a change during a checkpoint gets another one, after a pause nineteen times as long', async () => {
  const { subject, timers, writes, waits } = checkpointer()
  subject.changed()
  timers.fire()
  await expect.poll(() => writes.length).toBe(1)
  subject.changed()
  expect(waits()).toEqual([])
  writes[0]?.end(200)
  await expect.poll(() => waits().length).toBe(1)
  expect(waits()[0]).toBeGreaterThan(3600)
  expect(waits()[0]).toBeLessThanOrEqual(3800)
})

test('the first checkpoint of a large file waits longer', () => {
  const { subject, waits } = checkpointer(50_000_000)
  subject.changed()
  expect(waits()[0]).toBeGreaterThan(4400)
})

test('a checkpoint by now() begins after the one in progress, and all callers share it', async () => {
  const { subject, writes } = checkpointer()
  const done: string[] = []
  subject.now().then(() => done.push('first'))
  await expect.poll(() => writes.length).toBe(1)
  subject.now().then(() => done.push('second'))
  subject.now().then(() => done.push('third'))
  writes[0]?.end()
  await expect.poll(() => writes.length).toBe(2)
  expect(done).toEqual(['first'])
  writes[1]?.end()
  await expect.poll(() => done).toEqual(['first', 'second', 'third'])
  expect(writes).toHaveLength(2)
})

test('a failure and the recovery are reported once, with longer waits between the tries', async () => {
  const { subject, timers, writes, said, waits } = checkpointer()
  subject.changed()
  const waited: number[] = []
  for (let n = 0; n < 8; n++) {
    timers.fire()
    await expect.poll(() => writes.length).toBe(n + 1)
    writes[n]?.fail('ENOSPC')
    await expect.poll(() => waits().length).toBe(1)
    waited.push(...waits())
  }
  expect(waited).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  timers.fire()
  await expect.poll(() => writes.length).toBe(9)
  writes[8]?.end()
  await expect.poll(() => said).toEqual(['failed: ENOSPC', 'recovered'])
  expect(waits()).toEqual([])
})

test('now() rejects when its checkpoint fails', async () => {
  const { subject, writes } = checkpointer()
  const asked = subject.now()
  await expect.poll(() => writes.length).toBe(1)
  writes[0]?.fail('ENOSPC')
  await expect(asked).rejects.toThrow('ENOSPC')
})

test('urge() does not wait for the end of the pause', async () => {
  const { subject, writes, waits } = checkpointer(50_000_000)
  subject.changed()
  subject.urge()
  expect(waits()).toEqual([])
  await expect.poll(() => writes.length).toBe(1)
  writes[0]?.end()
})

test('stop() waits for the checkpoint in progress and begins no other', async () => {
  const { subject, writes, waits } = checkpointer()
  subject.now()
  await expect.poll(() => writes.length).toBe(1)
  subject.changed()
  const stopped = subject.stop()
  writes[0]?.end()
  await stopped
  expect(waits()).toEqual([])
  subject.changed()
  subject.urge()
  expect(waits()).toEqual([])
  expect(writes).toHaveLength(1)
})
