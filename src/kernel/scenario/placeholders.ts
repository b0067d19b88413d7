import { didYouMean } from '../assumptions.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { isPointer, keysOf, valueAt } from '../log/json-pointer.ts'
import type { Clash } from '../strict-input.ts'

/** The member that makes an object of a stub's body stand for a part of the request. */
const MARK = '$request'

/** What of a request a stub can give back. */
const PARTS = ['method', 'path', 'params', 'query', 'headers', 'body']

/** What is wrong with the placeholders in a body. */
export function placeholderClashes(body: Json, path: readonly PropertyKey[] = []): Clash[] {
  if (Array.isArray(body)) return body.flatMap((each, index) => placeholderClashes(each, [...path, index]))
  if (!isObject(body)) return []
  if (!Object.hasOwn(body, MARK))
    return Object.entries(body).flatMap(([key, member]) => placeholderClashes(member, [...path, key]))
  if (Object.keys(body).length > 1) {
    return [{ path, message: `must have nothing beside ${MARK}, as the part of the request takes its place` }]
  }
  const message = problemOf(body[MARK] ?? null)
  return message === undefined ? [] : [{ path: [...path, MARK], message }]
}

function problemOf(place: Json): string | undefined {
  if (typeof place !== 'string' || !isPointer(place) || place === '')
    return 'must be a JSON Pointer into the request, such as /body/knowledge_ids'
  const [part = ''] = keysOf(place)
  if (PARTS.includes(part)) return undefined
  return `must begin with one of ${PARTS.map((each) => `/${each}`).join(', ')}.${didYouMean(part, PARTS)}`
}

/**
 * A body with the parts of a request in the places that stand for them, exactly as they came. A member whose part the
 * request does not have is left out; in a list, or as the whole body, null stands there.
 */
export function filled(body: Json, request: JsonObject): Json {
  return fill(body, request) ?? null
}

function fill(body: Json, request: JsonObject): Json | undefined {
  if (Array.isArray(body)) return body.map((each) => fill(each, request) ?? null)
  if (!isObject(body)) return body
  const place = Object.hasOwn(body, MARK) ? body[MARK] : undefined
  if (typeof place === 'string') return valueAt(request, place)
  const members = Object.entries(body).flatMap(([key, member]) => {
    const value = fill(member, request)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(members)
}
