import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { useRef } from 'preact/hooks'
import { coloured } from './code.tsx'
import { humanName } from './format.ts'
import { Icon } from './icon.tsx'
import type { JsonSchema } from './json-completion.ts'
import { useSuggestions } from './json-suggest.tsx'

/** A problem of a JSON text: its place (JSON Pointer), and a description. */
export interface EditorIssue {
  readonly pointer: string
  readonly detail: string
}

interface Found extends EditorIssue {
  readonly offset: number
  readonly length: number
  readonly line: number
}

/** The first syntax error of a JSON text; undefined when it can be parsed. */
export function jsonIssue(text: string): EditorIssue | undefined {
  const errors: ParseError[] = []
  parseTree(text, errors)
  const [first] = errors
  if (first === undefined && text.trim() !== '') return undefined
  return {
    pointer: `@${first?.offset ?? 0}`,
    // `ValueExpected` becomes `value expected`.
    detail: first === undefined ? 'is empty' : humanName(printParseErrorCode(first.error)).toLowerCase(),
  }
}

function locate(text: string, issue: EditorIssue): Found {
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  if (issue.pointer.startsWith('@')) {
    const offset = Number(issue.pointer.slice(1))
    return { ...issue, pointer: '', offset, length: 1, line: lineAt(offset) }
  }
  const root = parseTree(text)
  const parts = issue.pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let node: Node | undefined
  // The problem of a missing value is shown at the object or array that should contain it.
  for (let count = parts.length; node === undefined && count >= 0; count -= 1) {
    const path = parts.slice(0, count).map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    node = root && findNodeAtLocation(root, path)
  }
  const offset = node?.offset ?? 0
  return { ...issue, offset, length: node?.length ?? 0, line: lineAt(offset) }
}

const MEANT = /Did you mean "([^"]+)"/

/** A field for JSON with colours, line numbers, problems by line, and suggestions if the schema is known. */
export function JsonEditor(props: {
  label: string
  value: string
  issues: readonly EditorIssue[]
  onChange: (text: string) => void
  schema?: JsonSchema | undefined
}) {
  const field = useRef<HTMLTextAreaElement>(null)
  const { value, onChange } = props
  const suggestions = useSuggestions(field, props.schema)
  const issues = props.issues.map((issue) => locate(value, issue))
  const lines = value.split('\n')
  const wrong = new Set(issues.map(({ line }) => line))
  const show = ({ offset, length }: Found) => {
    field.current?.focus()
    field.current?.setSelectionRange(offset, offset + length)
  }
  return (
    <div class="editor-root">
      {issues.length > 0 && (
        <div class="note error" role="alert">
          <Icon name="error" />
          <ul>
            {issues.map((issue) => {
              const meant = MEANT.exec(issue.detail)?.[1]
              const detail = issue.detail.replace(MEANT, '').replace(/\s*\?$/, '')
              return (
                <li key={issue.pointer + issue.detail}>
                  <button type="button" class="link" onClick={() => show(issue)}>
                    line {issue.line}
                  </button>{' '}
                  {issue.pointer} {detail}
                  {meant !== undefined && (
                    <>
                      {' Did you mean '}
                      <button
                        type="button"
                        class="link"
                        onClick={() =>
                          onChange(
                            `${value.slice(0, issue.offset)}${JSON.stringify(meant)}${value.slice(issue.offset + issue.length)}`,
                          )
                        }
                      >
                        {meant}
                      </button>
                      ?
                    </>
                  )}
                </li>
              )
            })}
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
            {...suggestions.attributes}
            spellcheck={false}
            rows={Math.max(6, lines.length)}
            value={value}
            onInput={(event) => {
              onChange(event.currentTarget.value)
              suggestions.onInput(event as InputEvent)
            }}
            onKeyDown={suggestions.onKeyDown}
            onBlur={suggestions.onBlur}
          />
          {suggestions.list}
        </div>
      </div>
      {props.schema !== undefined && (
        <p class="hint">
          <kbd>Ctrl Space</kbd> suggests fields and values
        </p>
      )}
    </div>
  )
}
