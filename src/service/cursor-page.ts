import { z } from 'zod'
import { refuseInvalid } from '../core/errors.ts'
import type { Request } from '../core/operation.ts'
import {
  badCursor,
  bothCursors,
  cursorQuery,
  cutPage,
  defaultPageSize,
  deletedCursor,
  hasMoreBefore,
  listOrder,
  ordered,
  type Page,
} from '../core/request/pagination.ts'
import { byList, places } from '../core/state/collection.ts'
import type { Row } from '../core/state/commit.ts'
import type { TableOf } from '../core/state/transaction.ts'
import type { Assume } from './records.ts'

/** The position of a cursor in a list: items below `start` are before it, items from `end` on are after it. */
export interface Spot {
  readonly start: number
  readonly end: number
}

/** The query parameters of a cursor list. Specification: Conventions. */
export const pageQuery = () => ({
  limit: cursorQuery.limit(),
  after: cursorQuery.after(),
  before: cursorQuery.before(),
})

type PageQuery = z.output<z.ZodObject<ReturnType<typeof pageQuery>>>

/** The response of a cursor list. */
export const listResponse = <T extends z.ZodType>(item: T) =>
  z.strictObject({ object: z.literal('list'), data: z.array(item), has_more: z.boolean() })

type Reads = Pick<Request<object, unknown>, 'assume' | 'settings'>

/**
 * The page for a query. `locate` returns the position of a cursor, or undefined for an unknown one, which is refused or gets
 * an empty page (U022). `read` returns the list; it is not called for an unknown cursor, whose response does not depend on it.
 * Specification: Conventions. @param isOrdered whether the order of the list is that of a setting
 */
export function readPage<T>(
  read: () => readonly T[],
  query: PageQuery,
  locate: (cursor: string) => Spot | undefined,
  { assume, settings }: Reads,
  isOrdered = true,
): Page<T> {
  const side = sideOf(query, assume)
  const spot = side === undefined ? undefined : locate(query[side] ?? '')
  if (side !== undefined && spot === undefined) {
    const detail =
      'is not a cursor of this list; use one from an earlier page of the same list, with the same filters'
    if (assume(badCursor) === 'reject') refuseInvalid([{ pointer: `/query/${side}`, detail }])
    return { items: [], hasMore: false, start: 0 }
  }
  const list = read()
  const back = side === 'before'
  const place = spot && (back ? { before: spot.start } : { after: spot.end - 1 })
  const limit = query.limit ?? settings.get(defaultPageSize)
  const page = cutPage(list, place, limit, back && assume(hasMoreBefore) === 'travel')
  // A list that fits has the same page with any larger default, and one row has no order.
  if (query.limit === undefined && (back ? page.start > 0 : page.hasMore)) assume(defaultPageSize)
  if (isOrdered) noteOrder(list, assume)
  return page
}

/** Notes that the response depends on the order of lists, if it has more than one item. */
export function noteOrder(list: readonly unknown[], assume: Assume): void {
  if (list.length > 1) assume(listOrder)
}

function sideOf({ after, before }: PageQuery, assume: Assume): 'after' | 'before' | undefined {
  if (after === undefined) return before === undefined ? undefined : 'before'
  if (before !== undefined && assume(bothCursors) === 'reject') {
    const detail = 'cannot be given together with after; leave one of them out'
    refuseInvalid([{ pointer: '/query/before', detail }])
  }
  return 'after'
}

/** An entry of a list with object-id cursors: a record, or only the place of one that is no longer in the list. */
export interface Entry<T> {
  readonly id: string
  readonly created_at: string
  readonly record?: T | undefined
}

/**
 * The page of a list with object-id cursors. A cursor is a place in the whole list, so it also works if `isWanted` excludes its
 * record, or if the record was deleted and the collection has `place` (T28).
 * @param list its name, as `place` of the collection gives it, the tables that its entries depend on, and a function that reads them
 * @example
 * const page = objectPage(request, { name: listOf(caller), tables: [users], entries: () => records.map((record) => ({ ...record, record })) })
 */
export function objectPage<T>(
  {
    tx,
    seed,
    assume,
    settings,
    query,
  }: Reads & Pick<Request<object, unknown>, 'tx' | 'seed'> & { readonly query: PageQuery },
  list: {
    readonly name: string
    readonly tables: readonly TableOf<Row>[]
    readonly entries: () => Iterable<Entry<T>>
  },
  isWanted: (record: T) => boolean = () => true,
): { readonly records: readonly T[]; readonly hasMore: boolean } {
  const order = settings.get(listOrder)
  const whole = tx.derived(`${list.name} ${order} ${seed}`, [...list.tables, places], () => {
    const all = new Map<string, Entry<T>>()
    for (const { cursor: id, created_at } of tx.in(places).where(byList, list.name))
      all.set(id, { id, created_at })
    for (const entry of list.entries()) all.set(entry.id, entry)
    return ordered([...all.values()], order, seed)
  })
  const wanted = ({ record }: Entry<T>) => record !== undefined && isWanted(record)
  const locate = (cursor: string): Spot | undefined => {
    const index = whole.findIndex(({ id }) => id === cursor)
    const entry = whole[index]
    if (entry === undefined) return undefined
    if (entry.record === undefined && assume(deletedCursor) === 'reject') return undefined
    const start = whole.slice(0, index).filter(wanted).length
    return { start, end: wanted(entry) ? start + 1 : start }
  }
  const page = readPage(() => whole.filter(wanted), query, locate, { assume, settings })
  // Only entries with a record are wanted.
  return { records: page.items.map(({ record }) => record as T), hasMore: page.hasMore }
}
