import { signal } from '@preact/signals'
import { Component, type ComponentChildren, type RefObject, type VNode } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Column, cellStyles, fitting, nextSorting, type Sorting, sorted } from './columns.ts'
import { useKeys } from './view-keys.ts'

/** A column of texts, each in full in its title. */
export function texts<T>(
  label: string,
  textOf: (row: T) => string | null | undefined,
  more: Partial<Column<T>> = {},
): Column<T> {
  const text = (row: T) => textOf(row) ?? '–'
  return {
    label,
    isCut: true,
    cell: (row) => <code title={text(row)}>{text(row)}</code>,
    sortBy: text,
    ...more,
  }
}

export interface TableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  /** Default: rows of two lines and a state, as on phones. */
  readonly columns?: readonly Column<T>[]
  readonly idOf: (row: T) => string
  readonly selected?: string | undefined
  /** Undefined: rows cannot be opened, and keys do not move along them. */
  readonly onOpen?: ((id: string) => void) | undefined
  /** The content of a row on phones, where it has two lines and a state instead of cells. */
  readonly phone?: (row: T) => readonly [title: ComponentChildren, hint: ComponentChildren, state: VNode]
}

const OVERSCAN = 8

const narrow = matchMedia('(max-width: 767px)')

/** Whether the page is as narrow as a phone. */
const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => {
  isNarrow.value = narrow.matches
})

/** The size of an element inside its borders in px. Before it is in the page, `first`. */
export function useSize(
  ref: RefObject<HTMLElement | null>,
  first: { readonly width: number; readonly height: number },
) {
  const [size, setSize] = useState(first)
  useEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return size
}

/** A table whose rows have the same height. Only the visible rows are in the page. */
export function Table<T>(props: TableProps<T>) {
  const { idOf, selected, onOpen, columns: all = [] } = props
  const phone = isNarrow.value || all.length === 0 ? props.phone : undefined
  const isPhone = phone !== undefined
  const [sorting, setSorting] = useState<Sorting | undefined>(undefined)
  const rows = useMemo(() => sorted(props.rows, all, sorting), [props.rows, all, sorting])
  const rowHeight = isPhone ? 52 : 32
  const scroller = useRef<HTMLElement>(null)
  const [top, setTop] = useState(0)
  const { width, height } = useSize(scroller, { width: innerWidth, height: 800 })
  const columns = useMemo(() => styled(fitting(all, width), width), [all, width])
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN)
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + OVERSCAN)
  const shown = rows.slice(first, last)
  const newest = useRef<string | undefined>(undefined)
  // New rows at the top do not move the rows that the user is reading.
  useLayoutEffect(() => {
    const added = rows.findIndex((row) => idOf(row) === newest.current)
    const element = scroller.current
    // At the top the element is not read, since reading it forces a layout.
    if (element !== null && top > 0 && added > 0 && sorting === undefined)
      element.scrollTop += added * rowHeight
    newest.current = rows[0] === undefined ? undefined : idOf(rows[0])
  }, [rows])
  const at = rows.findIndex((row) => idOf(row) === selected)
  const move = (by: number) => {
    const next = rows[at === -1 ? 0 : at + by]
    if (next === undefined) return
    onOpen?.(idOf(next))
    scroller.current?.querySelector<HTMLElement>(`tr[data-id="${CSS.escape(idOf(next))}"]`)?.focus()
  }
  const keys = { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) }
  useKeys(onOpen === undefined ? {} : keys)
  return (
    <section
      class="list"
      ref={scroller}
      tabIndex={0}
      aria-label={props.label}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table class={isPhone ? 'table phone' : 'table'} aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {isPhone ? (
              <th class="hidden">{props.label}</th>
            ) : (
              columns.map(({ label, align, style, sortBy }) => {
                const direction = sorting?.isDescending ? 'descending' : 'ascending'
                const order = sorting?.column === label ? direction : 'none'
                const head = (
                  <button type="button" onClick={() => setSorting(nextSorting(label, sorting))}>
                    {label}
                    {order !== 'none' && (order === 'descending' ? ' ↓' : ' ↑')}
                  </button>
                )
                return (
                  <th key={label} class={align} style={style} aria-sort={sortBy && order}>
                    {sortBy === undefined ? label : head}
                  </th>
                )
              })
            )}
          </tr>
        </thead>
        <tbody>
          <Spacer height={first * rowHeight} />
          {shown.map((row, index) => {
            const id = idOf(row)
            const isSelected = id === selected
            return (
              <tr
                key={id}
                data-id={id}
                style={{ height: `${rowHeight}px` }}
                aria-rowindex={first + index + 2}
                aria-selected={isSelected}
                tabIndex={
                  onOpen === undefined ? undefined : isSelected || (at === -1 && index === 0) ? 0 : -1
                }
                onClick={({ target }) => {
                  // A link in a row leads to its own place.
                  if (target instanceof Element && target.closest('a') === null) onOpen?.(id)
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.(id)
                }}
              >
                {isPhone ? twoLines(...phone(row)) : <Cells row={row} columns={columns} />}
              </tr>
            )
          })}
          <Spacer height={(rows.length - last) * rowHeight} />
        </tbody>
      </table>
    </section>
  )
}

const twoLines = (title: ComponentChildren, hint: ComponentChildren, state: VNode) => (
  <td>
    <span class="two-lines">
      <span>{title}</span>
      <span class="hint">{hint}</span>
      {state}
    </span>
  </td>
)

/** Columns with the styles of their cells. */
function styled<T>(columns: readonly Column<T>[], width: number) {
  const styles = cellStyles(columns, width)
  return columns.map((column, index) => ({ ...column, style: styles[index] ?? {} }))
}

/** The cells of a row. A new row at the top moves all others, whose cells stay as they are. */
class Cells<T> extends Component<{ row: T; columns: ReturnType<typeof styled<T>> }> {
  override shouldComponentUpdate(next: Cells<T>['props'], state: object) {
    // A signal that a cell reads changes the state.
    return next.row !== this.props.row || next.columns !== this.props.columns || state !== this.state
  }

  override render({ row, columns }: Cells<T>['props']) {
    return columns.map(({ label, align, style, cell }) => (
      <td key={label} class={align} style={style}>
        {cell(row)}
      </td>
    ))
  }
}

function Spacer({ height }: { height: number }) {
  return height <= 0 ? null : <tr class="spacer" aria-hidden="true" style={{ height: `${height}px` }} />
}
