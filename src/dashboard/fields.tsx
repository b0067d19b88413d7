import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** A field with its label above and its error below. */
export function Field(props: {
  label: string
  error?: string | undefined
  children: (id: string, describedBy: string | undefined) => ComponentChildren
}) {
  const id = useId()
  return (
    <div class="field stack">
      <label for={id}>{props.label}</label>
      {props.children(id, props.error === undefined ? undefined : `${id}-error`)}
      {props.error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          <Icon name="error" size={12} />
          {props.error}
        </p>
      )}
    </div>
  )
}

/** A field for text. Other properties are those of an input. */
export function TextField(props: {
  label: string
  error?: string | undefined
  value: string
  onInput: (text: string) => void
  type?: 'password' | 'number'
  min?: number
  required?: boolean
  placeholder?: string
}) {
  const { label, error, onInput, ...input } = props
  return (
    <Field label={label} error={error}>
      {(id, describedBy) => (
        <input
          {...input}
          id={id}
          aria-describedby={describedBy}
          aria-invalid={error !== undefined || undefined}
          autocomplete="off"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

interface SelectProps {
  readonly value: string
  readonly choices: readonly (readonly [value: string, text: string])[]
  readonly onChoose: (value: string) => void
}

/** A list of choices, each with its value and its text. Other properties are those of a select. */
export function Select({ choices, onChoose, ...select }: SelectProps & Readonly<Record<string, unknown>>) {
  return (
    <select {...select} onChange={(event) => onChoose(event.currentTarget.value)}>
      {choices.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** A list of values of JSON, with the properties of a {@link Select}. */
export const valuesOf = (choices: Iterable<unknown>, value: unknown, onChoose: (value: unknown) => void) => ({
  value: JSON.stringify(value),
  choices: [...choices].map((each) => [JSON.stringify(each), String(each ?? 'none')] as const),
  onChoose: (text: string) => onChoose(JSON.parse(text)),
})

/** A field with a list of choices. */
export function ChoiceField({ label, ...select }: SelectProps & { label: string }) {
  return <Field label={label}>{(id) => <Select {...select} id={id} />}</Field>
}
