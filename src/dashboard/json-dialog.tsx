import { useState } from 'preact/hooks'
import { type EditorIssue, issuesOf, JsonEditor, jsonIssue } from './json-editor.tsx'
import { changed } from './live.ts'
import { toast } from './toasts.ts'
import { Button, Dialog } from './ui.tsx'

interface JsonDialogProps {
  readonly title: string
  /** Explains the document and the effect of sending it. */
  readonly text: string
  /** The initial document. */
  readonly value: string
  readonly action: string
  /** The place of the document in the sent body, as a JSON Pointer. Default: it is the body. */
  readonly at?: string
  /** The text of the toast after success. */
  readonly done: string
  readonly onSubmit: (value: unknown) => Promise<unknown>
  readonly onClose: () => void
}

/** Edits a document before it is sent. If the emulator refuses it, the problems are shown at their lines and nothing changes. */
export function JsonDialog(props: JsonDialogProps) {
  const { at = '' } = props
  const [value, setValue] = useState(props.value)
  const [issues, setIssues] = useState<readonly EditorIssue[]>([])
  const syntax = jsonIssue(value)
  const submit = async () => {
    try {
      await props.onSubmit(JSON.parse(value))
      toast('ok', props.done)
      changed()
      props.onClose()
    } catch (error) {
      const found = issuesOf(error)
      setIssues(found.map((issue) => ({ ...issue, pointer: issue.pointer.replace(at, '') })))
    }
  }
  const actions = (
    <>
      <Button text="Cancel" onClick={props.onClose} />
      <Button
        text={props.action}
        kind="primary"
        disabled={syntax && 'The text is not valid JSON.'}
        onClick={() => void submit()}
      />
    </>
  )
  return (
    <Dialog title={props.title} actions={actions} onClose={props.onClose}>
      <p>{props.text}</p>
      <JsonEditor
        label={`${props.title} as JSON`}
        value={value}
        issues={syntax === undefined ? issues : [syntax]}
        onChange={(next) => {
          setValue(next)
          setIssues([])
        }}
      />
    </Dialog>
  )
}
