import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Axis, clustered, fittedAxis, labelsOf, linearAxis, type Span } from './axis.ts'

const NINE = Date.UTC(2026, 2, 1, 9)
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]
const instant = (ms: number): Span => ({ from: NINE + ms, to: NINE + ms })
const batch = (from: number, to: number): Span => ({ from: NINE + from, to: NINE + to })

const pxOf = (axis: Axis, { from, to }: Span) => axis.at(to) - axis.at(from)
const foldsOf = ({ stretches }: Axis) => stretches.filter(({ isFolded }) => isFolded)

test('three seconds of batches fill most of an axis that also shows the next day', () => {
  const batches = [batch(0, 3 * SECOND), batch(SECOND, 2 * SECOND)]
  const axis = fittedAxis([...batches, instant(20 * MINUTE), instant(24 * HOUR)], 840)
  expect(pxOf(axis, batch(0, 3 * SECOND))).toBeGreaterThan(600)
  expect(foldsOf(axis)).toHaveLength(2)
})

test('the axis begins with its first event, and ends with its last one', () => {
  const axis = fittedAxis([instant(HOUR), batch(0, MINUTE)], 400)
  expect([axis.at(NINE), axis.at(NINE + HOUR)]).toEqual([24, 376])
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

test('labels are round instants, and none is cut by a fold', () => {
  const axis = fittedAxis([batch(0, 10 * MINUTE), instant(24 * HOUR)], 840)
  const labels = labelsOf(axis)
  expect(labels.slice(0, 3)).toEqual([NINE, NINE + 5 * MINUTE, NINE + 10 * MINUTE].slice(0, labels.length))
  const [fold] = foldsOf(axis)
  for (const label of labels) expect((fold?.left ?? 0) - axis.at(label)).toBeGreaterThan(40)
})

test('marks that are closer than 24 px become one group', () => {
  expect(clustered([70, 0, 23, 24], (px) => px).map(({ items }) => items)).toEqual([[0, 23], [24], [70]])
})

const DAY = 24 * HOUR
const contents = fc.record({
  width: fc.integer({ min: 200, max: 2_000 }),
  batches: fc.array(fc.tuple(fc.nat(30 * DAY), fc.integer({ min: SECOND, max: DAY })), {
    minLength: 1,
    maxLength: 40,
  }),
  instants: fc.array(fc.nat(40 * DAY), { maxLength: 40 }),
})

test('whatever is on a fitted axis: batches take most of it, and a fold is narrower than what it hides', () => {
  fc.assert(
    fc.property(contents, ({ width, batches, instants }) => {
      const spans = [...batches.map(([from, length]) => batch(from, from + length)), ...instants.map(instant)]
      const axis = fittedAxis(spans, width)
      const firstInstant = Math.min(...spans.map(({ from }) => from))
      const lastInstant = Math.max(...spans.map(({ to }) => to))
      expect(axis.at(firstInstant)).toBeCloseTo(24)
      expect(axis.at(lastInstant)).toBeCloseTo(width - 24)
      // The axis is without holes, and every instant is where `instantAt` finds it.
      let [px, time] = [0, axis.from]
      for (const { left, right, from, to } of axis.stretches) {
        expect(left).toBeCloseTo(px)
        expect([from, right >= left, to >= from]).toEqual([time, true, true])
        ;[px, time] = [right, to]
      }
      expect([px, time]).toEqual([expect.closeTo(width), axis.to])
      for (const { from } of spans)
        expect(axis.at(axis.instantAt(axis.at(from)))).toBeCloseTo(axis.at(from), 1)
      const outside = axis.stretches.find(({ isFolded }) => !isFolded) as (typeof axis.stretches)[number]
      const scale = (outside.right - outside.left) / (outside.to - outside.from)
      for (const { from, to, left, right } of foldsOf(axis)) {
        expect((to - from) * scale).toBeGreaterThanOrEqual(right - left)
        // No batch is in it.
        for (const span of spans) expect(span.to <= from + 1 || span.from >= to - 1).toBe(true)
      }
      const seen = new Set<number>()
      for (const span of spans)
        if (span.to > span.from)
          for (let at = Math.ceil(axis.at(span.from)); at < axis.at(span.to); at++) seen.add(at)
      expect(seen.size).toBeGreaterThan(0.6 * (width - 48) - 2 * batches.length)
    }),
    { numRuns: 200 },
  )
})
