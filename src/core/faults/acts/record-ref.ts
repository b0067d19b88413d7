import { isObject, valueAt } from '../../json.ts'
import type { Exchange } from '../../request/exchange.ts'
import type { RecordRef } from '../actions.ts'

/** The id that a reference names in a request; undefined where the request does not have it. */
export function idNamed(ref: RecordRef, { params, call, rawBody }: Exchange): string | undefined {
  if (typeof ref === 'string') return ref
  if ('param' in ref) return own(params, ref.param)
  if ('query' in ref) return first(own(call.query, ref.query))
  const value = rawBody === undefined ? undefined : valueAt(rawBody, ref.body)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/**
 * What a request is about where nothing else is named: the last parameter of its path, or behind the handler what it has
 * created, which is what the `id` of its answer says.
 */
export function idMeant(exchange: Exchange, at: 'before-handler' | 'after-handler'): string | undefined {
  const body = at === 'after-handler' ? exchange.reply?.body : undefined
  const made = isObject(body) ? body.id : undefined
  return typeof made === 'string' ? made : Object.values(exchange.params).at(-1)
}

// Names of parameters come from a rule, and may be those that every object has.
function own<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0]
}
