import { z } from 'zod'
import { choice, setting } from '../assumptions.ts'
import { intBetween, queryInt, queryText } from '../fields.ts'
import { valueAt } from '../json.ts'
import { chanceOf } from '../random.ts'
import { compareInstants, parseInstant } from '../time/instant.ts'

export const defaultPageSize = setting({
  key: 'lists.default_limit',
  item: 'U019',
  description: 'Sets the number of records of a page when the request has no limit.',
  schema: () => intBetween(1, 100),
  default: 20,
  observe: ({ query, received }) => {
    const rows = valueAt(received, '/data')
    const isFull = valueAt(received, '/has_more') === true && query.limit === undefined
    return isFull && query.before === undefined && Array.isArray(rows) ? rows.length : undefined
  },
})

export const listOrder = choice({
  key: 'lists.order',
  item: 'U020',
  description:
    'Sets the order of lists: newest first, oldest first, or a fixed shuffle that shows which clients rely on order.',
  values: ['newest', 'oldest', 'shuffled'],
  observe: ({ received }) => {
    const rows = valueAt(received, '/data')
    const times = Array.isArray(rows)
      ? rows.map((row) => Date.parse(String(valueAt(row, '/created_at'))))
      : []
    const steps = times.slice(1).map((time, n) => Math.sign(time - (times[n] ?? time)))
    if (steps.every((step) => step === 0) || steps.some(Number.isNaN)) return undefined
    if (steps.every((step) => step <= 0)) return 'newest'
    return steps.every((step) => step >= 0) ? 'oldest' : 'shuffled'
  },
})

export const badCursor = choice({
  key: 'lists.bad_cursor',
  item: 'U022',
  description: 'Decides what happens to an unknown cursor: refused, or the response is an empty page.',
  values: ['reject', 'empty'],
})

export const bothCursors = choice({
  key: 'lists.both_cursors',
  item: 'T25',
  description: 'Decides what happens to a request with both after and before: refused, or after wins.',
  values: ['reject', 'after'],
})

export const hasMoreBefore = setting<'list_order' | 'travel'>({
  key: 'lists.has_more_before',
  item: 'T26',
  description:
    'Decides what has_more says about a page that was read with before: travel, whether rows exist before the page in list order; or list_order, whether rows exist after it.',
  schema: () => z.enum(['list_order', 'travel']),
  default: 'travel',
})

export const deletedCursor = choice({
  key: 'lists.deleted_cursor',
  item: 'T28',
  description:
    'Decides what happens to a cursor whose record was deleted in any way: the page continues from its position, or the cursor is unknown.',
  values: ['resume', 'reject'],
})

/** The query parameters of a cursor list. Specification: Conventions. */
export const cursorQuery = {
  limit: () => queryInt(1, 100).optional(),
  after: () => queryText().optional(),
  before: () => queryText().optional(),
} as const

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Whether rows exist after this page, or before it when it was read in that direction. */
  readonly hasMore: boolean
  /** Position of the first item in the whole list. */
  readonly start: number
}

/** Where a page is: directly after a position, directly before one, or at the start. Positions count from 0. */
export type PagePosition = { readonly after: number } | { readonly before: number } | undefined

/**
 * Cuts a page of at most `limit` items out of a list that is in its final order. With `travel`, `hasMore` of a page before a
 * position is about rows before the page, otherwise about rows after it (T26).
 */
export function cutPage<T>(list: readonly T[], at: PagePosition, limit: number, travel: boolean): Page<T> {
  if (at !== undefined && 'before' in at) {
    const end = Math.min(Math.max(0, at.before), list.length)
    const start = Math.max(0, end - limit)
    return { items: list.slice(start, end), hasMore: travel ? start > 0 : end < list.length, start }
  }
  const start = at === undefined ? 0 : Math.min(at.after + 1, list.length)
  const end = Math.min(start + limit, list.length)
  return { items: list.slice(start, end), hasMore: end < list.length, start }
}

/** Sorts records in the order of lists: by creation and id, or by a shuffle that depends only on the seed. */
export function ordered<T extends { readonly id: string; readonly created_at?: string }>(
  records: readonly T[],
  order: 'newest' | 'oldest' | 'shuffled',
  seed: number,
): T[] {
  if (order === 'shuffled') {
    const keyed = records.map((record) => ({ record, key: chanceOf(seed, 'order', record.id) }))
    return keyed
      .sort((a, b) => a.key - b.key || compare(a.record.id, b.record.id))
      .map(({ record }) => record)
  }
  const direction = order === 'newest' ? -1 : 1
  return [...records].sort((a, b) => direction * (compareCreation(a, b) || compare(a.id, b.id)))
}

// Timestamps of the emulator sort as text; only others, from a fixture, have to be parsed.
function compareCreation(
  { created_at: a = '' }: { created_at?: string },
  { created_at: b = '' }: { created_at?: string },
): number {
  if (a.length === 24 && b.length === 24 && a.endsWith('Z') && b.endsWith('Z')) return compare(a, b)
  // A record without a valid timestamp counts as older than all others.
  const oldest = { ms: Number.MIN_SAFE_INTEGER, finer: '' }
  return compareInstants(parseInstant(a) ?? oldest, parseInstant(b) ?? oldest)
}

/** Compares strings by code unit, so that the order does not depend on the host's language. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
