import { DAY, HOUR, MINUTE, SECOND } from '../core/time/instant.ts'
import { dayText, timeOfDay } from './format.ts'

/** A time between two instants, in virtual milliseconds. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A stretch of the axis: instants, and where they are in px. */
interface Stretch extends Span {
  readonly left: number
  readonly right: number
  readonly isFolded: boolean
}

/** The axis of virtual time. */
export interface Axis extends Span {
  readonly stretches: readonly Stretch[]
  readonly width: number
  /** The contents: their first and last instant, and the instants at which they go on after a fold. */
  readonly first: number
  readonly last: number
  readonly begins: readonly number[]
  /** The place of an instant, in px. An instant outside the axis is at its nearer end. */
  at(instant: number): number
  /** The instant at a place. */
  instantAt(px: number): number
}

/** Px before the first and after the last of the contents, so that marks there are whole. */
const ROOM = 24

/** Px of a fold, wide enough for its length, and of the time that stays visible before and after it. */
export const FOLD = 16
const MARGIN = 6
const ONE = FOLD + 2 * MARGIN

/** A gap of at most this many px is not folded. */
const GAP = 64

/** The part of the axis that all folds together have at most. The rest shows batches. */
const FOLDS_SHARE = 0.5

const lengthOf = ({ from, to }: Span) => to - from
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

/** An axis on which every px has the same duration. */
export function linearAxis({ from, to }: Span, width: number): Axis {
  return axisOf([{ from, to, left: 0, right: width, isFolded: false }], { from, to }, [], width)
}

/**
 * An axis from the first to the last of its contents. Gaps between them are folded if every fold has room for its length: all long
 * gaps, or those that are clearly longer than the others. Without batches it is linear.
 * @param contents the times of batches, and times without a length for all other instants that it should show
 * @param now an instant that is never in a fold
 */
export function fittedAxis(contents: readonly Span[], width: number, now?: number): Axis {
  const spans = joined(contents)
  const whole = { from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0 }
  const inner = Math.max(1, width - 2 * ROOM)
  const most = Math.floor((FOLDS_SHARE * inner) / ONE)
  const hasBatches = spans.some((each) => lengthOf(each) > 0)
  // Gaps around a single instant are one, so that one fold has their whole length.
  const isFixed = (each: Span) => lengthOf(each) > 0 || [now, whole.from, whole.to].includes(each.from)
  const fixed = spans.filter(isFixed)
  const gaps = fixed.slice(1).map(({ from }, index) => ({ from: (fixed[index] as Span).to, to: from }))
  const folds = hasBatches ? longGaps(gaps, most, lengthOf(whole), inner) : []
  const shown = Math.max(MINUTE * Number(!hasBatches), lengthOf(whole) - sum(folds.map(lengthOf)), 1)
  const scale = (inner - folds.length * ONE) / shown
  const stretches: Stretch[] = []
  let from = whole.from - ROOM / scale
  let left = 0
  const add = (to: number, folded?: number) => {
    const right = left + (folded ?? (to - from) * scale)
    stretches.push({ from, to, left, right, isFolded: folded !== undefined })
    from = to
    left = right
  }
  for (const gap of folds) {
    // A margin of a few px, in which time passes as fast as elsewhere.
    add(gap.from + MARGIN / scale)
    add(gap.to - MARGIN / scale, FOLD)
  }
  add(from + (width - left) / scale)
  const begins = folds.map(({ to }) => to)
  return axisOf(stretches, whole, begins, width)
}

/** Times in order, those that overlap as one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = []
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last === undefined || span.from > last.to) result.push(span)
    else result[result.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
  }
  return result
}

/** The gaps that are folded on an axis of `inner` px, in order: at most `most`. */
function longGaps(gaps: readonly Span[], most: number, whole: number, inner: number): readonly Span[] {
  const longest = [...gaps].sort((a, b) => lengthOf(b) - lengthOf(a))
  const lengths = longest.map(lengthOf)
  for (let count = Math.min(most, gaps.length); count > 0; count -= 1) {
    const [least = 0, next = 0] = [lengths[count - 1], lengths[count]]
    // Of many similar gaps none is folded: the px of each time would differ for no reason.
    if (gaps.length > most && least < 2 * next) continue
    const scale = (inner - count * ONE) / Math.max(1, whole - sum(lengths.slice(0, count)))
    if (least * scale > GAP) return longest.slice(0, count).sort((a, b) => a.from - b.from)
  }
  return []
}

function axisOf(stretches: readonly Stretch[], whole: Span, begins: readonly number[], width: number): Axis {
  const [first, last] = [stretches[0], stretches.at(-1)] as [Stretch, Stretch]
  const at = (instant: number) => {
    const { from, to, left, right } = stretches.find((each) => instant <= each.to) ?? last
    const share = (instant - from) / Math.max(1e-9, to - from)
    return Math.min(width, Math.max(0, left + share * (right - left)))
  }
  const instantAt = (px: number) => {
    const { from, to, left, right } = stretches.find((each) => px <= each.right) ?? last
    return from + ((px - left) / Math.max(1e-9, right - left)) * (to - from)
  }
  return {
    ...{ stretches, from: first.from, to: last.to, width, at, instantAt, begins },
    ...{ first: whole.from, last: whole.to },
  }
}

