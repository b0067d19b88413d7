import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import { Button, moveUpAndDown } from './ui.tsx'

export interface MenuItem {
  readonly label: ComponentChildren
  readonly hint?: ComponentChildren
  readonly icon?: IconName
  readonly danger?: boolean
  readonly run: () => void
}

/** A button that opens a list of actions; arrow keys move. The browser places the list, and closes it. */
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
  const { label, button, items, children, disabled = false, empty } = props
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (isOpen) list.current?.querySelector<HTMLElement>('input, button')?.focus()
  }, [isOpen])
  const close = () => list.current?.hidePopover()
  return (
    <span class="menu-root">
      <button
        type="button"
        class={button === undefined ? 'button ghost icon-only' : 'button'}
        popovertarget={disabled ? undefined : id}
        aria-haspopup="true"
        aria-expanded={isOpen}
        aria-disabled={disabled || undefined}
        {...(button === undefined && { 'aria-label': label, title: label })}
      >
        {button ?? <Icon name="more" />}
        {button !== undefined && <Icon name="down" size={14} />}
      </button>
      <div
        {...{ id, ref: list, class: 'menu', popover: 'auto' }}
        onToggle={(event) => setOpen(event.newState === 'open')}
        onKeyDown={moveUpAndDown}
      >
        {isOpen && children?.(close)}
        <ul aria-label={label}>
          {(isOpen ? items : []).map(({ label, hint, icon, danger, run }, index) => (
            <li key={index}>
              <button
                type="button"
                class={danger === true ? 'row danger' : 'row'}
                onClick={() => {
                  close()
                  run()
                }}
              >
                {icon !== undefined && <Icon name={icon} size={14} />}
                <span>{label}</span>
                {hint !== undefined && <span class="hint push">{hint}</span>}
              </button>
            </li>
          ))}
        </ul>
        {items.length === 0 && empty !== undefined && <p class="hint pad">{empty}</p>}
      </div>
    </span>
  )
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
      <Button text={action} type="submit" />
    </form>
  )
}

/** The rules for the name of a sandbox or a snapshot. */
export const NAME_FIELD = { pattern: '[a-z0-9][a-z0-9\\-]*', maxLength: 63 } as const
