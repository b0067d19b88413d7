import { expect, test } from 'vitest'
import { Sandboxes } from '../core/sandboxes/sandboxes.ts'
import { openWhenDue } from './open-when-due.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const MINUTE = 60_000

type WakeTime = number | 'never' | 'unknown'

/** Runs `openWhenDue` for saved sandboxes with these wake times. Time advances only by its pauses and 30 ms per opening. */
function opening(wakeTimes: Readonly<Record<string, WakeTime>>, stopAfter = Number.POSITIVE_INFINITY) {
  const opened: string[] = []
  const problems: string[] = []
  const waits: number[] = []
  let now = NOW
  const nothing = () => Promise.reject(new Error('nothing is made'))
  const sandboxes = new Sandboxes({
    start: nothing,
    make: nothing,
    open: async (name) => {
      opened.push(`${name} at ${Math.floor((now - NOW) / MINUTE)}`)
      now += 30
      throw new Error('broken')
    },
  })
  sandboxes.addSaved(Object.keys(wakeTimes))
  const due = Object.values(wakeTimes).filter((each) => each !== 'never').length
  return new Promise<{ opened: string[]; problems: string[]; waits: number[] }>((resolve) => {
    const stop = openWhenDue({
      sandboxes,
      wakeTime: (name) => {
        if (name === 'unreadable') throw new Error('no file')
        return wakeTimes[name] ?? 'never'
      },
      onProblem: (name, error) => problems.push(`${name}: ${(error as Error).message}`),
      later: (ms, call) => {
        waits.push(ms)
        if (waits.length > stopAfter) stop()
        // This is the pause after the last sandbox.
        if (opened.length === due || waits.length > stopAfter)
          queueMicrotask(() => resolve({ opened, problems, waits }))
        now += ms
        queueMicrotask(call)
        return () => {}
      },
      host: () => now,
    })
  })
}

test('sandboxes are opened in the order of their due times, a minute early, with a pause after each', async () => {
  const due = { later: NOW + 10 * MINUTE, over: NOW - MINUTE, soon: NOW + MINUTE }
  const { opened, problems, waits } = await opening({ ...due, never: 'never', unknown: 'unknown' })
  expect(opened).toEqual(['unknown at 0', 'over at 0', 'soon at 0', 'later at 9'])
  expect(waits).toEqual([30, 30, 30, 9 * MINUTE - 180, 30])
  expect(problems).toEqual(['unknown: broken', 'over: broken', 'soon: broken', 'later: broken'])
})

test('a sandbox with an unreadable file does not prevent others from being opened', async () => {
  const { opened, problems } = await opening({ due: NOW, unreadable: 'never' })
  expect(opened).toEqual(['due at 0'])
  expect(problems).toEqual(['unreadable: no file', 'due: broken'])
})

test('no sandbox is opened after a stop', async () => {
  const { opened } = await opening({ first: NOW, second: NOW }, 0)
  expect(opened).toEqual(['first at 0'])
})
