import { MINUTE } from '../core/time/instant.ts'

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
  /** The place of an instant, in px. An instant outside the axis is at its nearer end. */
  at(instant: number): number
  /** The instant at a place. */
  instantAt(px: number): number
}

/** Px before the first and after the last of the contents, so that marks there are whole. */
const ROOM = 24

/** Maximum px of a gap. A gap that would be wider is folded, except for a margin at both of its ends. */
const GAP = 64
const MARGIN = 12

/** The part of the axis that all gaps together have at most. The rest shows batches. */
const GAPS_SHARE = 0.4

const lengthOf = ({ from, to }: Span) => to - from
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

/** An axis on which every px has the same duration. */
export function linearAxis({ from, to }: Span, width: number): Axis {
  return axisOf([{ from, to, left: 0, right: width, isFolded: false }], width)
}

/**
 * An axis from the first to the last of its contents. The longest gaps between them are folded, so that batches take most of
 * it. Without batches it is linear.
 * @param contents the times of batches, and times without a length for all other instants that it should show
 */
export function fittedAxis(contents: readonly Span[], width: number): Axis {
  const spans = joined(contents)
  const [first, last] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0]
  const inner = Math.max(1, width - 2 * ROOM)
  const gaps = spans.slice(1).map(({ from }, index) => ({ from: (spans[index] as Span).to, to: from }))
  const most = Math.min(GAP, (GAPS_SHARE * inner) / Math.max(1, gaps.length))
  const margin = Math.min(MARGIN, most / 4)
  const busy = sum(spans.map(lengthOf))
  const scale = busy === 0 ? inner / Math.max(MINUTE, last - first) : scaleOf(busy, gaps, inner, most)
  const stretches: Stretch[] = []
  let from = first - ROOM / scale
  let left = 0
  const add = (to: number, folded?: number) => {
    const right = left + (folded ?? (to - from) * scale)
    stretches.push({ from, to, left, right, isFolded: folded !== undefined })
    from = to
    left = right
  }
  for (const gap of busy === 0 ? [] : gaps) {
    if (lengthOf(gap) * scale <= most) continue
    add(gap.from + margin / scale)
    add(gap.to - margin / scale, most - 2 * margin)
  }
  add(from + (width - left) / scale)
  return axisOf(stretches, width)
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

/** Px per millisecond outside folds: everything has `width` px together, and no gap has more than `most`. */
function scaleOf(busy: number, gaps: readonly Span[], width: number, most: number): number {
  const lengths = gaps.map(lengthOf).sort((a, b) => a - b)
  let [time, px] = [busy + sum(lengths), width]
  for (;;) {
    const longest = lengths.pop()
    if (longest === undefined || (longest * px) / time <= most) return px / time
    time -= longest
    px -= most
  }
}

function axisOf(stretches: readonly Stretch[], width: number): Axis {
  const [first, last] = [stretches[0], stretches.at(-1)] as [Stretch, Stretch]
  const at = (instant: number) => {
    const { from, to, left, right } = stretches.find((each) => instant <= each.to) ?? last
    const share = (instant - from) / Math.max(1, to - from)
    return Math.min(width, Math.max(0, left + share * (right - left)))
  }
  const instantAt = (px: number) => {
    const { from, to, left, right } = stretches.find((each) => px <= each.right) ?? last
    return from + ((px - left) / Math.max(1, right - left)) * (to - from)
  }
  return { stretches, from: first.from, to: last.to, width, at, instantAt }
}

const STEPS = [
  1e3, 5e3, 15e3, 3e4, 6e4, 3e5, 6e5, 1.2e6, 3.6e6, 1.08e7, 2.16e7, 4.32e7, 8.64e7, 1.728e8, 6.048e8, 2.592e9,
  7.776e9,
]

/** Px of a label with its time alone. */
const LABEL = 48

/** Instants that get a label: round ones, at least 96 px apart, none in a fold or cut by one. */
export function labelsOf({ stretches, at }: Axis): readonly number[] {
  return stretches
    .filter(({ isFolded }) => !isFolded)
    .flatMap(({ from, to, left, right }) => {
      const perPx = (to - from) / Math.max(1, right - left)
      const step = STEPS.find((each) => each / perPx >= 96) ?? (STEPS.at(-1) as number)
      const first = Math.ceil(from / step) * step
      const count = Math.min(40, Math.floor((to - first) / step) + 1)
      const labels = Array.from({ length: Math.max(0, count) }, (_, index) => first + index * step)
      return labels.filter((instant) => right - at(instant) >= LABEL)
    })
}

/** Groups items by their place on the axis: an item less than 24 px after the first one of a group joins it. */
export function clustered<T>(
  items: readonly T[],
  placeOf: (item: T) => number,
): { px: number; items: T[] }[] {
  const groups: { px: number; items: T[] }[] = []
  const placed = items.map((item) => ({ item, px: placeOf(item) }))
  for (const { item, px } of placed.sort((a, b) => a.px - b.px)) {
    const last = groups.at(-1)
    if (last !== undefined && px - last.px < 24) last.items.push(item)
    else groups.push({ px, items: [item] })
  }
  return groups
}
