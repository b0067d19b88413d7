import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchInTime, withMatchTime } from '../../core/regex.ts'
import { CallRefused, plainData, withinTime } from './run-function.ts'

test('every JSON value is kept unchanged, with any names', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { data, issues } = plainData(value)
      expect(issues).toEqual([])
      expect(JSON.stringify(data)).toBe(JSON.stringify(value))
    }),
  )
  const odd = JSON.parse('{"__proto__": {"constructor": 1}, "": [null]}')
  expect(JSON.stringify(plainData(odd).data)).toBe('{"__proto__":{"constructor":1},"":[null]}')
})

test('a value that JSON cannot represent is reported with its place', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const value = { a: Number.NaN, 'b/c': [1n, undefined], d: new Map(), circle }
  expect(plainData(value).issues).toMatchObject([
    { pointer: '/a', detail: 'is NaN, which JSON cannot represent' },
    { pointer: '/b~1c/0', detail: 'is of the type bigint, which JSON cannot represent' },
    { pointer: '/b~1c/1', detail: 'is of the type undefined, which JSON cannot represent' },
    { pointer: '/d', detail: expect.stringContaining('is a Map') },
    { pointer: '/circle/self', detail: 'is nested too deep, or contains itself' },
  ])
})

test('a date becomes its timestamp, and an undefined field is left out', () => {
  const value = { now: new Date('2026-03-01T12:00:00Z'), none: undefined, bare: Object.create(null) }
  expect(JSON.stringify(plainData(value).data)).toBe('{"now":"2026-03-01T12:00:00.000Z","bare":{}}')
})

test('a function that is stopped inside a match leaves the match time of others as it was', () => {
  const stopped = () =>
    withMatchTime(0, () => {
      for (;;);
    })
  expect(() => withinTime(stopped, 20)).toThrow(CallRefused)
  expect(matchInTime(() => true)).toBe(true)
})
