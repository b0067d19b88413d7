import { refuseInvalid } from '../kernel/errors.ts'
import type { Request } from '../kernel/operation.ts'
import {
  badCursor,
  bothCursors,
  cutPage,
  defaultPageSize,
  hasMoreBefore,
  type Page,
} from '../kernel/request/pagination.ts'

/** Where a cursor stands in a list: items before `start` lie before it, items from `end` on lie after it. */
export interface Spot {
  readonly start: number
  readonly end: number
}

/** The parsed query of a cursor list. */
export interface PageQuery {
  readonly limit?: number | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
}

type Assume = Request<object, unknown>['assume']

const EMPTY_PAGE = { items: [], hasMore: false, start: 0 } as const

/**
 * The page that a query asks for. `locate` says where a cursor stands, or undefined for one that leads nowhere, which is
 * refused or answered with an empty page (U022). Specification: Conventions.
 */
export function readPage<T>(
  list: readonly T[],
  query: PageQuery,
  locate: (cursor: string) => Spot | undefined,
  assume: Assume,
): Page<T> {
  const limit = query.limit ?? assume(defaultPageSize)
  const side = sideOf(query, assume)
  if (side === undefined) return cutPage(list, undefined, limit, false)
  const spot = locate(query[side] ?? '')
  if (spot === undefined) return leadsNowhere(side, assume)
  if (side === 'after') return cutPage(list, { after: spot.end - 1 }, limit, false)
  return cutPage(list, { before: spot.start }, limit, assume(hasMoreBefore) === 'travel')
}

function sideOf({ after, before }: PageQuery, assume: Assume): 'after' | 'before' | undefined {
  if (after === undefined) return before === undefined ? undefined : 'before'
  if (before !== undefined && assume(bothCursors) === 'reject') {
    refuseInvalid([
      { pointer: '/query/before', detail: 'cannot be given together with after; leave one of them out' },
    ])
  }
  return 'after'
}

function leadsNowhere(side: 'after' | 'before', assume: Assume): Page<never> {
  if (assume(badCursor) === 'reject') {
    refuseInvalid([
      {
        pointer: `/query/${side}`,
        detail: 'is not a cursor of this list; take one from an earlier page of the same list',
      },
    ])
  }
  return EMPTY_PAGE
}
