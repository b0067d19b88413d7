import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forAll } from '../../../test/support/for-all.ts'
import { Settings } from '../../core/assumptions.ts'
import { DAY, formatInstant } from '../../core/time/instant.ts'
import { queryInstant, windowOf } from './window.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const instant = (text: string | undefined) => (text === undefined ? undefined : queryInstant().parse(text))

function read(start?: string, end?: string, values: object = {}) {
  const notes: string[] = []
  const settings = new Settings({ ...values })
  const assume: Parameters<typeof windowOf>[1]['assume'] = (setting) => {
    notes.push(setting.item)
    return settings.get(setting)
  }
  return { window: windowOf({ start: instant(start), end: instant(end) }, { now: NOW, assume }), notes }
}

function spanOf(window: ReturnType<typeof windowOf>) {
  if (window === undefined) return undefined
  const { from, until } = window
  return [from.ms, until.ms - (until.finer === '' ? 1 : 0)].map(formatInstant)
}

test.for([
  [undefined, '2024-03-30', '2024-01-01T00:00:00.000Z', '2024-03-30T23:59:59.999Z'],
  [undefined, undefined, '2025-12-02T00:00:00.000Z', '2026-03-01T12:00:00.000Z'],
  ['2026-02-01', undefined, '2026-02-01T00:00:00.000Z', '2026-03-01T12:00:00.000Z'],
] as const)('from %s to %s covers %s to %s', { tags: ['R163', 'U028'] }, ([start, end, first, last]) => {
  expect(spanOf(read(start, end).window)).toEqual([first, last])
})

test.for([
  ['2024-03-01T10:00:00.001Z', '2024-03-01T10:00:00Z'],
  ['2026-03-02', undefined],
] as const)(
  'from %s to %s is no window, or by a setting refused',
  { tags: ['R163', 'U028'] },
  ([start, end]) => {
    expect(read(start, end)).toMatchObject({ window: undefined, notes: expect.arrayContaining(['U028']) })
    expect(() => read(start, end, { 'consumption.start_after_end': 'reject' })).toThrow(/after end_date/)
  },
)

test.for([
  ['a common year', '2023-01-01', '2023-03-31', '2023-04-01'],
  ['date-times', '2024-01-01T23:59:59.999Z', '2024-03-30T23:59:59.999Z', '2024-03-31T00:00:00.000Z'],
  ['offsets', '2024-01-01T01:00:00+02:00', '2024-03-29T23:00:00Z', '2024-03-30T00:00:00Z'],
] as const)('in %s 90 dates pass, 91 do not', { tags: ['R169', 'R284', 'T22'] }, ([, start, last, over]) => {
  expect(read(start, last).notes).toEqual([])
  expect(() => read(start, over)).toThrow(/touches 91 UTC calendar days/)
})

test('the day count "difference" accepts 91 dates, but not 92', { tags: ['R169', 'T22'] }, () => {
  const values = { 'consumption.day_count': 'difference' }
  const { window, notes } = read('2024-01-01', '2024-03-31', values)
  expect(spanOf(window)).toEqual(['2024-01-01T00:00:00.000Z', '2024-03-31T23:59:59.999Z'])
  expect(notes).toEqual(['T22'])
  expect(() => read('2024-01-01', '2024-04-01', values)).toThrow(/touches 92/)
})

test('a setting cuts a long window to its last 90 dates, or empties it', { tags: ['R169', 'U027'] }, () => {
  const cut = read('2024-01-01', '2024-12-31T12:00:00Z', { 'consumption.over_90': 'clamp' })
  expect(spanOf(cut.window)).toEqual(['2024-10-03T00:00:00.000Z', '2024-12-31T12:00:00.000Z'])
  expect(cut.notes).toEqual(['U027'])
  expect(read('2024-01-01', '2024-12-31', { 'consumption.over_90': 'empty' }).window).toBeUndefined()
})

test('a window is accepted exactly when it touches at most 90 dates', { tags: ['R169'] }, () => {
  const instants = fc.integer({ min: 0, max: 200 * DAY }).map((ms) => Date.UTC(2024, 0, 1) + ms)
  forAll(instants, instants, (a, b) => {
    const [start, end] = [formatInstant(Math.min(a, b)), formatInstant(Math.max(a, b))]
    const dates = new Set<string>()
    for (let day = Date.parse(start.slice(0, 10)); day <= Date.parse(end); day += DAY)
      dates.add(formatInstant(day).slice(0, 10))
    if (dates.size > 90) expect(() => read(start, end)).toThrow(/calendar days/)
    else expect(spanOf(read(start, end).window)).toEqual([start, end])
  })
})