/** Durations between labels, the next one at most 2.5 times as long. */
const STEPS = [
  ...[100, 200, 500],
  ...[SECOND, MINUTE].flatMap((unit) => [1, 2, 5, 10, 15, 30].map((count) => count * unit)),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000].map((count) => count * DAY),
]

/** Px between two labels: at least, where there is no fold, and at most. */
const [NEAR, FAR] = [64, 160]

/** An instant on the axis that has a text, and the px that the text takes. */
export interface AxisLabel {
  readonly at: number
  readonly px: number
  readonly left: number
  readonly right: number
  readonly time: string
  /** Undefined if it is the day of the label before. */
  readonly day: string | undefined
}

/** Px of the time at the line of now, and at least between two texts. */
const [BADGE, BETWEEN] = [76, 4]

/** The px of a text of 11 px in a wide font, with some room. */
const pxOf = (text: string) => 7 * text.length - 3.2 * (text.split(/[:. ]/).length - 1) + 6

/** The px of a text in the middle of which an instant is; at an end of the axis, next to that end. */
function around(px: number, width: number, { width: whole }: Axis) {
  const left = Math.max(1, Math.min(whole - width - 1, px - width / 2))
  return { px, left, right: left + width }
}

/**
 * Labels at the first instant, at the last one, and at most 160 px from each other where a text fits between them, counting the line
 * of now, which has its own. No two overlap.
 */
export function labelsOf(axis: Axis, now: number): readonly AxisLabel[] {
  const open = axis.stretches.filter(({ isFolded }) => !isFolded)
  // It is the same outside all folds.
  const [{ from, to, left, right }] = open as [Stretch, ...Stretch[]]
  const perPx = (to - from) / Math.max(1, right - left)
  const step = STEPS.find((each) => each >= NEAR * perPx) ?? (STEPS.at(-1) as number)
  const label = (at: number, before: number): AxisLabel => {
    const [whole, tenths] = [timeOfDay(at), Math.floor((at % SECOND) / 100)]
    const isExact = step < MINUTE && at % MINUTE >= SECOND
    const time = step < SECOND && tenths > 0 ? `${whole}.${tenths}` : isExact ? whole : whole.slice(0, 5)
    const day = dayText(at, now) === dayText(before, now) ? undefined : dayText(at, before)
    const width = Math.max(pxOf(time), pxOf(day ?? ''))
    return { at, time, day, ...around(axis.at(at), width, axis) }
  }
  const badge = { at: now, time: '', day: undefined, ...around(axis.at(now), BADGE, axis) }
  const areApart = (a: AxisLabel, b: AxisLabel) => a.right + BETWEEN <= b.left || b.right + BETWEEN <= a.left
  const first = label(axis.first, now)
  const last = label(axis.last, axis.first)
  const ends = [first, last].filter((each, n) => areApart(each, badge) && (n === 0 || areApart(first, last)))
  const round = open.flatMap(({ from, to }) => {
    const begin = Math.ceil(from / step) * step
    return Array.from({ length: Math.floor((to - begin) / step) + 1 }, (_, n) => begin + n * step)
  })
  const wanted = [...round, ...axis.begins].sort((a, b) => a - b)
  const found: AxisLabel[] = []
  const fixed = [...ends, badge].sort((a, b) => a.px - b.px)
  for (const [index, begin] of fixed.entries()) {
    const end = fixed[index + 1]
    let next: AxisLabel | undefined = begin
    while (next !== undefined) {
      if (next !== badge) found.push(next)
      next = end && nextLabel(next, end)
    }
  }
  return found

  /** The next round instant, or the beginning after a fold; if there is none within 160 px, any instant that is not in a fold. */
  function nextLabel(before: AxisLabel, to: AxisLabel): AxisLabel | undefined {
    const fits = (each: AxisLabel) => before.right + BETWEEN <= each.left && each.right + BETWEEN <= to.left
    for (const at of wanted) {
      const each = at > before.at ? label(at, before.at) : before
      if (each.px > before.px + FAR) break
      if (each !== before && fits(each)) return each
    }
    if (to.px - before.px <= FAR) return undefined
    const px = Math.min(before.px + FAR - FOLD, to.left - 40)
    const fold = axis.stretches.find((each) => each.isFolded && px > each.left && px < each.right)
    const any = label(Math.round(axis.instantAt(fold?.left ?? px)), before.at)
    return fits(any) ? any : undefined
  }
}

/** Groups items by their place on the axis: an item less than 24 px after the first one of a group joins it. */
export function clustered<T>(items: readonly T[], placeOf: (item: T) => number) {
  const groups: { px: number; items: [T, ...T[]] }[] = []
  const placed = items.map((item) => ({ item, px: placeOf(item) }))
  for (const { item, px } of placed.sort((a, b) => a.px - b.px)) {
    const last = groups.at(-1)
    if (last !== undefined && px - last.px < 24) last.items.push(item)
    else groups.push({ px, items: [item] })
  }
  return groups
}
