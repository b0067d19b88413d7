import { ask, type Output } from './api.ts'
import type { IconName } from './icon.tsx'
import { sharedLive } from './loaded.tsx'

export type Point = Output<'GET /coverage'>['data'][number]

/** The points of the contract, for every part of the page that shows them. */
export const useCoverage = sharedLive(() => ask('GET /coverage'), ['request', 'event'])

export const metWords = (met: Point['met']): string =>
  met === null ? 'not met' : met === 'service' ? 'met' : 'met by a fault'

export const metIcon = (met: NonNullable<Point['met']>): IconName => (met === 'service' ? 'check' : 'bolt')

/** The points about statuses: those of each operation, in the order of the names. */
export function statusPoints(points: readonly Point[]) {
  const rows = new Map<string, Map<string, Point>>()
  const statuses = new Set<string>()
  for (const point of points.filter(({ kind }) => kind === 'status')) {
    const [, operation = '', status = ''] = point.id.split(' ')
    statuses.add(status)
    rows.set(operation, (rows.get(operation) ?? new Map()).set(status, point))
  }
  return {
    statuses: [...statuses].sort(),
    rows: [...rows]
      .map(([operation, cells]) => ({ operation, cells }))
      .sort((a, b) => (a.operation < b.operation ? -1 : 1)),
  }
}
