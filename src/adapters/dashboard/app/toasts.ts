import { signal } from '@preact/signals'
import { after } from './browser.ts'

/** A short message about an action of the user. */
export interface Toast {
  readonly id: number
  readonly tone: 'ok' | 'error' | 'info'
  readonly text: string
  readonly action?: { readonly label: string; readonly run: () => void }
}

export const toasts = signal<readonly Toast[]>([])

let count = 0

/** Shows a message: an error until it is closed, another for six seconds. At most three are shown. */
export function toast(tone: Toast['tone'], text: string, action?: Toast['action']): void {
  count += 1
  const id = count
  toasts.value = [...toasts.value.slice(-2), { id, tone, text, ...(action && { action }) }]
  if (tone !== 'error') after(6_000, () => dismiss(id))
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}
