import { isObject, type Json, type JsonObject } from '../json.ts'

/** One step of a difference: the path of keys to a member, and its new value; without a value the member is removed. */
export type PatchStep = readonly [path: readonly string[], value?: Json]

/**
 * The difference between two JSON objects, member by member. Parts that are the same object are not looked into, so the
 * cost follows what changed, not what is there. Arrays are compared by identity and replaced whole.
 */
export function diff(before: JsonObject, after: JsonObject): PatchStep[] {
  const steps: PatchStep[] = []
  collect(before, after, [], steps)
  return steps
}

function collect(before: JsonObject, after: JsonObject, path: readonly string[], steps: PatchStep[]): void {
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue
    const old = Object.hasOwn(before, key) ? before[key] : undefined
    if (old === value) continue
    if (isObject(old) && isObject(value)) collect(old, value, [...path, key], steps)
    else steps.push([[...path, key], value])
  }
  for (const key of Object.keys(before)) {
    const gone = !Object.hasOwn(after, key) || after[key] === undefined
    if (gone && before[key] !== undefined) steps.push([[...path, key]])
  }
}

/** Applies a difference. The given object stays as it is; untouched parts are shared with the result. */
export function patch(before: JsonObject, steps: readonly PatchStep[]): JsonObject {
  return steps.reduce((object, step) => replace(object, step[0], step), before)
}

function replace(object: JsonObject, path: readonly string[], step: PatchStep): JsonObject {
  const [key, ...rest] = path
  if (key === undefined) throw new Error('a patch step needs a path')
  const copy = { ...object }
  if (rest.length === 0) {
    if (step.length === 1) delete copy[key]
    else define(copy, key, step[1] as Json)
    return copy
  }
  const inner = Object.hasOwn(object, key) ? object[key] : undefined
  if (!isObject(inner))
    throw new Error(`the log changes ${path.join('/')}, which is not an object at that point`)
  define(copy, key, replace(inner, rest, step))
  return copy
}

// Plain assignment to `__proto__` would set the prototype and lose the member.
function define(object: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}
