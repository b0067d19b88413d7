import { isObject, type Json } from './json.ts'

/**
 * Applies a merge patch (RFC 7396): objects are merged, null removes a member, everything else replaces. Neither argument
 * is changed, and a member named `__proto__` is a member like any other.
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
