import type { RefObject } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type JsonSchema, type Suggestion, suggestionsAt } from './json-completion.ts'

interface Open {
  readonly items: readonly Suggestion[]
  readonly at: number
  readonly caret: number
}

/** Replaces a part of the text in a way that the browser can undo. */
function replace(field: HTMLTextAreaElement, { from, to, insert }: Suggestion): void {
  field.setSelectionRange(from, to)
  // Only this command keeps the undo history. In a browser without it, the text changes without undo.
  if (document.execCommand('insertText', false, insert)) return
  field.setRangeText(insert, from, to, 'end')
  field.dispatchEvent(new InputEvent('input'))
}

/** Suggestions for a field with JSON, if its schema is known: the event handlers for the field, and the list. */
export function useSuggestions(field: RefObject<HTMLTextAreaElement | null>, schema: JsonSchema | undefined) {
  const [state, setState] = useState<Open | undefined>(undefined)
  const id = useId()
  const look = () => {
    const element = field.current
    if (element === null || schema === undefined) return setState(undefined)
    const caret = element.selectionStart
    const items = suggestionsAt(element.value, caret, schema)
    setState(items.length === 0 ? undefined : { items, at: 0, caret })
  }
  const accept = (chosen: Suggestion) => {
    const element = field.current
    if (element === null) return
    replace(element, chosen)
    setState(undefined)
    // Sets the caret inside the empty quotes, brackets or braces of the value.
    if (/(""|\[\]|\{\}),?$/.test(chosen.insert) && chosen.isKey) {
      const caret = chosen.from + chosen.insert.replace(/.,?$/, '').length
      element.setSelectionRange(caret, caret)
    } else if (chosen.isKey) look()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === ' ' && event.ctrlKey) look()
    else if (state === undefined) return
    else if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Enter' || event.key === 'Tab') accept(state.items[state.at] as Suggestion)
    else if (event.key === 'Escape') setState(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const move = (by: number) =>
    setState((open) => open && { ...open, at: (open.at + by + open.items.length) % open.items.length })
  // Suggests after a typed character, and after a deletion while the list is open; not after pasted text.
  const onInput = (event: InputEvent) => {
    const isTyped = event.inputType === 'insertText' && /^["\w.$-]$/.test(event.data ?? '')
    if (isTyped || (state !== undefined && event.inputType.startsWith('delete'))) look()
    else setState(undefined)
  }
  const list = state !== undefined && <SuggestionList id={id} open={state} field={field} onChoose={accept} />
  const attributes =
    state === undefined
      ? { 'aria-autocomplete': schema === undefined ? undefined : ('list' as const) }
      : {
          'aria-autocomplete': 'list' as const,
          'aria-controls': id,
          'aria-activedescendant': `${id}-${state.at}`,
        }
  return { attributes, list, onKeyDown, onInput, onBlur: () => setState(undefined) }
}

/** Maximum height of the list in px; the user scrolls to more rows. */
const MAX_HEIGHT = 200

function SuggestionList(props: {
  id: string
  open: Open
  field: RefObject<HTMLTextAreaElement | null>
  onChoose: (chosen: Suggestion) => void
}) {
  const { id, open, field, onChoose } = props
  const mark = useRef<HTMLSpanElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const before = (field.current?.value ?? '').slice(0, open.caret)
  const [line, column] = [before.split('\n').length, before.length - before.lastIndexOf('\n') - 1]
  // Below the caret, or above it if there is no space below. The window is the limit, not the editor.
  useLayoutEffect(() => {
    const [box, element] = [mark.current?.getBoundingClientRect(), list.current]
    if (box === undefined || element === null) return
    const isBelow = box.bottom + MAX_HEIGHT < innerHeight
    element.style.left = `${Math.max(8, Math.min(box.left, innerWidth - element.offsetWidth - 8))}px`
    element.style.top = `${isBelow ? box.bottom : box.top - element.offsetHeight}px`
    element.children[open.at]?.scrollIntoView({ block: 'nearest' })
  }, [open])
  return (
    <>
      <span
        ref={mark}
        class="caret-mark"
        aria-hidden="true"
        style={{ left: `calc(8px + ${column}ch)`, top: `${4 + (line - 1) * 20}px` }}
      />
      <div id={id} ref={list} class="suggestions" role="listbox" aria-label="Suggestions">
        {open.items.map((item, index) => (
          <div
            key={item.label}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === open.at}
            onPointerDown={(event) => {
              event.preventDefault()
              onChoose(item)
            }}
          >
            <code>{item.label}</code>
            <span class="hint">{item.hint}</span>
          </div>
        ))}
      </div>
      <span class="hidden" role="status">
        {open.items.length === 1 ? '1 suggestion' : `${open.items.length} suggestions`}
      </span>
    </>
  )
}
