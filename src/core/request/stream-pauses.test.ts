import { expect, test } from 'vitest'
import { clockwork } from '../../../test/support/clockwork.ts'
import { streamOf } from './stream.ts'
import { streamPauses } from './stream-pauses.ts'

const real = streamOf({ lines: [] })

function timers() {
  const waiting = new Map<() => void, number>()
  const later = (ms: number, call: () => void) => {
    waiting.set(call, ms)
    return () => void waiting.delete(call)
  }
  return { waiting, later }
}

test('while the clock of the sandbox runs, a pause is real time', async () => {
  const { waiting, later } = timers()
  const pauses = streamPauses(await clockwork({ rate: 60 }), 'r1', real, later)
  expect(await pauses.next(0)).toBe(true)
  const next = pauses.next(250)
  expect([...waiting.values()]).toEqual([250])
  for (const fire of waiting.keys()) fire()
  expect(await next).toBe(true)
})

test('a client that leaves ends the pause, and no timer stays', async () => {
  const { waiting, later } = timers()
  const pauses = streamPauses(await clockwork({ rate: 1 }), 'r1', real, later)
  const next = pauses.next(250)
  pauses.stop()
  expect([await next, await pauses.next(250), waiting.size]).toEqual([false, false, 0])
})
