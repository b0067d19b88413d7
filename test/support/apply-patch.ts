import type { JsonPatchOperation } from '../../src/core/explain/effects.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { keysOf } from '../../src/core/json.ts'

/** RFC 6902 as far as records need it: add, replace and remove of fields. Throws for an operation that does not fit. */
export function applyPatch(
  document: Json | undefined,
  patch: readonly JsonPatchOperation[],
): Json | undefined {
  return patch.reduce<Json | undefined>(
    (value, operation) => applyAt(value, keysOf(operation.path), operation),
    document,
  )
}

function applyAt(
  value: Json | undefined,
  [key, ...rest]: readonly string[],
  operation: JsonPatchOperation,
): Json | undefined {
  if (key === undefined) return operation.op === 'remove' ? undefined : operation.value
  const members = new Map(Object.entries(value as JsonObject))
  const isNew = rest.length === 0 && operation.op === 'add'
  if (isNew === members.has(key)) throw new Error(`${operation.op} ${operation.path} does not fit`)
  const next = applyAt(members.get(key), rest, operation)
  if (next === undefined) members.delete(key)
  else members.set(key, next)
  return Object.fromEntries(members)
}
