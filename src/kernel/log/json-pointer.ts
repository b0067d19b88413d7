import { isObject, type Json } from '../json.ts'

/** The keys that an RFC 6901 JSON Pointer leads through. */
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

/** The value at a pointer; undefined where there is none. */
export function valueAt(value: Json, pointer: string): Json | undefined {
  let place: Json | undefined = value
  for (const key of keysOf(pointer)) place = memberOf(place, key)
  return place
}

function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}
