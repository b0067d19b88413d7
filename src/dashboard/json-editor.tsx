import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { useEffect, useRef, useState } from 'preact/hooks'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { keysOf } from '../core/json.ts'
import { after } from './browser.ts'
import { coloured } from './code.tsx'
import { humanName } from './format.ts'
import { Icon } from './icon.tsx'
import { changed } from './live.ts'
import { toast } from './toasts.ts'
import { Button, Dialog } from './ui.tsx'

/** A problem of a JSON text: its place (JSON Pointer, or an offset in the text), and a description. */
export interface EditorIssue {
  readonly pointer: string
  readonly detail: string
  readonly offset?: number
}

/** The problems for which the emulator has refused a document. Throws every other error. */
export function issuesOf(error: unknown): readonly EditorIssue[] {
  if (!(error instanceof EmulatorError)) throw error
  return error.issues.length > 0 ? error.issues : [{ pointer: '', detail: error.detail }]
}

/** The first syntax error of a JSON text; undefined when it can be parsed. */
export function jsonIssue(text: string): EditorIssue | undefined {
  const errors: ParseError[] = []
  parseTree(text, errors, { disallowComments: true })
  const [first] = errors
  if (first === undefined) return undefined
  // `ValueExpected` becomes `value expected`.
  const detail = humanName(printParseErrorCode(first.error)).toLowerCase()
  return { pointer: '', offset: first.offset, detail }
}

/** The part of a text that an issue is about: its first character, and its length. */
function placeOf(text: string, { pointer, offset }: EditorIssue) {
  if (offset !== undefined) return { offset, length: 1 }
  const path = keysOf(pointer).map((key) => (/^\d+$/.test(key) ? Number(key) : key))
  const root = parseTree(text)
  let node: Node | undefined
  // The problem of a missing value is shown at the object or array that should contain it.
  for (let count = path.length; root && node === undefined && count >= 0; count -= 1)
    node = findNodeAtLocation(root, path.slice(0, count))
  return { offset: node?.offset ?? 0, length: node?.length ?? 0 }
}

/** A field for JSON with colours, line numbers, and problems by line. */
export function JsonEditor(props: {
  label: string
  value: string
  issues: readonly EditorIssue[]
  onChange: (text: string) => void
}) {
  const field = useRef<HTMLTextAreaElement>(null)
  const { value } = props
  const issues = props.issues.map((issue) => {
    const place = placeOf(value, issue)
    return { ...issue, ...place, line: value.slice(0, place.offset).split('\n').length }
  })
  const lines = value.split('\n')
  const wrong = new Set(issues.map(({ line }) => line))
  const show = ({ offset, length }: ReturnType<typeof placeOf>) => {
    field.current?.focus()
    field.current?.setSelectionRange(offset, offset + length)
  }
  return (
    <div class="editor-root">
      {issues.length > 0 && (
        <div class="note error" role="alert">
          <Icon name="error" />
          <ul class="grow stack">
            {issues.map((issue) => (
              <li key={issue.pointer + issue.detail}>
                <button type="button" class="link" onClick={() => show(issue)}>
                  line {issue.line}
                </button>{' '}
                {issue.pointer} {issue.detail}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class={issues.length > 0 ? 'editor invalid' : 'editor'}>
        <pre class="gutter" aria-hidden="true">
          {lines.map((_, index) => (
            <span key={index} class={wrong.has(index + 1) ? 'wrong' : ''}>
              {index + 1}
              {'\n'}
            </span>
          ))}
        </pre>
        <div class="editor-text">
          <pre aria-hidden="true">{coloured(value)} </pre>
          <textarea
            ref={field}
            aria-label={props.label}
            aria-invalid={issues.length > 0 || undefined}
            spellcheck={false}
            rows={Math.max(6, lines.length)}
            value={value}
            onInput={(event) => props.onChange(event.currentTarget.value)}
          />
        </div>
      </div>
    </div>
  )
}

/**
 * The problems of a text according to the emulator, 150 ms after the last change of the text; undefined until then.
 * @param check rejects for an invalid text; undefined while there is nothing to check
 */
export function useVerdict(text: string | undefined, check: (() => Promise<unknown>) | undefined) {
  const [verdict, setVerdict] = useState<readonly EditorIssue[] | undefined>(undefined)
  useEffect(() => {
    setVerdict(undefined)
    if (check === undefined) return
    let isCurrent = true
    const ask = () => check().then(() => [], issuesOf)
    const cancel = after(150, () => void ask().then((found) => isCurrent && setVerdict(found)))
    return () => {
      isCurrent = false
      cancel()
    }
  }, [text])
  return verdict
}

/** Edits a document before it is sent. If the emulator refuses it, the problems are shown at their lines and nothing changes. */
export function JsonDialog(props: {
  title: string
  /** Explains the document and the effect of sending it. */
  text: string
  /** The initial document. */
  value: string
  action: string
  /** The place of the document in the sent body, as a JSON Pointer. Default: it is the body. */
  at?: string
  /** The text of the toast after success. */
  done: string
  onSubmit: (value: unknown) => Promise<unknown>
  onClose: () => void
}) {
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
  const action = (
    <Button
      text={props.action}
      kind="primary"
      disabled={syntax && 'The text is not valid JSON.'}
      onClick={() => void submit()}
    />
  )
  return (
    <Dialog title={props.title} action={action} onClose={props.onClose}>
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
