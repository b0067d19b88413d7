import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { after } from './browser.ts'
import { Code } from './code.tsx'
import { Icon, type IconName } from './icon.tsx'
import { here, open } from './place.ts'
import { copy } from './toasts.ts'
import { useKeys } from './view-keys.ts'

export function Button(props: {
  /** Undefined for a button that shows an icon alone. */
  text?: ComponentChildren
  icon?: IconName
  kind?: 'primary' | 'ghost' | 'danger'
  /** The name of a button without a text. */
  label?: string
  /** The reason why the button cannot be used; undefined if it can. */
  disabled?: string | boolean | undefined
  pressed?: boolean
  onClick?: (event: MouseEvent) => void
  type?: 'button' | 'submit'
}) {
  const { text, icon, kind, label, disabled, pressed, onClick, type = 'button' } = props
  const isOff = disabled !== undefined && disabled !== false
  return (
    <button
      type={type}
      class={`button ${kind ?? ''} ${text === undefined ? 'icon-only' : ''}`}
      aria-label={label}
      title={typeof disabled === 'string' ? disabled : label}
      aria-disabled={isOff || undefined}
      aria-pressed={pressed}
      onClick={isOff ? (event) => event.preventDefault() : onClick}
    >
      {icon !== undefined && <Icon name={icon} size={text === undefined ? 16 : 14} />}
      {text}
    </button>
  )
}

export type Tone = 'ok' | 'warn' | 'error' | 'info' | 'accent' | 'neutral'

/** The usual icon of a tone, since a colour alone says nothing to some users. */
const ICONS: Partial<Record<Tone, IconName>> = { ok: 'ok', warn: 'warn', error: 'error', info: 'info' }

interface TonedProps {
  readonly tone?: Tone
  /** Default: the usual one of the tone. */
  readonly icon?: IconName | undefined
  readonly children: ComponentChildren
}

export function Tag({ tone = 'neutral', icon = ICONS[tone], children }: TonedProps) {
  return (
    <span class={`tag ${tone}`}>
      {icon !== undefined && <Icon name={icon} size={12} />}
      {children}
    </span>
  )
}

interface ChoiceProps<T extends string> {
  readonly label: string
  /** Their labels by value. */
  readonly options: Readonly<Record<T, string>>
  readonly value: T
  readonly onChoose: (value: T) => void
}

/** Buttons of which at most one is pressed. Arrow keys move between them. */
export function Segments<T extends string>({ label, options, value, onChoose }: ChoiceProps<T>) {
  return (
    <div class="segments" role="group" aria-label={label} onKeyDown={moveByArrows}>
      {entriesOf(options).map(([each, text]) => (
        <button type="button" key={each} aria-pressed={value === each} onClick={() => onChoose(each)}>
          {text}
        </button>
      ))}
    </div>
  )
}

/** Tabs over one panel: arrow keys and `[` `]` move. */
export function Tabs<T extends string>({ label, options, value, onChoose }: ChoiceProps<T>) {
  return (
    <div class="tabs fixed" role="tablist" aria-label={label} onKeyDown={moveByArrows}>
      {entriesOf(options).map(([each, text]) => (
        <button
          {...{ type: 'button', key: each, tabIndex: value === each ? 0 : -1 }}
          role="tab"
          aria-selected={value === each}
          onFocus={() => value !== each && onChoose(each)}
          onClick={() => onChoose(each)}
        >
          {text}
        </button>
      ))}
    </div>
  )
}

export const entriesOf = <T extends string, V>(record: Readonly<Record<T, V>>) =>
  Object.entries(record) as [T, V][]

type KeyOnElement = KeyboardEvent & { readonly currentTarget: HTMLElement }

/** Moves the focus along the fields and buttons of a group, from the last one to the first one, too. */
const moveBy = (steps: Readonly<Record<string, number>>) => (event: KeyOnElement) => {
  const step = steps[event.key]
  if (step === undefined) return
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('button, input')]
  event.preventDefault()
  all.at((all.indexOf(document.activeElement as HTMLElement) + step) % all.length)?.focus()
}

export const moveByArrows = moveBy({ ArrowRight: 1, ArrowLeft: -1 })
export const moveUpAndDown = moveBy({ ArrowDown: 1, ArrowUp: -1 })

export function Switch(props: {
  on: boolean
  label: string
  hideLabel?: boolean
  busy?: boolean
  onToggle: (event: MouseEvent) => void
}) {
  return (
    <button
      type="button"
      class="switch"
      role="switch"
      aria-checked={props.on}
      aria-label={props.hideLabel === true ? props.label : undefined}
      aria-busy={props.busy || undefined}
      onClick={props.onToggle}
    >
      <span class="track" aria-hidden="true" />
      {props.hideLabel !== true && props.label}
    </button>
  )
}

export function CopyButton(props: { text: () => string; children?: string; kind?: 'primary' }) {
  const { text, children, ...kind } = props
  const [isCopied, setCopied] = useState(false)
  const onClick = async () => {
    if (!(await copy(text()))) return
    setCopied(true)
    after(1_500, () => setCopied(false))
  }
  const said = isCopied ? 'Copied' : (children ?? 'Copy')
  const name = children === undefined ? { label: said } : { text: said }
  return <Button icon={isCopied ? 'check' : 'copy'} {...kind} {...name} onClick={onClick} />
}

