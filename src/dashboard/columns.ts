import type { ComponentChildren } from 'preact'

/** A column of a table. */
export interface Column<T> {
  /** Its head, which no other column of the table has. */
  readonly label: string
  /** In px. Default: the remaining width. */
  readonly width?: number
  /** The smallest width in px of a column without a width of its own. Default: 200. */
  readonly least?: number
  /** In a table that is too narrow for every column, those with the highest number are left out first. Default: never. */
  readonly spare?: number
  readonly align?: 'right'
  readonly cell: (row: T) => ComponentChildren
  /** The value for sorting by this column. Default: it cannot be sorted. */
  readonly sortBy?: (row: T) => string | number
}

export interface Sorting {
  readonly column: string
  readonly isDescending: boolean
}

const LEAST = 200

/** The columns for which a width has room. */
export function fitting<T>(columns: readonly Column<T>[], width: number): readonly Column<T>[] {
  const needed = columns.reduce((sum, column) => sum + (column.width ?? column.least ?? LEAST), 0)
  const most = columns.reduce((most, { spare = 0 }) => (spare > most ? spare : most), 0)
  const others = columns.filter(({ spare }) => spare !== most)
  return needed <= width || most === 0 ? columns : fitting(others, width)
}

/** The order after a click on the head of a column: ascending, then descending, then the usual one (undefined). */
export function nextSorting(column: string, now: Sorting | undefined): Sorting | undefined {
  if (now?.column !== column) return { column, isDescending: false }
  return now.isDescending ? undefined : { column, isDescending: true }
}

/** Rows in the order of a column. */
export function sorted<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  sorting: Sorting | undefined,
): readonly T[] {
  const by = columns.find(({ label }) => label === sorting?.column)?.sortBy
  if (by === undefined) return rows
  const sign = sorting?.isDescending === true ? -1 : 1
  return [...rows].sort((a, b) => {
    const [left, right] = [by(a), by(b)]
    return left < right ? -sign : left > right ? sign : 0
  })
}
