import { isObject, type Json, pointer } from '../../core/json.ts'
import { FREE_FIELDS, WORDS } from '../../service/imported.ts'
import { isPlain } from './checks.ts'

interface Place {
  readonly types: Set<string>
  /** Those of fields whose words the service defines, and of switches. */
  readonly words: Set<string>
  /** How often it occurs, and how many objects are there. */
  count: number
  objects: number
}

/** What each place of some bodies has. `*` is any item of a list. */
export type Shape = ReadonlyMap<string, Place>

/** Fields with content of clients, whose own fields are nobody's contract. */
const FREE = [...FREE_FIELDS, 'details', 'errors', 'error']

const WORD_FIELDS = ['object', 'status', 'scope', 'role', ...WORDS].filter((each) => each !== 'model')

export function shapeOf(values: Iterable<Json>): Shape {
  const shape = new Map<string, Place>()
  const add = (value: Json, at: string, name: string): void => {
    const place = shape.get(at) ?? { types: new Set(), words: new Set(), count: 0, objects: 0 }
    shape.set(at, place)
    place.count += 1
    if (value !== null) place.types.add(Array.isArray(value) ? 'list' : typeof value)
    if (typeof value === 'boolean' || (typeof value === 'string' && WORD_FIELDS.includes(name)))
      place.words.add(String(value))
    if (Array.isArray(value)) for (const each of value) add(each, `${at}/*`, name)
    if (!isObject(value) || FREE.includes(name)) return
    place.objects += 1
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

/** The places that differ: of a part that is missing, only its top; what was not always there may be missing. */
export function unlikeIn(before: Shape, after: Shape): Unlike[] {
  const objectsAt = (shape: Shape, at: string) => shape.get(at.replace(/\/[^/]*$/, ''))?.objects ?? 0
  const found: Unlike[] = []
  for (const [at, { types, words, count }] of before) {
    const other = after.get(at)
    const isAlways = count === objectsAt(before, at)
    if (other === undefined) {
      if (isAlways && objectsAt(after, at) > 0) found.push({ at, kind: 'gone', detail: 'is missing' })
    } else if (areApart(types, other.types))
      found.push({ at, kind: 'changed', detail: `is ${list(other.types)} instead of ${list(types)}` })
    else if (areApart(words, other.words))
      found.push({ at, kind: 'changed', detail: `is ${list(other.words)} instead of ${list(words)}` })
  }
  for (const at of after.keys())
    if (!before.has(at) && objectsAt(before, at) > 0) found.push({ at, kind: 'added', detail: 'is new' })
  return found
}

// Nothing is known about a place that has only null, or only texts that are no words.
const areApart = (before: ReadonlySet<string>, after: ReadonlySet<string>) =>
  before.size > 0 && after.size > 0 && ![...before].some((each) => after.has(each))

// A word may be a secret.
const list = (words: Iterable<string>) =>
  [...words]
    .map((word) => (isPlain(word) ? word : 'another word'))
    .sort()
    .join(' or ')
