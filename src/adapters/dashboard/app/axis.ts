/** A stretch of the axis: instants in virtual milliseconds, and where they are in px. */
interface Stretch {
  readonly from: number
  readonly to: number
  readonly left: number
  readonly right: number
  readonly isFolded: boolean
}

/** The axis of virtual time. Gaps without events that are wider than a fifth of it are folded. */
export interface Axis {
  readonly stretches: readonly Stretch[]
  readonly from: number
  readonly to: number
  readonly width: number
  /** The place of an instant, in px. An instant outside the axis is at its nearer end. */
  at(instant: number): number
  /** Whether an instant is on the axis, and in no fold. */
  shows(instant: number): boolean
  /** The instant at a place. */
  instantAt(px: number): number
}

const FOLDED_WIDTH = 40
const FOLDED_SHARE = 0.2

/** The gaps between points that are folded, and how much time is left without them. */
function foldsOf(from: number, to: number, points: readonly number[]) {
  const span = Math.max(1, to - from)
  const inside = [from, ...points.filter((each) => each > from && each < to), to].sort((a, b) => a - b)
  const wide = inside.slice(1).flatMap((end, index) => {
    const start = inside[index] as number
    return end - start > span * FOLDED_SHARE ? [{ from: start, to: end }] : []
  })
  return { wide, left: span - wide.reduce((sum, gap) => sum + gap.to - gap.from, 0) }
}

/** A range with a margin at both ends: 6 % of the time that is not folded, so that empty days do not make it wider. */
export function withRoom(from: number, to: number, points: readonly number[]) {
  const room = 0.06 * foldsOf(from, to, points).left
  return { from: from - room, to: to + room }
}

/** @param points instants of the marks on the axis */
export function axisOf(from: number, to: number, width: number, points: readonly number[]): Axis {
  const span = Math.max(1, to - from)
  const { wide, left: active } = foldsOf(from, to, points)
  // Some time next to each fold stays unfolded, so that the points there are not at its edge.
  const margin = Math.max(0.08 * active, span * 0.0001)
  const gaps = wide
    .map((gap) => ({ from: gap.from + margin, to: gap.to - margin }))
    .filter((gap) => gap.to > gap.from)
  const foldedTime = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const scale = Math.max(0, width - gaps.length * FOLDED_WIDTH) / Math.max(1, span - foldedTime)
  const stretches: Stretch[] = []
  let left = 0
  let begun = from
  const add = (end: number, isFolded: boolean) => {
    const right = left + (isFolded ? FOLDED_WIDTH : (end - begun) * scale)
    stretches.push({ from: begun, to: end, left, right, isFolded })
    left = right
    begun = end
  }
  for (const gap of gaps) {
    add(gap.from, false)
    add(gap.to, true)
  }
  add(to, false)
  const at = (instant: number) => {
    const stretch = stretches.find((each) => instant <= each.to) ?? (stretches.at(-1) as Stretch)
    const share = (instant - stretch.from) / Math.max(1, stretch.to - stretch.from)
    return Math.min(width, Math.max(0, stretch.left + share * (stretch.right - stretch.left)))
  }
  const instantAt = (px: number) => {
    const stretch = stretches.find((each) => px <= each.right) ?? (stretches.at(-1) as Stretch)
    const share = (px - stretch.left) / Math.max(1, stretch.right - stretch.left)
    return stretch.from + share * (stretch.to - stretch.from)
  }
  const shows = (instant: number) =>
    stretches.some((each) => !each.isFolded && instant >= each.from && instant <= each.to)
  return { stretches, from, to, width, at, shows, instantAt }
}

const STEPS = [
  1e3, 5e3, 15e3, 3e4, 6e4, 3e5, 6e5, 1.2e6, 3.6e6, 1.08e7, 2.16e7, 4.32e7, 8.64e7, 1.728e8, 6.048e8, 2.592e9,
  7.776e9,
]

/** Instants that get a label: round ones, at least 96 px apart, none in a fold. */
export function labelsOf(axis: Axis): readonly number[] {
  return axis.stretches
    .filter(({ isFolded }) => !isFolded)
    .flatMap(({ from, to, left, right }) => {
      const perPx = (to - from) / Math.max(1, right - left)
      const step = STEPS.find((each) => each / perPx >= 96) ?? (STEPS.at(-1) as number)
      const first = Math.ceil(from / step) * step
      const count = Math.min(40, Math.floor((to - first) / step) + 1)
      return Array.from({ length: Math.max(0, count) }, (_, index) => first + index * step)
    })
}

/** Groups items by their place on the axis: an item less than 24 px after the first one of a group joins it. */
export function clustered<T>(
  items: readonly T[],
  placeOf: (item: T) => number,
): { px: number; items: T[] }[] {
  const groups: { px: number; items: T[] }[] = []
  for (const item of [...items].sort((a, b) => placeOf(a) - placeOf(b))) {
    const px = placeOf(item)
    const last = groups.at(-1)
    if (last !== undefined && px - last.px < 24) last.items.push(item)
    else groups.push({ px, items: [item] })
  }
  return groups
}
