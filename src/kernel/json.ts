/** Anything that JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object. Its keys are caller strings: `__proto__` is as good a key as any other. */
export type JsonObject = { readonly [key: string]: Json }

/** One thing that is wrong with an input: where (RFC 6901 JSON Pointer, `''` for the whole) and what. */
export type Issue = {
  readonly pointer: string
  readonly detail: string
  /** The item that the pointer leads into, where items have names of their own. */
  readonly custom_id?: string
}

/** Joins keys into an RFC 6901 JSON Pointer: `pointer('items', 3, 'a/b')` is `/items/3/a~1b`. */
export function pointer(...keys: readonly PropertyKey[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** True for a JSON object, false for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether two values are the same JSON: the order of members does not matter, one that is undefined is none. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((each, n) => same(each, b[n]))
    )
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a).filter((key) => a[key] !== undefined)
  const others = Object.keys(b).filter((key) => b[key] !== undefined)
  return keys.length === others.length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
}
