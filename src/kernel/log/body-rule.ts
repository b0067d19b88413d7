import { isObject, type Json } from '../json.ts'
import { fitsGlob } from './glob.ts'

/** What must hold at one place of a body: one of the three. */
export interface BodyRule {
  readonly equals?: Json | undefined
  readonly exists?: boolean | undefined
  /** Over a string; anything else does not fit. */
  readonly glob?: string | undefined
}

/** Whether what stands at a place of a body, undefined for nothing, is as the rule asks for. */
export function obeys(found: Json | undefined, { equals, exists, glob }: BodyRule): boolean {
  if (exists !== undefined) return (found !== undefined) === exists
  if (glob !== undefined) return typeof found === 'string' && fitsGlob(glob, found)
  return found !== undefined && equals !== undefined && equal(found, equals)
}

/** Whether two JSON values are the same; the order of members does not count. */
function equal(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((each, n) => equal(each, b[n] as Json))
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equal(a[name] as Json, b[name] as Json))
  )
}
