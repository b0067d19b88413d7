import { expect, test } from 'vitest'
import { matchInTime, withMatchTime } from '../../core/regex.ts'
import { CallRefused, withinTime } from './run-function.ts'

test('a function that is stopped inside a match leaves the match time of others as it was', () => {
  const stopped = () =>
    withMatchTime(0, () => {
      for (;;);
    })
  expect(() => withinTime(stopped, 20)).toThrow(CallRefused)
  expect(matchInTime(() => true)).toBe(true)
})
