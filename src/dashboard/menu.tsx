import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { Button } from './ui.tsx'

export interface MenuItem {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly icon?: IconName
  readonly danger?: boolean
  readonly run: () => void
}

/** A button that opens a list of actions; arrow keys move, Escape closes. */
export function Menu(props: {
  label: string
  /** Absent: an icon of three dots. */
  button?: ComponentChildren
  items: readonly MenuItem[]
  /** Shown above the items. */
  children?: (close: () => void) => ComponentChildren
  disabled?: boolean
  empty?: string
}) {
  const [at, setAt] = useState<Position | undefined>(undefined)
  const root = useRef<HTMLSpanElement>(null)
  const close = () => {
    setAt(undefined)
    root.current?.querySelector('button')?.focus()
  }
  useEffect(() => {
    if (at === undefined) return
    const leave = (event: Event) => {
      if (!(event.target instanceof Node && root.current?.contains(event.target))) setAt(undefined)
    }
    document.addEventListener('pointerdown', leave)
    const first = root.current?.querySelector<HTMLElement>('.menu input, .menu button')
    first?.focus()
    return () => document.removeEventListener('pointerdown', leave)
  }, [at])
  const toggle = () => setAt(at === undefined ? placeBelow(root.current as HTMLSpanElement) : undefined)
  return (
    <span
      class="menu-root"
      ref={root}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && at !== undefined) {
          event.stopPropagation()
          close()
        }
        moveUpAndDown(event)
      }}
    >
      <button
        type="button"
        class={props.button === undefined ? 'button ghost icon-only' : 'button'}
        aria-haspopup="true"
        aria-expanded={at !== undefined}
        aria-label={props.button === undefined ? props.label : undefined}
        title={props.button === undefined ? props.label : undefined}
        aria-disabled={props.disabled || undefined}
        onClick={props.disabled === true ? undefined : toggle}
      >
        {props.button === undefined ? <Icon name="more" /> : props.button}
        {props.button !== undefined && <Icon name="down" size={14} />}
      </button>
      {at !== undefined && (
        <div class="menu" style={at}>
          {props.children?.(close)}
          <ul aria-label={props.label}>
            {props.items.map((item, index) => (
              <li key={index}>
                <button
                  type="button"
                  class={item.danger === true ? 'row danger' : 'row'}
                  onClick={() => {
                    close()
                    item.run()
                  }}
                >
                  {item.icon !== undefined && <Icon name={item.icon} size={14} />}
                  <span>{item.label}</span>
                  {item.hint !== undefined && <span class="hint push">{item.hint}</span>}
                </button>
              </li>
            ))}
          </ul>
          {props.items.length === 0 && props.empty !== undefined && <p class="hint">{props.empty}</p>}
        </div>
      )}
    </span>
  )
}

type Position = {
  readonly top?: string
  readonly bottom?: string
  readonly left?: string
  readonly right?: string
}

function placeBelow(root: HTMLElement): Position {
  const { top, bottom, left, right } = root.getBoundingClientRect()
  const across = left > innerWidth / 2 ? { right: `${innerWidth - right}px` } : { left: `${left}px` }
  return bottom > innerHeight * 0.7
    ? { bottom: `${innerHeight - top + 4}px`, ...across }
    : { top: `${bottom + 4}px`, ...across }
}

function moveUpAndDown(event: KeyboardEvent & { readonly currentTarget: EventTarget | null }): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined || !(event.currentTarget instanceof HTMLElement)) return
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('.menu button, .menu input')]
  const now = items.indexOf(document.activeElement as HTMLElement)
  const next = items[(now + step + items.length) % items.length]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

interface MenuFormProps {
  readonly label: string
  /** The text of the button. */
  readonly action: string
  readonly pattern?: string
  readonly maxLength?: number
  readonly placeholder?: string
  readonly onInput?: (text: string) => void
  readonly onSubmit: (text: string) => void
}

/** A form of one field above the items of a menu. */
export function MenuForm({ label, action, onInput, onSubmit, ...field }: MenuFormProps) {
  const [text, setText] = useState('')
  const change = (next: string) => {
    setText(next)
    onInput?.(next)
  }
  return (
    <form
      class="menu-form row"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(text)
      }}
    >
      <label class="grow stack">
        {label}
        <input {...field} required value={text} onInput={(event) => change(event.currentTarget.value)} />
      </label>
      <Button type="submit">{action}</Button>
    </form>
  )
}

/** The rules for the name of a sandbox or a snapshot. */
export const NAME_FIELD = { pattern: '[a-z0-9][a-z0-9\\-]*', maxLength: 63 } as const
