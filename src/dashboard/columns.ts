import type { ComponentChildren } from 'preact'

/** A column of a table. */
export interface Column<T> {
  /** Its head, which no other column of the table has. */
  readonly label: string
  /** In px; a longer content makes the column wider. Default: the remaining width, and a longer text is cut. */
  readonly width?: number
  /** Whether a text that is longer than `width` is cut. Never for numbers, times and states. */
  readonly isCut?: boolean
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

const widthOf = <T>({ width, least = LEAST }: Column<T>) => width ?? least

/** The styles of the cells of each column. Texts that are cut share the px that are left in a table of this width. */
export function cellStyles<T>(columns: readonly Column<T>[], tableWidth: number) {
  const left = columns.reduce((left, column) => left - widthOf(column), tableWidth)
  const room = Math.max(0, left) / Math.max(1, columns.filter(({ isCut }) => isCut).length)
  const share = `${100 / columns.filter(({ width }) => width === undefined).length}%`
  return columns.map((column) => {
    const px = `${widthOf(column)}px`
    if (column.width === undefined) return { width: share, minWidth: '96px', maxWidth: '0' }
    return { width: px, ...(column.isCut && { maxWidth: `${column.width + room}px` }) }
  })
}

/** The columns for which a width has room. */
export function fitting<T>(columns: readonly Column<T>[], width: number): readonly Column<T>[] {
  const needed = columns.reduce((sum, column) => sum + widthOf(column), 0)
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
