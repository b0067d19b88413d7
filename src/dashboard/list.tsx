import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { keep, kept } from './browser.ts'
import { open } from './place.ts'
import { filtered, NoMatch } from './query-filter.tsx'
import { Table, type TableProps, useSize } from './table.tsx'
import { Detail, Problem } from './ui.tsx'

interface ListProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly items: readonly T[]
  readonly noun: string
  readonly nouns?: string
  /** The text that the filter of the view searches. Default: the view has no filter. */
  readonly textOf?: (item: T) => string
  /** Shown instead of the rows while there is no item. */
  readonly empty: ComponentChildren
  /** Shown above the rows. */
  readonly above?: ComponentChildren
  /** The first width in px of the panel next to the list. */
  readonly width?: number
  /** The panel of the opened item. Default: items cannot be opened. */
  readonly children?: (item: T) => ComponentChildren
}

/** The items of a view in a table, as far as its filter shows them, and the panel of the one that is opened. */
export function List<T>(props: ListProps<T>) {
  const { items, noun, nouns = `${noun}s`, textOf, empty, above, width = 464, children, ...table } = props
  const { idOf, selected, onOpen = (id: string) => open([id]) } = table
  const rows = textOf === undefined ? items : filtered(items, textOf)
  return (
    <>
      <div class="records">
        {above}
        {items.length === 0 ? (
          empty
        ) : rows.length === 0 ? (
          <NoMatch count={items.length} noun={noun} nouns={nouns} />
        ) : (
          <Table {...table} rows={rows} onOpen={children && onOpen} />
        )}
      </div>
      {children !== undefined && (
        <Opened name={noun} width={width} id={selected} item={items.find((each) => idOf(each) === selected)}>
          {children}
        </Opened>
      )}
    </>
  )
}

const STEP = 16

/** A panel to the right of a list. The user changes its width by dragging its corner, or with arrow keys on its edge. */
export function Panel(props: { name: string; width: number; children: ComponentChildren }) {
  const place = `width.${props.name}`
  const panel = useRef<HTMLDivElement>(null)
  const [first] = useState(() => Number.parseInt(kept(place) ?? '', 10) || props.width)
  const { width } = useSize(panel, { width: first, height: 0 })
  // The style has the width that the user has chosen; a narrow page makes the panel narrower than that.
  useEffect(() => keep(place, panel.current?.style.width ?? ''), [width])
  return (
    <div class="panel" ref={panel} style={{ width: `${first}px` }}>
      <div
        class="splitter wide-only"
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the panel"
        aria-valuenow={width}
        tabIndex={0}
        onKeyDown={(event) => {
          const step = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key]
          if (step === undefined || panel.current === null) return
          event.stopPropagation()
          // Not the width of the last frame: keys can come faster.
          panel.current.style.width = `${panel.current.clientWidth + step}px`
        }}
      />
      {props.children}
    </div>
  )
}

/** The panel of the item whose id is in the address; nothing without one. */
export function Opened<T>(props: {
  /** What the item is: `batch`. */
  name: string
  width: number
  id: string | undefined
  /** Undefined if there is none with this id. */
  item: T | undefined
  children: (item: T) => ComponentChildren
}) {
  const { name, width, id, item, children } = props
  if (id === undefined) return null
  return (
    <Panel name={name} width={width}>
      {item === undefined ? (
        <Detail label="Not found" title="Not found">
          <Problem text={`There is no ${name} ${id} here. It may have been deleted.`} />
        </Detail>
      ) : (
        children(item)
      )}
    </Panel>
  )
}
