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
  /** A form of one field, shown above the items. */
  form?: {
    label: string
    /** The text of the button. */
    action: string
    field: { placeholder: string; pattern?: string; maxLength?: number }
    onSubmit: (text: string) => void
  }
  disabled?: boolean
  empty?: string
}) {
  const { label, button, items, form, disabled = false, empty } = props
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
        {isOpen && form && (
          <form
            class="menu-form row"
            onSubmit={(event) => {
              event.preventDefault()
              close()
              form.onSubmit(String(new FormData(event.currentTarget).get('text')))
            }}
          >
            <label class="grow stack">
              {form.label}
              <input {...form.field} name="text" required autocomplete="off" />
            </label>
            <Button text={form.action} type="submit" />
          </form>
        )}
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
