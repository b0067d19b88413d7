import { signal } from '@preact/signals'
import { after, copyText } from './browser.ts'

/** A short message about an action of the user. */
export interface Toast {
  readonly id: number
  readonly tone: 'ok' | 'error' | 'info'
  readonly text: string
  readonly action?: { readonly label: string; readonly run: () => void }
}

export const toasts = signal<readonly Toast[]>([])

let count = 0

/** Seconds for which a message is shown: an error can be longer, and says what to do. */
const SECONDS = { ok: 6, info: 6, error: 20 }

/** Shows a message for some seconds. A click on it or Escape closes it earlier. At most three are shown. */
export function toast(tone: Toast['tone'], text: string, action?: Toast['action']): void {
  count += 1
  const id = count
  toasts.value = [...toasts.value.slice(-2), { id, tone, text, ...(action && { action }) }]
  after(SECONDS[tone] * 1_000, () => dismiss(id))
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Copies a text to the clipboard, and shows `done`, or why it is not copied. @returns whether it is copied */
export async function copy(text: string, done?: string): Promise<boolean> {
  const isCopied = await copyText(text)
  // A longer text is shown where it can be selected.
  const byHand = text.length > 200 ? 'select the text and copy it' : `copy it from here: ${text}`
  if (!isCopied) toast('error', `The browser did not allow copying. Allow it for this page, or ${byHand}`)
  else if (done !== undefined) toast('ok', done)
  return isCopied
}
