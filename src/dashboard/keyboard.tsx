import { advanceToNext, jump, playOrPause, stepOnce } from './clock-bar.tsx'
import { closeDialog, dialog, search } from './dialogs.tsx'
import { goTo, linkTo } from './place.ts'
import { hasLetterKeys, nextTheme } from './theme.ts'
import { toasts } from './toasts.ts'
import { Dialog, FactList } from './ui.tsx'
import { viewKeys } from './view-keys.ts'
import { views } from './views.ts'

/** The table of keys, which `?` shows. */
const TABLE = [
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
  ...views.map(({ key, title }) => [`g ${key}`, title]),
]

/** What each key does in every view, and each two keys one after the other. */
const KEYS: Readonly<Record<string, () => void>> = {
  '?': () => {
    dialog.value = (
      <Dialog title="Keyboard" kind="wide keys" onClose={closeDialog}>
        <FactList facts={TABLE.map(([keys, does = '']) => [<kbd>{keys}</kbd>, does])} />
      </Dialog>
    )
  },
  ' ': playOrPause,
  '.': stepOnce,
  '+m': () => jump('1m'),
  '+h': () => jump('1h'),
  '+d': () => jump('24h'),
  n: advanceToNext,
  t: nextTheme,
  s: () => document.querySelector<HTMLElement>('.sandboxes button')?.click(),
  '/': () => document.querySelector<HTMLElement>('[data-filter]')?.focus(),
  '[': () => moveTab(-1),
  ']': () => moveTab(1),
  ...Object.fromEntries(views.map(({ key, name }) => [`g${key}`, () => goTo(linkTo(name))])),
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
      return search()
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (document.querySelector('dialog[open], :popover-open') !== null) return
    const { key } = event
    if (key === 'Escape') {
      toasts.value = toasts.value.slice(0, -1)
      return viewKeys.get(key)?.()
    }
    if (isIn(event, 'input, textarea, select') || !hasLetterKeys.value) return
    const run = actionOf(event)
    if (run === undefined) return
    event.preventDefault()
    run()
  })
}

const isIn = ({ target }: Event, selector: string) =>
  target instanceof Element && target.closest(selector) !== null

/** The first of two keys, after it was pressed: `g` or `+`. */
let first = ''

function actionOf(event: KeyboardEvent): (() => void) | undefined {
  const keys = first + event.key
  first = ''
  if (keys === ' ' && isIn(event, 'button, a, summary, [role=option], tr[tabindex]')) return undefined
  if (keys === 'g' || keys === '+') {
    first = keys
    return () => {}
  }
  return viewKeys.get(keys) ?? KEYS[keys]
}
