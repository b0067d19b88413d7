/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object. Its keys come from callers, so `__proto__` is a key like any other. */
export type JsonObject = { readonly [key: string]: Json }

/** A type with all its fields and lists readonly. The type {@link Json} is so already. */
export type Immutable<T> = [Json] extends [T]
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T

/** One problem of an input: its place (RFC 6901 JSON Pointer, `''` for the whole input), and a description. */
export type Issue = {
  readonly pointer: string
  readonly detail: string
  /** The `custom_id` of the item that contains the problem, when items have one. */
  readonly custom_id?: string
}

/** Joins keys into an RFC 6901 JSON Pointer: `pointer('items', 3, 'a/b')` is `/items/3/a~1b`. */
export function pointer(...keys: readonly PropertyKey[]): string {
  let text = ''
  for (const key of keys) {
    const plain = String(key)
    text += `/${/[~/]/.test(plain) ? plain.replaceAll('~', '~0').replaceAll('/', '~1') : plain}`
  }
  return text
}

/** True for a JSON object, false for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a JSON text; undefined for a text that is none, as a body is of which only the beginning is kept. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value under a name that a user or a client chose: it may be one that every object has. */
export function ownValue<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

/** A copy of a JSON value in which each text, also each name of a field, is replaced. */
export function withTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((each) => withTexts(each, replace))
  if (!isObject(value)) return value
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([name, each]) => [replace(name), withTexts(each, replace)]))
}

/** Whether two values are equal as JSON. The order of fields does not matter, and an undefined field counts as absent. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((each, n) => same(each, b[n]))
    )
  }
  if (!isObject(a) || !isObject(b)) return false
  // Sandboxes are compared record by record, and lists of keys would be most of the work.
  let more = 0
  for (const key in a) {
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || !same(a[key], b[key])) return false
    more += 1
  }
  for (const key in b) if (b[key] !== undefined) more -= 1
  return more === 0
}

/** The keys of an RFC 6901 JSON Pointer: the inverse of {@link pointer}. */
export function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Whether a text is a JSON Pointer. */
export function isPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)*$/s.test(text)
}

/** The value at a pointer, or at a list of keys; undefined when there is none. */
export function valueAt(value: unknown, place: string | readonly string[]): Json | undefined {
  const keys = typeof place === 'string' ? keysOf(place) : place
  return keys.reduce(fieldOf, value as Json | undefined)
}

function fieldOf(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined
  return isObject(value) ? ownValue(value, key) : undefined
}

/**
 * Applies a merge patch (RFC 7396): objects are merged, null removes a field, everything else replaces. Neither argument
 * is changed, and a field named `__proto__` is a field like any other.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const merged = new Map<string, Json>(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  return Object.fromEntries(merged)
}
