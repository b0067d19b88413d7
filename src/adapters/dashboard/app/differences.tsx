import { pretty } from './format.ts'

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
  readonly what: 'added' | 'removed' | 'changed'
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
