import { isObject, type Json, pointer } from '../../core/json.ts'
import { FREE_FIELDS, WORDS } from '../../service/imported.ts'
import { isPlain } from './checks.ts'

/** The types of each place in some bodies, and the words of the service there. `*` is any item of a list. */
export type Shape = ReadonlyMap<string, { readonly types: Set<string>; readonly words: Set<string> }>

/** Fields with content of clients, whose own fields are nobody's contract. */
const FREE = [...FREE_FIELDS, 'details', 'errors', 'error']

const WORD_FIELDS = ['object', 'status', 'scope', 'role', ...WORDS].filter((each) => each !== 'model')

export function shapeOf(values: Iterable<Json>): Shape {
  const shape = new Map<string, { types: Set<string>; words: Set<string> }>()
  const add = (value: Json, at: string, name: string): void => {
    const place = shape.get(at) ?? { types: new Set(), words: new Set() }
    shape.set(at, place)
    place.types.add(value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)
    if (typeof value === 'boolean' || (typeof value === 'string' && WORD_FIELDS.includes(name)))
      place.words.add(String(value))
    if (Array.isArray(value)) for (const each of value) add(each, `${at}/*`, name)
    else if (isObject(value) && !FREE.includes(name))
      for (const [key, each] of Object.entries(value))
        add(each as Json, at + pointer(isPlain(key) ? key : '...'), key)
  }
  for (const value of values) add(value, '', '')
  return shape
}

/** How a place of a shape is unlike in another one. */
export interface Unlike {
  readonly at: string
  readonly kind: 'gone' | 'added' | 'changed'
  readonly detail: string
}

/** The places that differ: of a part that is missing, only its top. */
export function unlikeIn(before: Shape, after: Shape): Unlike[] {
  const parentIn = (shape: Shape, at: string) => {
    const types = shape.get(at.replace(/\/[^/]*$/, ''))?.types
    return types?.has('object') || types?.has('list')
  }
  const missingIn = (shape: Shape, at: string) => !shape.has(at) && parentIn(shape, at) && !at.endsWith('/*')
  const found: Unlike[] = []
  for (const [at, { types, words }] of before) {
    const other = after.get(at)
    const unlike = (kind: Unlike['kind'], detail: string) => found.push({ at, kind, detail })
    if (other === undefined) {
      if (missingIn(after, at)) unlike('gone', 'is missing')
      continue
    }
    if (areApart(types, other.types)) unlike('changed', `is ${list(other.types)} instead of ${list(types)}`)
    else if (words.size > 0 && other.words.size > 0 && areApart(words, other.words))
      unlike('changed', `is ${list(other.words)} instead of ${list(words)}`)
  }
  for (const at of after.keys())
    if (missingIn(before, at)) found.push({ at, kind: 'added', detail: 'is new' })
  return found
}

const areApart = (before: ReadonlySet<string>, after: ReadonlySet<string>) =>
  ![...before].some((each) => after.has(each))

// A word may be a secret.
const list = (words: Iterable<string>) =>
  [...words]
    .map((word) => (isPlain(word) ? word : 'another word'))
    .sort()
    .join(' or ')
