import type { JSX } from 'preact'
import { Field } from './fields.tsx'
import { pretty } from './format.ts'
import type { EditorIssue } from './json-editor.tsx'
import { type FieldSchema, initialValue } from './record-schema.ts'
import { Button, Note, Problem } from './ui.tsx'

interface FormProps {
  readonly text: string
  readonly isValid: boolean
  readonly issues: readonly EditorIssue[]
  /** Undefined until they are loaded. */
  readonly fields: ReadonlyMap<string, FieldSchema> | undefined
  readonly onChange: (text: string) => void
}

/** The fields of a record, each with the control that fits its schema. */
export function RecordForm({ text, isValid, issues, fields, onChange }: FormProps) {
  if (!isValid) return <Note tone="warn">The text is not valid JSON. Correct it in the JSON tab first.</Note>
  const record = JSON.parse(text) as Record<string, unknown>
  const others = issues.filter(({ pointer }) => !Object.hasOwn(record, pointer.split('/')[1] ?? ''))
  return (
    <div class="fields">
      {others.length > 0 && (
        <Problem text={others.map(({ pointer, detail }) => `${pointer} ${detail}`.trim()).join('. ')} />
      )}
      {Object.entries(record).map(([name, value]) => {
        const error = issues.find(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))
        return (
          <Field key={name} label={name} error={error && `${error.pointer} ${error.detail}`}>
            {(id, describedBy) => (
              <Control
                id={id}
                describedBy={describedBy}
                value={value}
                field={fields?.get(name)}
                onSet={(next) => onChange(pretty({ ...record, [name]: next }))}
              />
            )}
          </Field>
        )
      })}
    </div>
  )
}

interface ControlProps {
  readonly id: string
  readonly describedBy: string | undefined
  readonly value: unknown
  readonly field: FieldSchema | undefined
  readonly onSet: (value: unknown) => void
}

function Control({ id, describedBy, value, field, onSet }: ControlProps): JSX.Element {
  const common = {
    id,
    'aria-describedby': describedBy,
    'aria-invalid': describedBy !== undefined || undefined,
  }
  if (field?.kind === 'choice') {
    // The present value can always be chosen, even if the schema does not allow it.
    const choices = new Set([...field.choices, value as string | boolean | null])
    return (
      <select
        {...common}
        value={value === null ? 'null' : JSON.stringify(value)}
        onChange={(event) => onSet(JSON.parse(event.currentTarget.value))}
      >
        {[...choices].map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {choice === null ? 'none' : String(choice)}
          </option>
        ))}
      </select>
    )
  }
  if (typeof value === 'boolean')
    return (
      <input
        {...common}
        type="checkbox"
        checked={value}
        onChange={(event) => onSet(event.currentTarget.checked)}
      />
    )
  const isNumber = typeof value === 'number' || (value === null && field?.kind === 'number')
  if (isNumber || typeof value === 'string' || (value === null && field?.kind === 'text'))
    return (
      <input
        {...common}
        {...(isNumber && { type: 'number', step: 'any' })}
        value={value ?? ''}
        placeholder={value === null && !isNumber ? 'null' : ''}
        onInput={({ currentTarget: { value: text } }) => {
          const isNull = text === '' && field?.isNullable === true && (isNumber || value !== '')
          onSet(isNull ? null : isNumber ? Number(text) : text)
        }}
      />
    )
  return (
    <input {...common} class="mono" readOnly value={JSON.stringify(value)} title="Edit it in the JSON tab." />
  )
}

/** The fields that a record can have but does not: a click adds one. */
export function MissingFields({ text, isValid, fields, onChange }: Omit<FormProps, 'issues'>) {
  if (!isValid || fields === undefined) return null
  const record: unknown = JSON.parse(text)
  if (typeof record !== 'object' || record === null) return null
  const missing = [...fields].filter(([name]) => !Object.hasOwn(record, name))
  if (missing.length === 0) return null
  return (
    <p class="row-actions" role="group" aria-label="Fields that are not set">
      <span class="hint">Not set:</span>
      {missing.map(([name, field]) => (
        <Button
          text={field.isRequired ? `${name}, required` : name}
          key={name}
          icon="plus"
          onClick={() => onChange(pretty({ ...record, [name]: initialValue(field) }))}
        />
      ))}
    </p>
  )
}
