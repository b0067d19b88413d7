import { type Json, type JsonObject, pointer } from '../json.ts'
import type { Row } from '../state/commit.ts'
import { diff, type PatchStep } from '../state/diff.ts'

/** One operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

/**
 * What makes one record of another, as an RFC 6902 patch. A record that comes to be is added whole, one that goes is
 * removed whole: the empty path is the whole document. Arrays are replaced whole.
 */
export function jsonPatch(before: Row | undefined, after: Row | undefined): JsonPatchOperation[] {
  if (after === undefined) return before === undefined ? [] : [{ op: 'remove', path: '' }]
  const target = after as unknown as JsonObject
  if (before === undefined) return [{ op: 'add', path: '', value: target }]
  const source = before as unknown as JsonObject
  return diff(source, target).map((step) => asOperation(source, step))
}

function asOperation(source: JsonObject, [keys, ...value]: PatchStep): JsonPatchOperation {
  const path = pointer(...keys)
  if (value.length === 0) return { op: 'remove', path }
  return { op: has(source, keys) ? 'replace' : 'add', path, value: value[0] as Json }
}

// The steps of a difference only lead through members that both sides have as objects.
function has(source: JsonObject, keys: readonly string[]): boolean {
  let place: JsonObject = source
  for (const key of keys.slice(0, -1)) place = place[key] as JsonObject
  const last = keys.at(-1) as string
  return Object.hasOwn(place, last) && place[last] !== undefined
}
