import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { DAY, formatDuration, formatInstant, parseDuration, parseInstant } from './instant.ts'

test.for([
  ['2024-03-01', '2024-03-01T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['0050-01-01', '0050-01-01T00:00:00.000Z'],
  ['2024-03-01T00:00:00+02:00', '2024-02-29T22:00:00.000Z'],
  ['2024-03-01T00:00:00', '2024-03-01T00:00:00.000Z'],
  ['2024-03-01T23:59:59.9999Z', '2024-03-01T23:59:59.999Z'],
  ['2024-03-01T05:00:00-05:30', '2024-03-01T10:30:00.000Z'],
  ['2024-03-01T05:00:00.1z', '2024-03-01T05:00:00.100Z'],
  ['2024-03-01t05:00:00Z', '2024-03-01T05:00:00.000Z'],
  ['2024-03-01T23:59:00+23:59', '2024-03-01T00:00:00.000Z'],
])('%s is %s', { tags: ['R166', 'T24'] }, ([text, instant]) => {
  expect(formatInstant(parseInstant(text as string)?.ms ?? Number.NaN)).toBe(instant)
})

const NO_INSTANTS = [
  ...'2024-02-30|2023-02-29|2024-1-1|0|yesterday||2024-13-01|2024-03-01T24:00:00Z'.split('|'),
  ...'2024-03-01T00:00:00 02:00|2024-03-01T00:00|2024-03-01T00:00:00+2:00|20240301| 2024-03-01'.split('|'),
  ...'2024-03-01T00:60:00Z|2024-03-01T00:00:60Z|2024-03-01T00:00:00+24:00'.split('|'),
  ...'2024-03-01T00:00:00-00:60'.split('|'),
]

test.for(NO_INSTANTS)('%j is refused', { tags: ['R166'] }, (text) => {
  expect(parseInstant(text)).toBeUndefined()
})

test('a date without a time is reported as a whole day', { tags: ['R166'] }, () => {
  const named = ['2024-03-01', '2024-03-01T00:00:00Z'].map((text) => parseInstant(text)?.dateOnly)
  expect(named).toEqual([true, false])
})

test('every instant survives being written and read', { tags: ['R003'] }, () =>
  forAll(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => {
    expect(parseInstant(formatInstant(ms))).toEqual({ ms, finer: '', dateOnly: false })
  }),
)

test.for([
  ['250ms', 250],
  ['90s', 90_000],
  ['10m', 600_000],
  ['24h', 86_400_000],
  ['29d', 2_505_600_000],
  ['PT24H', 86_400_000],
  ['P29D', 2_505_600_000],
  ['P1DT1H1M1.5S', 90_061_500],
  ['1.5s', 1_500],
  ['0s', 0],
] as const)('the duration %s has %d ms', ([text, ms]) => {
  expect(parseDuration(text)).toBe(ms)
})

const NO_DURATIONS = ['', '10', 'h', '-1h', '1y', 'P', 'PT', 'P1M', '1h30m', '1e3s', ' 1h']

test.for(NO_DURATIONS)('the duration %j is refused', (text) => {
  expect(parseDuration(text)).toBeUndefined()
})

test('a duration is written in the largest unit that divides it', () => {
  expect([86_400_000, 5_400_000, 1_500, 0].map(formatDuration)).toEqual(['1d', '90m', '1500ms', '0ms'])
})

test('an instant is written as Date writes it', () =>
  forAll(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.integer({ min: 0, max: DAY }), (ms, more) => {
    const at = Math.min(ms + more, 8.64e15)
    expect(formatInstant(at)).toBe(new Date(at).toISOString())
  }))
