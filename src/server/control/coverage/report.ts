import { z } from 'zod'
import { listOf, type ShapeOf } from '../../../core/fields.ts'

/** The kinds of points of the contract, the cheapest to meet first. */
export const POINT_KINDS = ['status', 'error', 'enum', 'event', 'transition', 'bound'] as const

/** One point of the contract, and whether clients have met it. */
export const coveredPoint = () =>
  z.strictObject({
    /** `status pages.create 200`, unique. */
    id: z.string(),
    kind: z.enum(POINT_KINDS),
    /** `fault`: met only in exchanges that a fault rule changed. Null: not met. */
    met: z.enum(['service', 'fault']).nullable(),
    /** The call, preset or rule that meets it. */
    how: z.string(),
  })

export type CoveredPoint = ShapeOf<typeof coveredPoint>

/** The points of the contract, and which of them the clients of the emulator have met. */
export const coverageReport = () =>
  listOf(coveredPoint()).extend({
    total: z.int(),
    met: z.int(),
    met_by_faults: z.int(),
    /** At most ten points that were not met, the cheapest first. */
    gaps: z.array(coveredPoint()),
  })

export type CoverageReport = ShapeOf<typeof coverageReport>

/** The report about points, which are in the order of their cost. */
export function coverageOf(points: readonly CoveredPoint[]): CoverageReport {
  const gaps = points.filter(({ met }) => met === null)
  return {
    object: 'list',
    data: points,
    total: points.length,
    met: points.length - gaps.length,
    met_by_faults: points.filter(({ met }) => met === 'fault').length,
    gaps: gaps.slice(0, 10),
  }
}

/** The points of two reports: a point is met if one of them has met it, best without a fault. */
export function mergedPoints(some: readonly CoveredPoint[], others: readonly CoveredPoint[]): CoveredPoint[] {
  const points = new Map<string, CoveredPoint>()
  for (const point of [...some, ...others]) {
    const known = points.get(point.id) ?? point
    points.set(point.id, { ...known, met: known.met === 'service' ? 'service' : (point.met ?? known.met) })
  }
  return [...points.values()]
}

/** The percentage of points that were met, rounded down, so that only a whole coverage is 100. */
export function percentOf({ met, total }: Pick<CoverageReport, 'met' | 'total'>): number {
  return total === 0 ? 100 : Math.floor((1000 * met) / total) / 10
}
