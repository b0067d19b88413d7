import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** What connects a control with the label and the error of its field. */
export interface FieldAttributes {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

/** A field with its label above and its error below. */
export function Field(props: {
  label: string
  error?: string | undefined
  children: (attributes: FieldAttributes) => ComponentChildren
}) {
  const { label, error, children } = props
  const id = useId()
  const errorId = error === undefined ? undefined : `${id}-error`
  return (
    <div class="field stack">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': errorId, 'aria-invalid': error !== undefined || undefined })}
      {error !== undefined && (
        <p class="field-error" id={errorId}>
          <Icon name="error" size={12} />
          {error}
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
  type?: 'password'
  required?: boolean
  placeholder?: string
}) {
  const { label, error, onInput, ...input } = props
  return (
    <Field label={label} error={error}>
      {(attributes) => (
        <input
          {...input}
          {...attributes}
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
  return <Field label={label}>{(attributes) => <Select {...select} {...attributes} />}</Field>
}
