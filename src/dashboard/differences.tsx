import type { ComponentProps } from 'preact'
import { ChoiceField } from './fields.tsx'
import { countOf, pretty } from './format.ts'
import type { Loaded } from './loaded.tsx'
import { Button, Dialog, Note } from './ui.tsx'

interface Row {
  readonly id: string
  readonly [field: string]: unknown
}

/** Records by collection. */
export type RecordsByCollection = Readonly<Record<string, readonly Row[]>>

/** Fields that differ: `-` with the old value, `+` with the new one. */
type Lines = readonly (readonly ['+' | '-', string])[]

interface Difference {
  readonly ref: string
  /** Such as `added`. */
  readonly what: string
  readonly lines: Lines
}

export function recordDifferences(before: RecordsByCollection, after: RecordsByCollection): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    const old = new Map((before[name] ?? []).map((row) => [row.id, row]))
    const now = new Map((after[name] ?? []).map((row) => [row.id, row]))
    const ids = new Set([...old.keys(), ...now.keys()])
    return [...ids].flatMap((id) => difference(`${name}/${id}`, old.get(id), now.get(id)) ?? [])
  })
}

function difference(ref: string, before: Row | undefined, after: Row | undefined): Difference | undefined {
  if (before === undefined) return { ref, what: 'added', lines: [['+', pretty(after)]] }
  if (after === undefined) return { ref, what: 'removed', lines: [['-', pretty(before)]] }
  const lines = fieldDifferences(before, after)
  return lines.length === 0 ? undefined : { ref, what: 'changed', lines }
}

/**
 * The differences between two versions of one object, field by field. Fields inside fields are named by their path: `a/0/b`.
 * @param at the path of the object, with a slash at its end
 */
export function fieldDifferences(before: object, after: object, at = ''): Lines {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((field): Lines => {
    const [was, is] = [old.get(field), now.get(field)]
    if (pretty(was) === pretty(is)) return []
    if (isBranch(was) && isBranch(is) && Array.isArray(was) === Array.isArray(is))
      return fieldDifferences(was, is, `${at}${field}/`)
    return [
      ...(old.has(field) ? [['-', `${at}${field}: ${pretty(was)}`] as const] : []),
      ...(now.has(field) ? [['+', `${at}${field}: ${pretty(is)}`] as const] : []),
    ]
  })
}

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

export function DiffLines({ lines }: { lines: Lines }) {
  return (
    <>
      {lines.map(([sign, line]) => (
        <pre key={sign + line} class={sign === '+' ? 'plus' : 'minus'}>
          {line}
        </pre>
      ))}
    </>
  )
}

/** Maximum number of differences that are shown; more are only counted. */
const MAX_DIFFERENCES = 200

/** The differences between two things that the user chooses. */
export function CompareDialog(props: {
  title: string
  fields: readonly ComponentProps<typeof ChoiceField>[]
  loaded: Loaded<readonly Difference[]>
  /** What differs: `record`. */
  noun: string
  linkOf: (ref: string) => string
  onClose: () => void
}) {
  const { title, fields, loaded, noun, linkOf, onClose } = props
  const { data, notice } = loaded
  const found = data ?? []
  const actions = (
    <>
      <span class="hint">
        {countOf(found.length, noun)} differ{found.length === 1 ? 's' : ''}
        {found.length > MAX_DIFFERENCES && `, the first ${MAX_DIFFERENCES} are shown`}
      </span>
      <Button onClick={onClose}>Close</Button>
    </>
  )
  return (
    <Dialog title={title} actions={actions} onClose={onClose}>
      <div class="compare-choice">
        {fields.map((field) => (
          <ChoiceField key={field.label} {...field} />
        ))}
      </div>
      {notice}
      {data !== undefined && found.length === 0 && <Note>{`No ${noun} differs.`}</Note>}
      <section class="diff" tabIndex={0} aria-label="Differences">
        {found.slice(0, MAX_DIFFERENCES).map(({ ref, what, lines }) => (
          <section key={ref}>
            <h3>
              <a href={linkOf(ref)} onClick={onClose}>
                {ref}
              </a>{' '}
              {what}
            </h3>
            <DiffLines lines={lines} />
          </section>
        ))}
      </section>
    </Dialog>
  )
}
