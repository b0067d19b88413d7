import { expect, test, vi } from 'vitest'
import type { EventHandler } from '../operation.ts'
import { Preparations } from './preparations.ts'
import type { ScheduledEvent } from './scheduler.ts'

const event = { id: 'ring bells/1', kind: 'ring', ref: 'bells/1' } as ScheduledEvent

/** An event whose preparation has a number of pieces, with turns that begin when the test calls `nextTurn`. */
function prepared(pieces: number, fails = false) {
  const turns: (() => void)[] = []
  const onDefect = vi.fn()
  let done = 0
  const prepare = vi.fn(function* (): Generator<void, void> {
    for (; done < pieces; done++) yield
    if (fails) throw new Error('out of order')
  })
  const handler: EventHandler = {
    kind: 'ring',
    description: 'A bell rings.',
    prepare: () => (done < pieces || fails ? prepare() : undefined),
    handle: () => {},
  }
  const preparations = new Preparations({
    events: new Map([['ring', handler]]),
    turn: { events: 1, ms: 1, next: () => new Promise((resolve) => turns.push(resolve)) },
    scope: () => undefined as never,
    onDefect,
  })
  const nextTurn = async (): Promise<void> => {
    turns.shift()?.()
    await new Promise(setImmediate)
  }
  return { preparations, prepare, onDefect, nextTurn, done: () => done }
}

test('an event with little to prepare does not wait', () => {
  const { preparations, done } = prepared(3)
  expect(preparations.delay(event)).toBe(false)
  expect([done(), preparations.isIdle]).toEqual([3, true])
})

test('an event of another kind has nothing to prepare', () => {
  const { preparations, prepare } = prepared(9)
  expect(preparations.delay({ ...event, kind: 'other' })).toBe(false)
  expect(prepare).not.toHaveBeenCalled()
})

test('an event with much to prepare waits and is prepared once, one piece per turn', async () => {
  const { preparations, prepare, nextTurn, done } = prepared(7)
  expect([preparations.delay(event), preparations.delay(event)]).toEqual([true, true])
  expect([done(), preparations.isIdle, prepare.mock.calls.length]).toEqual([4 - 1, false, 1])
  let isIdle = false
  void preparations.whenIdle().then(() => {
    isIdle = true
  })
  await nextTurn()
  expect([done(), isIdle]).toEqual([4, false])
  for (let turn = 0; turn < 4; turn++) await nextTurn()
  expect([done(), isIdle, preparations.isIdle]).toEqual([7, true, true])
  expect(preparations.delay(event)).toBe(false)
})

test('an event whose preparation fails is no longer waited for, and the failure is reported', async () => {
  const { preparations, onDefect, nextTurn } = prepared(4, true)
  expect(preparations.delay(event)).toBe(true)
  await nextTurn()
  await preparations.whenIdle()
  expect(onDefect).toHaveBeenCalledWith(new Error('out of order'))
})
