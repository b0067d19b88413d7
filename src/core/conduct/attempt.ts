import { isObject, type Json, type JsonObject, parsedJson, same } from '../json.ts'
import { NO_KEY, type ObservedRequest } from './observed.ts'

/** Names that say where a page begins: without them a client reads a list from its start, which is another request. */
export const POSITION = ['after', 'before', 'limit', 'offset']

/** The value of a body; undefined for one that was not kept. */
const jsonOf = ({ entry: { body } }: ObservedRequest): Json | undefined =>
  body.kind === 'json' ? body.value : undefined

/** The length of a body in bytes, as it arrived. */
export const bodyBytes = ({ entry: { evidence, body }, content }: ObservedRequest): number =>
  evidence?.body?.bytes ?? ('bytes' in body ? body.bytes : undefined) ?? Buffer.byteLength(content)

/** What is announced of a body that was not read to its end; undefined for one that was, and for none. */
const unreadLength = ({ content, entry: { headers } }: ObservedRequest): string | undefined =>
  content === '' ? (headers['transfer-encoding'] ?? headers['content-length']?.replace(/^0$/, '')) : undefined

/** Whether two requests have the same body, whatever its encoding on the wire. */
export function hasSameBody(from: ObservedRequest, to: ObservedRequest): boolean {
  const value = jsonOf(from)
  const [before, now] = [unreadLength(from), unreadLength(to)]
  if (before || now) return (before || `${bodyBytes(from)}`) === (now || `${bodyBytes(to)}`)
  if (from.content === to.content) return true
  // Secrets are masked in a value that is kept.
  return value !== undefined && from.operation?.secrets === undefined && same(value, jsonOf(to))
}

/** Whether a body has another type than before, and cannot be read any more. */
export function isRecoded(from: ObservedRequest, to: ObservedRequest): boolean {
  const [before, now] = [from, to].map(({ entry }) => entry.headers['content-type']?.split(';')[0]?.trim())
  return from.content !== '' && to.entry.body.kind === 'refused' && before !== now
}

/** What a body has become, if it is certainly left of the first one: `was empty`. Undefined for the same body, and any other. */
export function bodyRemains(from: ObservedRequest, to: ObservedRequest): string | undefined {
  if (from.content === '' || hasSameBody(from, to) || isRecoded(from, to)) return undefined
  const [first, next] = [bodyBytes(from), bodyBytes(to)]
  if (to.content === '') return `was empty, after ${first} bytes`
  if (to.entry.body.kind === 'refused') {
    if (next < first) return `was cut: ${next} of ${first} bytes`
    return next % first === 0 ? `came ${next / first} times in a row` : undefined
  }
  const [before, value] = [jsonOf(from), jsonOf(to)]
  if (value === null) return 'was null'
  if (typeof value === 'string')
    return same(parsedJson(value), before) ? 'was encoded as JSON twice' : undefined
  const lost = isObject(before) && isObject(value) ? lostFields(before, value) : []
  // With two keys they are two calls.
  return lost.length === 0 || from.key !== to.key ? undefined : `had lost ${lost.join(', ')}`
}

/** The fields that are missing in the next object, if all others are equal. */
function lostFields(from: JsonObject, to: JsonObject): string[] {
  const isPart = Object.entries(to).every(([name, value]) => same(from[name], value))
  return isPart ? Object.keys(from).filter((name) => !Object.hasOwn(to, name)) : []
}

/** What a query has become: `had lost a in its query`. Undefined for the same query, and for any other one. */
function queryRemains({ entry: a }: ObservedRequest, { entry: b }: ObservedRequest): string | undefined {
  const every = (fits: (before: unknown, now: unknown) => boolean) =>
    Object.entries(b.query).every(([name, now]) => fits(a.query[name], now))
  const lost = Object.keys(a.query).filter((name) => !Object.hasOwn(b.query, name))
  const isOfPosition = lost.every((name) => POSITION.includes(name))
  if (every(same)) return isOfPosition ? undefined : `had lost ${lost.join(', ')} in its query`
  if (lost.length > 0) return undefined
  if (every((before, now) => [now].flat().every((each) => each === before))) return 'had its query twice'
  const isEncoded = every((before, now) => now === before || now === encodeURIComponent(String(before)))
  return isEncoded ? 'had its query encoded twice' : undefined
}

/** Whether a request has lost the key that the one before it had. */
export function hasLostKey(from: ObservedRequest, to: ObservedRequest): boolean {
  return !['', NO_KEY].includes(from.caller) && to.caller === NO_KEY
}

/** What the next attempt of a call has lost or changed besides its body, each as a clause: `had no Authorization header`. */
export function requestChanges(from: ObservedRequest, to: ObservedRequest): string[] {
  const [a, b] = [from.entry, to.entry]
  // A body that can be read without a header has not lost it.
  const isUnread = b.body.kind === 'refused' && from.content !== ''
  const headers = ['content-type', 'content-encoding']
    .filter((name) => isUnread && a.headers[name] !== b.headers[name])
    .map((name) => `had the ${name} ${b.headers[name] ?? 'none'}, after ${a.headers[name] ?? 'none'}`)
  const query = same(a.query, b.query) ? [] : [queryRemains(from, to) ?? 'had another query']
  return [...headers, ...query, ...(hasLostKey(from, to) ? ['had no Authorization header'] : [])]
}

/** Whether a request is certainly what a client has made of one that failed, without a key or a marker that says so. */
export function isChangedAttempt(from: ObservedRequest, to: ObservedRequest): boolean {
  if (!from.hasFailed || from.client !== to.client) return false
  const isSame = hasSameBody(from, to)
  if (!isSame && !isRecoded(from, to) && bodyRemains(from, to) === undefined) return false
  const mayDiffer = isSame && from.content !== ''
  return mayDiffer || same(from.entry.query, to.entry.query) || queryRemains(from, to) !== undefined
}

/** Whether a request may be a further attempt with another body: some fields are equal, such as all but a timestamp. */
export function mayBeAttempt(from: ObservedRequest, to: ObservedRequest): boolean {
  const [before, value] = [jsonOf(from), jsonOf(to)]
  const isAlike = from.name === to.name && from.client === to.client && from.key === to.key
  if (!isAlike || from.content === to.content || !isObject(before) || !isObject(value)) return false
  const names = Object.keys(before)
  return names.join() === Object.keys(value).join() && names.some((name) => same(before[name], value[name]))
}