/** The head of a view: its title, a summary, and its actions. */
export function ViewHead(props: {
  title: string
  summary?: ComponentChildren
  children?: ComponentChildren
}) {
  return (
    <header class="view-head">
      <h1 tabIndex={-1}>{props.title}</h1>
      <p class="cut wide-only">{props.summary}</p>
      <div class="actions row push">{props.children}</div>
    </header>
  )
}

export function FilterField(props: {
  label: string
  value: string
  onInput: (text: string) => void
  placeholder?: string
  isWide?: boolean
}) {
  return (
    <span class={props.isWide === true ? 'filter grow' : 'filter'}>
      <Icon name="search" />
      <input
        type="search"
        data-filter
        aria-label={props.label}
        placeholder={props.placeholder ?? props.label}
        value={props.value}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => props.onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || props.value === '') return
          event.stopPropagation()
          props.onInput('')
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </span>
  )
}

/** An empty view: a text about its content, code that fills it, and one action. */
export function Empty(props: {
  icon: IconName
  title: string
  text: ComponentChildren
  code?: string
  children?: ComponentChildren
}) {
  const { code } = props
  return (
    <div class="empty">
      <span class="empty-icon center">
        <Icon name={props.icon} />
      </span>
      <h2>{props.title}</h2>
      <p>{props.text}</p>
      {code !== undefined && <Code text={code} />}
      <p class="row-actions">
        {code !== undefined && (
          <CopyButton kind="primary" text={() => code}>
            Copy the command
          </CopyButton>
        )}
        {props.children}
      </p>
    </div>
  )
}

/** Placeholder rows for data that takes longer than 200 ms. */
export function Skeleton() {
  const [isShown, setShown] = useState(false)
  useEffect(() => after(200, () => setShown(true)), [])
  if (!isShown) return null
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: 8 }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  )
}

/** The error of one part of a view. The other parts still work. */
export function Problem({ text, onRetry }: { text: string; onRetry?: (() => void) | undefined }) {
  return (
    <div class="note error" role="alert">
      <Icon name="error" />
      <p>{text}</p>
      {onRetry !== undefined && <Button text="Try again" onClick={onRetry} />}
    </div>
  )
}

export function Note({ tone = 'info', icon = ICONS[tone] ?? 'info', children }: TonedProps) {
  return (
    <div class={`note ${tone}`}>
      <Icon name={icon} />
      <p>{children}</p>
    </div>
  )
}

export function Card(props: {
  title: ComponentChildren
  hint?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <header class="row strip line-below">
        <h2 id={id}>{props.title}</h2>
        <p class="hint grow">{props.hint}</p>
        {props.actions}
      </header>
      {props.children}
    </section>
  )
}

/** The panel of the opened item, next to a list. On phones it is the whole page. */
export function Detail(props: {
  label: string
  title: ComponentChildren
  /** Shown after the title: a state, or actions. */
  head?: ComponentChildren
  children: ComponentChildren
  /** Default: opens the list. */
  onClose?: () => void
}) {
  const { onClose = () => open(here.value.path.slice(0, -1)) } = props
  useKeys({ Escape: onClose })
  return (
    <aside class="detail" aria-label={props.label}>
      <header class="detail-head row">
        <span class="back">
          <Button icon="back" kind="ghost" label="Back to the list" onClick={onClose} />
        </span>
        <h2>{props.title}</h2>
        {props.head}
        <Button icon="close" kind="ghost" label="Close" onClick={onClose} />
      </header>
      <section class="detail-body" tabIndex={0} aria-label={`${props.label}, content`}>
        {props.children}
      </section>
    </aside>
  )
}

/** Names with their values. */
export function FactList(props: { facts: readonly (readonly [name: ComponentChildren, value: string])[] }) {
  return (
    <dl class="facts stack small">
      {props.facts.map(([name, value], index) => (
        <div key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Things with a link each, and what is said about them. */
export function Links(props: { items: readonly (readonly [href: string, name: string, more?: string])[] }) {
  return (
    <ul class="links stack small dim">
      {props.items.map(([href, name, more = '']) => (
        <li key={name}>
          <a href={href}>{name}</a> {more}
        </li>
      ))}
    </ul>
  )
}

/** Opens a dialog when it gets into the page. */
export const showModal = (dialog: HTMLDialogElement | null) => dialog?.showModal()

/** A dialog: its title, its content, and its buttons. The first one only closes it. */
export function Dialog(props: {
  title: string
  kind?: string
  children: ComponentChildren
  hint?: ComponentChildren
  /** The button that does something. Default: there is nothing to do. */
  action?: ComponentChildren
  onClose: () => void
}) {
  const { title, kind = 'wide', children, hint, action, onClose } = props
  return (
    <dialog ref={showModal} class={`dialog ${kind}`} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <div class="actions row">
        {hint}
        <Button text={action === undefined ? 'Close' : 'Cancel'} onClick={onClose} />
        {action}
      </div>
    </dialog>
  )
}
