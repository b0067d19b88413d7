import { effect, signal } from '@preact/signals'
import type { VNode } from 'preact'
import { act } from './live.ts'
import { here } from './place.ts'
import { Button, Dialog } from './ui.tsx'

/** The text with which search and run was opened; undefined while it is closed. */
export const searched = signal<string | undefined>(undefined)

/** Opens search and run. */
export function search(text = ''): void {
  searched.value = text
}

/** The dialog in front of the page. */
export const dialog = signal<VNode | undefined>(undefined)

export function closeDialog(): void {
  dialog.value = undefined
}

// It belongs to the place where it was opened.
effect(() => {
  void here.value
  closeDialog()
})

/** Runs an action that loses data when the user has confirmed it. The focus is on Cancel. */
export function confirm(asked: {
  title: string
  /** Names what is lost. */
  text: string
  /** The text of the button. */
  action: string
  run: () => Promise<unknown>
  done: string
}): void {
  const { title, text, action, run, done } = asked
  const confirmed = () => {
    closeDialog()
    void act(run, done)
  }
  const button = <Button text={action} kind="danger" onClick={confirmed} />
  dialog.value = (
    <Dialog title={title} kind="" action={button} onClose={closeDialog}>
      <p>{text}</p>
    </Dialog>
  )
}
