import { effect, signal } from '@preact/signals'
import { act } from './live.ts'
import { here } from './place.ts'
import { Button, Dialog } from './ui.tsx'

/** Whether the table of keys is shown. */
export const isHelpOpen = signal(false)

/** The text with which search and run was opened; undefined while it is closed. */
export const searched = signal<string | undefined>(undefined)

/** An action that loses data. */
interface Question {
  readonly title: string
  /** Names what is lost. */
  readonly text: string
  /** The text of the button. */
  readonly action: string
  readonly run: () => Promise<unknown>
  readonly done: string
}

/** The action that the user has to confirm. */
const question = signal<Question | undefined>(undefined)

/** Runs an action of the user when the user has confirmed it. */
export function confirm(asked: Question): void {
  question.value = asked
}

// The action belongs to the place where it was chosen.
effect(() => {
  void here.value
  question.value = undefined
})

/** Asks for confirmation before data is lost. The focus is on Cancel. */
export function Confirm() {
  const asked = question.value
  if (asked === undefined) return null
  const close = () => {
    question.value = undefined
  }
  const confirmed = () => {
    close()
    void act(asked.run, asked.done)
  }
  const actions = (
    <>
      <Button text="Cancel" onClick={close} />
      <Button text={asked.action} kind="danger" onClick={confirmed} />
    </>
  )
  return (
    <Dialog title={asked.title} kind="" actions={actions} onClose={close}>
      <p>{asked.text}</p>
    </Dialog>
  )
}
