import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { END_OF_TIME } from '../../core/time/clock.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { cronExpression, nextOccurrence } from './cron.ts'

const NOON = Date.parse('2026-03-01T12:00:00.000Z') // a Sunday

function occurrences(expression: string, count: number, after = NOON): string[] {
  const found: string[] = []
  let last = after
  for (let n = 0; n < count; n++) {
    const next = nextOccurrence(expression, last)
    if (next === undefined) break
    found.push(formatInstant(next))
    last = next
  }
  return found
}

function problem(expression: unknown): string | undefined {
  return cronExpression().safeParse(expression).error?.issues[0]?.message
}

test.for<[expression: string, first: string, second: string]>([
  ['30 6 * * 1-5', '2026-03-02T06:30:00.000Z', '2026-03-03T06:30:00.000Z'],
  ['0 12 * * *', '2026-03-02T12:00:00.000Z', '2026-03-03T12:00:00.000Z'],
  ['*/15 20-21 * * SUN', '2026-03-01T20:00:00.000Z', '2026-03-01T20:15:00.000Z'],
  ['*/20 * * * * *', '2026-03-01T12:00:20.000Z', '2026-03-01T12:00:40.000Z'],
  ['  5 0 1 JAN,jul *  ', '2026-07-01T00:05:00.000Z', '2027-01-01T00:05:00.000Z'],
  ['0 0 L * *', '2026-03-31T00:00:00.000Z', '2026-04-30T00:00:00.000Z'],
  ['0 0 * * FRI#2', '2026-03-13T00:00:00.000Z', '2026-04-10T00:00:00.000Z'],
  ['0 0 29 2 *', '2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z'],
  ['0 0 13 * 5', '2026-03-06T00:00:00.000Z', '2026-03-13T00:00:00.000Z'],
  ['0 0 29 2 +1', '2044-02-29T00:00:00.000Z', '2072-02-29T00:00:00.000Z'],
  ['@hourly', '2026-03-01T13:00:00.000Z', '2026-03-01T14:00:00.000Z'],
  ['@Weekly', '2026-03-08T00:00:00.000Z', '2026-03-15T00:00:00.000Z'],
  ['@yearly', '2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'],
])('%s occurs in UTC at %s and %s', ([expression, first, second]) => {
  expect(problem(expression)).toBeUndefined()
  expect(occurrences(expression, 2)).toEqual([first, second])
})

test('an occurrence is strictly after the instant, to the millisecond', () => {
  const hour = 3_600_000
  const next = [-1, 0, 1, hour - 1].map((ms) => (nextOccurrence('0 * * * *', NOON + ms) ?? 0) - NOON)
  expect(next).toEqual([0, hour, hour, hour])
})

test('no other occurrence is between an instant and the next occurrence', () => {
  const expressions = ['*/7 * * * *', '13 4 * * *', '*/11 3-5 * * * *', '0 6 L * *', '59 23 31 12 0']
  const instants = fc.integer({ min: -60_000_000_000_000, max: END_OF_TIME - 400 * 366 * 86_400_000 })
  const parts = fc.double({ min: 0, max: 1, noNaN: true })
  forAll(fc.constantFrom(...expressions), instants, parts, (expression, after, part) => {
    const next = nextOccurrence(expression, after) ?? Number.NaN
    expect(next).toBeGreaterThan(after)
    expect(nextOccurrence(expression, Math.floor(after + (next - 1 - after) * part))).toBe(next)
  })
})

test('more expressions than the cache holds have correct occurrences', () => {
  const minutes = Array.from({ length: 150 }, (_, n) => n + 1)
  const expressions = minutes.map((n) => `${n % 60} ${Math.floor(n / 60)} * * *`)
  const wanted = minutes.map((n) => formatInstant(Date.UTC(2026, 2, 2, 0, n)))
  for (let round = 0; round < 2; round++)
    expect(expressions.flatMap((expression) => occurrences(expression, 1))).toEqual(wanted)
})

test.for<[expression: string, reason: string]>([
  ['', 'has 0 fields'],
  ['daily', 'has 1 field'],
  ['* * * *', 'has 4 fields'],
  ['0 0 0 1 1 * 2030', 'has 7 fields'],
  ['2026-03-01T12:00:00Z', 'has 1 field'],
  ['0 0 1 1 12:30', 'illegal characters'],
  ['@reboot', 'the nicknames are @yearly'],
  ['@fortnightly', 'and @hourly'],
  ['60 * * * *', 'Invalid value for minute: 60'],
  ['* 24 * * *', 'Invalid value for hour: 24'],
  ['* * 0 * *', 'Invalid value for day'],
  ['* * * 13 *', 'Invalid value for month'],
  ['*/0 * * * *', 'illegal stepping: 0'],
  ['30-10 * * * *', 'From value is larger'],
  ['x * * * *', 'illegal characters'],
])('"%s" is refused: %s', ([expression, reason]) => {
  const said = problem(expression)
  expect(said).toContain('must be a cron expression in UTC of 5 fields')
  expect(said).toContain('"30 6 * * 1-5"')
  expect(said).toContain(reason)
  expect(said).not.toMatch(/CronPattern|seven/)
})

test.for(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '* * * 1 2 +1#5'])('no year has the day of %s', (never) => {
  expect(problem(never)).toMatch(/would never fire.*use null/)
})

test('an expression has at most 255 characters', () => {
  const long = (length: number) => '0,'.repeat((length - 9) / 2).concat('0 * * * *')
  expect([long(255).length, problem(long(255))]).toEqual([255, undefined])
  expect(problem(long(257))).toBe('must have at most 255 characters')
})

test.for([1, true, {}, []])('%j is refused, since it is not a string', (value) => {
  expect(problem(value)).toBeDefined()
})
