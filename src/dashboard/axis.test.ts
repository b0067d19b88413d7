import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Axis, clustered, FOLD, fittedAxis, labelsOf, linearAxis, type Span } from './axis.ts'

const NINE = Date.UTC(2026, 2, 1, 9)
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
const instant = (ms: number): Span => ({ from: NINE + ms, to: NINE + ms })
const batch = (from: number, to: number): Span => ({ from: NINE + from, to: NINE + to })

const pxOf = (axis: Axis, { from, to }: Span) => axis.at(to) - axis.at(from)
const foldsOf = ({ stretches }: Axis) => stretches.filter(({ isFolded }) => isFolded)

test('three seconds of batches fill most of an axis that also shows the next day', () => {
  const batches = [batch(0, 3 * SECOND), batch(SECOND, 2 * SECOND)]
  const axis = fittedAxis([...batches, instant(20 * MINUTE), instant(24 * HOUR)], 840)
  expect(pxOf(axis, batch(0, 3 * SECOND))).toBeGreaterThan(600)
  expect(foldsOf(axis)).toHaveLength(1)
})

test('of nine equal gaps each is folded, and is wide enough for its length; of sixty none is', () => {
  const every = (count: number) =>
    Array.from({ length: count }, (_, n) => batch(n * HOUR, n * HOUR + 3 * MINUTE))
  const nine = fittedAxis(every(10), 800)
  expect(foldsOf(nine).map(({ left, right }) => right - left)).toEqual(Array(9).fill(expect.closeTo(FOLD)))
  expect(nine.begins).toEqual(
    every(10)
      .slice(1)
      .map(({ from }) => from),
  )
  expect(foldsOf(fittedAxis(every(61), 800))).toEqual([])
  // One gap that is far longer than the others is folded even then.
  expect(foldsOf(fittedAxis([...every(61), batch(90 * DAY, 90 * DAY + HOUR)], 800))).toHaveLength(1)
})

test('gaps around a single instant are one fold, but never those around now', () => {
  const instants = Array.from({ length: 40 }, (_, n) => instant((n + 1) * HOUR))
  const contents = [batch(0, MINUTE), ...instants, batch(60 * HOUR, 60 * HOUR + MINUTE)]
  expect(foldsOf(fittedAxis(contents, 800))).toHaveLength(1)
  expect(foldsOf(fittedAxis(contents, 800, NINE + 20 * HOUR))).toHaveLength(2)
})

test('an axis without batches is linear, and at least a minute long', () => {
  const day = fittedAxis([instant(0), instant(SECOND), instant(11 * HOUR)], 800)
  expect(foldsOf(day)).toEqual([])
  expect(day.at(NINE + 5.5 * HOUR)).toBeCloseTo(400)
  const alone = fittedAxis([instant(0)], 848)
  expect(alone.at(NINE + 30 * SECOND)).toBeCloseTo(424)
})

test('a range has the same scale everywhere', () => {
  const axis = linearAxis(batch(0, HOUR), 600)
  expect([axis.at(NINE - 1), axis.at(NINE + HOUR / 4), axis.at(NINE + 2 * HOUR)]).toEqual([0, 150, 600])
  expect(axis.instantAt(300)).toBe(NINE + HOUR / 2)
})

test('labels are round instants where they fit, and the day is said where it changes', () => {
  const labels = labelsOf(linearAxis(batch(-9 * HOUR, 39 * HOUR), 800), NINE + 30 * HOUR)
  expect(labels.map(({ time, day }) => [time, day])).toEqual([
    ['00:00', '1 Mar'],
    ['06:00', undefined],
    ['12:00', undefined],
    ['18:00', undefined],
    ['00:00', '2 Mar'],
    ['06:00', undefined],
    ['00:00', '3 Mar'],
  ])
})

test('marks that are closer than 24 px become one group', () => {
  expect(clustered([70, 0, 23, 24], (px) => px).map(({ items }) => items)).toEqual([[0, 23], [24], [70]])
})

const contents = fc.record({
  width: fc.integer({ min: 236, max: 2_000 }),
  batches: fc.array(fc.tuple(fc.nat(30 * DAY), fc.integer({ min: SECOND, max: DAY })), {
    minLength: 1,
    maxLength: 40,
  }),
  instants: fc.array(fc.nat(40 * DAY), { maxLength: 40 }),
})

test('whatever is on a fitted axis: it has no holes, no batch is in a fold, and its times are readable', () => {
  fc.assert(
    fc.property(
      contents,
      fc.double({ min: 0, max: 1, noNaN: true }),
      ({ width, batches, instants }, share) => {
        const spans = [
          ...batches.map(([from, length]) => batch(from, from + length)),
          ...instants.map(instant),
        ]
        const firstInstant = Math.min(...spans.map(({ from }) => from))
        const lastInstant = Math.max(...spans.map(({ to }) => to))
        const now = Math.round(firstInstant + share * (lastInstant - firstInstant))
        const axis = fittedAxis([...spans, { from: now, to: now }], width, now)
        expect(axis.at(firstInstant)).toBeCloseTo(24)
        expect(axis.at(lastInstant)).toBeCloseTo(width - 24)
        // Every instant is where `instantAt` finds it.
        let [px, time] = [0, axis.from]
        for (const { left, right, from, to } of axis.stretches) {
          expect(left).toBeCloseTo(px)
          expect([from, right >= left, to >= from]).toEqual([time, true, true])
          ;[px, time] = [right, to]
        }
        expect([px, time]).toEqual([expect.closeTo(width), axis.to])
        for (const { from } of spans)
          expect(axis.at(axis.instantAt(axis.at(from)))).toBeCloseTo(axis.at(from), 1)
        for (const { from, to, left, right } of foldsOf(axis)) {
          expect(right - left).toBeCloseTo(FOLD)
          expect(now <= from || now >= to).toBe(true)
          for (const span of spans.filter((each) => each.to > each.from))
            expect(span.to <= from + 1 || span.from >= to - 1).toBe(true)
        }
        const labels = labelsOf(axis, now)
        for (const [index, { left, right }] of labels.entries()) {
          expect([left >= 0, right <= width]).toEqual([true, true])
          expect((labels[index + 1]?.left ?? width) >= right).toBe(true)
        }
        const places = [...labels.map((label) => label.px), axis.at(now)].sort((a, b) => a - b)
        expect(places[0]).toBeLessThan(24 + 80)
        expect(places.at(-1)).toBeGreaterThan(width - 24 - 80)
        for (const [index, place] of places.slice(1).entries()) {
          // At the right end the text of now is on one side: half a text, a text and that one, with 4 px between, are 160.6 px.
          const most = place === axis.at(now) && place > width - 39 ? 160.6 : 160.01
          expect(place - (places[index] as number)).toBeLessThanOrEqual(most)
        }
      },
    ),
    { numRuns: 300 },
  )
})
