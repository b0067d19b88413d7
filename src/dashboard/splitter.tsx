import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { keep, kept } from './browser.ts'
import { Missing } from './ui.tsx'

const MIN = 320
const STEP = 16

/** A panel to the right of a list. The user changes its width by dragging its edge, or with arrow keys on it. */
export function Panel(props: { name: string; width: number; children: ComponentChildren }) {
  const [width, setWidth] = useState(Number(kept(`width.${props.name}`)) || props.width)
  const start = useRef<{ readonly x: number; readonly width: number } | undefined>(undefined)
  const resize = (next: number) => {
    const chosen = Math.round(Math.min(Math.max(next, MIN), innerWidth * 0.6))
    setWidth(chosen)
    keep(`width.${props.name}`, String(chosen))
  }
  return (
    <div class="panel" style={{ width: `${width}px` }}>
      <div
        class="splitter wide-only"
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the panel"
        aria-valuenow={width}
        aria-valuemin={MIN}
        aria-valuemax={Math.round(innerWidth * 0.6)}
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') resize(width + STEP)
          if (event.key === 'ArrowRight') resize(width - STEP)
          if (event.key.startsWith('Arrow')) event.stopPropagation()
        }}
        onPointerDown={(event) => {
          start.current = { x: event.clientX, width }
          event.currentTarget.setPointerCapture(event.pointerId)
        }}
        onPointerMove={(event) => {
          if (start.current !== undefined) resize(start.current.width + start.current.x - event.clientX)
        }}
        onPointerUp={() => {
          start.current = undefined
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
  const missing = `There is no ${name} ${id} here. It may have been deleted.`
  return (
    <Panel name={name} width={width}>
      {item === undefined ? <Missing text={missing} /> : children(item)}
    </Panel>
  )
}
