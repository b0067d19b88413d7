import { advanceToNext, jump, playOrPause, stepOnce } from './clock-bar.tsx'
import { isHelpOpen, searched } from './dialogs.tsx'
import { goTo, linkTo } from './place.ts'
import { hasLetterKeys, nextTheme } from './theme.ts'
import { toasts } from './toasts.ts'
import { Button, Dialog, FactList } from './ui.tsx'
import { viewKeys } from './view-keys.ts'
import { views } from './views.ts'

/** The first of two keys: `g` or `+`. */
let first: string | undefined

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
}

function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('button, a, summary, [role=option], tr[tabindex]') !== null
  )
}

const AFTER_PLUS: Readonly<Record<string, string>> = { m: '1m', h: '1h', d: '24h' }

const GLOBAL: Readonly<Record<string, () => void>> = {
  '?': () => {
    isHelpOpen.value = true
  },
  '.': stepOnce,
  n: advanceToNext,
  t: nextTheme,
  s: () => document.querySelector<HTMLElement>('.sandboxes button')?.click(),
  '/': () => document.querySelector<HTMLElement>('[data-filter]')?.focus(),
  '[': () => moveTab(-1),
  ']': () => moveTab(1),
}

function moveTab(by: number): void {
  const tabs = [...document.querySelectorAll<HTMLElement>('[role=tab]')]
  const now = tabs.findIndex((tab) => tab.getAttribute('aria-selected') === 'true')
  tabs[now + by]?.click()
}

/** Listens for the keys of the whole page. */
export function startKeyboard(): void {
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      searched.value = ''
      return
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (document.querySelector('dialog[open], :popover-open') !== null) return
    const { key } = event
    if (key === 'Escape') {
      toasts.value = toasts.value.slice(0, -1)
      return viewKeys.get(key)?.()
    }
    if (isField(event.target) || !hasLetterKeys.value) return
    const before = first
    first = undefined
    const found = before === undefined ? single(event) : second(before, key)
    if (found !== undefined) {
      event.preventDefault()
      found()
    }
  })
}

function second(before: string, key: string): (() => void) | undefined {
  const by = AFTER_PLUS[key]
  if (before === '+') return by === undefined ? undefined : () => jump(by)
  const view = views.find((each) => each.key === key)
  return view && (() => goTo(linkTo(view.name)))
}

function single(event: KeyboardEvent): (() => void) | undefined {
  const { key } = event
  if (key === ' ') return isControl(event.target) ? undefined : playOrPause
  const ofView = viewKeys.get(key)
  if (ofView !== undefined) return ofView
  if (key === 'g' || key === '+') {
    first = key
    return () => {}
  }
  return GLOBAL[key]
}

const TABLE: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K, ⌘K', 'Search and run'],
  ['?', 'This table'],
  ['/', 'Filter'],
  ['j k, arrows', 'Next, previous row'],
  ['Enter', 'Open'],
  ['Esc', 'Close the dialog, panel or message'],
  ['[ ]', 'Previous, next tab'],
  ['Space', 'Run or freeze the clock'],
  ['.', 'Step'],
  ['+ then m, h, d', 'Advance 1 m, 1 h, 24 h'],
  ['n', 'Advance to the next event'],
  ['c', 'Copy as curl'],
  ['f', 'Make this fail'],
  ['r', 'Send again'],
  ['Ctrl S, ⌘S', 'Save the record'],
  ['s', 'Switch the sandbox'],
  ['t', 'System, light or dark colours'],
]

export function KeyboardHelp() {
  const close = () => {
    isHelpOpen.value = false
  }
  return (
    <Dialog
      title="Keyboard"
      kind="wide keys"
      actions={<Button text="Close" onClick={close} />}
      onClose={close}
    >
      <FactList facts={[...TABLE, ...views.map(({ key, title }) => [`g ${key}`, title] as const)]} areKeys />
    </Dialog>
  )
}
