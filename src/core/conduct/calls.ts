import { isDeepStrictEqual } from 'node:util'
import type { KeptBody, LogEntry } from '../log/request-log.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { bodyBytes, type Gap, type Group, gapsOf, groupBy, type ObservedRequest } from './observed.ts'

/** A logical call: a request, and its repetitions after attempts that have failed. */
export interface ObservedCall {
  readonly first: ObservedRequest
  readonly last: ObservedRequest
  readonly attempts: readonly ObservedRequest[]
  /** Each attempt with the next one. */
  readonly repeats: readonly Gap[]
  /** Whether the attempts have one idempotency key or one marker of retries. Otherwise only the requests are the same. */
  readonly isCertain: boolean
  /** Whether it goes on at the pace of requests before it: a loop, a poll or several clients, which look like a retry. */
  readonly isPaced: boolean
}

/** Each attempt of a call with the next one. */
export const repeatsIn = ({ calls }: { readonly calls: readonly ObservedCall[] }) =>
  calls.flatMap((call) => call.repeats.map((repeat) => ({ ...repeat, call })))

/** Headers that clients send unchanged with each attempt of one call. */
const MARKERS = ['amz-sdk-invocation-id', 'x-client-request-id', 'x-correlation-id', 'x-request-id']
/** A repetition after a longer real time, in milliseconds, is another call. */
const MAX_GAP = 15 * 60_000
/** The least real milliseconds from a response to a request that its client sends because of it. */
const ROUND_TRIP = 0.5
/** Real milliseconds by which the emulator may notice a broken connection late, or the first request on a new one. */
const LATE = 100
/** Requests before a call that show the pace of its client. */
const HISTORY = 8
/** Milliseconds by which two gaps of one pace may differ. */
const UNEVEN = 20

/** A call while its attempts are collected. */
interface Attempts {
  readonly attempts: Group<ObservedRequest>
  isCertain: boolean
}

/** Groups requests into calls. A request belongs to an earlier one only if that has failed, and has ended before it came. */
export function callsOf(requests: readonly ObservedRequest[], sandbox: Sandbox): ObservedCall[] {
  const calls: Attempts[] = []
  const latest = new Map<string, Attempts>()
  for (const request of requests) {
    const find = (names: readonly string[], isCertain: boolean, fits = (_: Attempts) => true) =>
      names
        .map((name) => latest.get(name))
        .find((call) => call && follows(request, call.attempts.at(-1), isCertain) && fits(call))
    const marks = marksOf(request)
    const signature = signatureOf(request)
    const certain = find(marks, true)
    // A request that was cut before it was read has no known caller.
    const found =
      certain ??
      find([signature, signatureOf(request, '')], false) ??
      find(
        [addressOf(request)],
        false,
        (call) =>
          call.attempts.some(({ hasFailed }) => hasFailed) &&
          (changeOf(call.attempts[0], request) ?? '') !== '',
      )
    const call = found ?? { attempts: [request], isCertain: false }
    if (found === undefined) calls.push(call)
    else call.attempts.push(request)
    call.isCertain ||= certain !== undefined
    for (const name of [...marks, signature, addressOf(request)]) latest.set(name, call)
  }
  const rows = groupBy(requests, (request) => signatureOf(request))
  return calls.map(({ attempts, isCertain }) => {
    const [first] = attempts
    const repeats = gapsOf(attempts, sandbox)
    const isSteady = !isCertain && isPaced(repeats[0], rows.get(signatureOf(first)) ?? [], sandbox)
    return { first, last: attempts.at(-1) ?? first, attempts, repeats, isCertain, isPaced: isSteady }
  })
}

/** The names that only the attempts of one call have. */
function marksOf({ caller, entry: { headers, operation, path } }: ObservedRequest): string[] {
  const marker = MARKERS.find((name) => headers[name] !== undefined)
  return [marker ?? '', 'idempotency-key']
    .filter((name) => headers[name] !== undefined)
    .map((name) => JSON.stringify([caller, operation, path, name, headers[name]]))
}

function signatureOf(request: ObservedRequest, caller = request.caller): string {
  const { method, path, query, headers } = request.entry
  const client = [headers['user-agent'], headers.referer, headers.origin]
  return JSON.stringify([caller, client, method, path, query, request.content])
}

/** The client may have lost its key on the way, so that only its agent is the same. */
function addressOf({ entry: { method, path, headers } }: ObservedRequest): string {
  return JSON.stringify(['address', headers['user-agent'], method, path])
}

/**
 * What a client has lost or changed between two attempts of one call, as the end of a sentence; an empty text for nothing.
 * Undefined if the second request is another call: two different bodies are two calls.
 */
export function changeOf(first: ObservedRequest, next: ObservedRequest): string | undefined {
  const [a, b] = [first.entry, next.entry]
  const hasLostKey = next.caller === '' && first.caller !== ''
  if (!hasLostKey && next.caller !== first.caller && first.caller !== '') return undefined
  const [query, type] = [queryChange(a, b), b.headers['content-type'] ?? 'no type']
  const sameBody = first.content === next.content
  // Two reads with different queries are two calls.
  if (query === undefined || (query !== '' && (!sameBody || (first.content === '' && query === OTHER_QUERY))))
    return undefined
  if (sameBody && hasLostKey) return 'without its Authorization header'
  if (sameBody && query !== '') return query
  const isRetyped = type !== (a.headers['content-type'] ?? 'no type')
  if (sameBody) return isRetyped && first.content !== '' ? `as ${type}` : ''
  if (first.content === '') return undefined
  if (b.body.kind === 'none') return 'without its body'
  if (isEncodedTwice(a.body, b.body)) return 'with its body encoded as JSON twice'
  if (b.body.kind !== 'refused') return undefined
  return isRetyped
    ? `as ${type}`
    : bodyBytes(next) < bodyBytes(first)
      ? 'with a body that was cut off'
      : undefined
}

const OTHER_QUERY = 'with another query'

function queryChange({ query: first }: LogEntry, { query: next }: LogEntry): string | undefined {
  const names = [...new Set([...Object.keys(first), ...Object.keys(next)])]
  const changed = names.filter((name) => JSON.stringify(first[name]) !== JSON.stringify(next[name]))
  if (changed.length === 0) return ''
  return changed.every((name) => next[name] === undefined) ? 'without a part of its query' : OTHER_QUERY
}

function isEncodedTwice(first: KeptBody, next: KeptBody): boolean {
  if (first.kind !== 'json' || next.kind !== 'json' || typeof next.value !== 'string') return false
  try {
    return isDeepStrictEqual(JSON.parse(next.value), first.value)
  } catch {
    return false
  }
}

/** Whether a request can be a repetition. `isCertain`: the two have the same key or marker. */
function follows(next: ObservedRequest, last: ObservedRequest | undefined, isCertain: boolean): boolean {
  if (last === undefined || last.outcome === 'success') return false
  const [a, b] = [last.entry.evidence, next.entry.evidence]
  if (a === undefined) return true
  if (a.ended_ms === null) return false
  if (isCertain || b === undefined) return true
  // The end of a broken connection may be noticed after the next request.
  const end = last.outcome === 'unanswered' ? a.ended_ms - LATE : a.ended_ms
  if (b.arrived_ms < end || b.arrived_ms - a.ended_ms > MAX_GAP) return false
  if (a.connection === b.connection || b.connection.opened_ms >= end) return true
  // On a connection that was open before the response, a request may have been sent before it, too, unless a clock has moved.
  return Math.max(b.arrived_ms - end, next.at - last.at) >= (b.requests_before > 0 ? ROUND_TRIP : LATE)
}

function isPaced(repeat: Gap | undefined, row: readonly ObservedRequest[], sandbox: Sandbox): boolean {
  if (repeat === undefined) return false
  const at = row.indexOf(repeat.from)
  const before = gapsOf(row.slice(Math.max(0, at - HISTORY), at + 1), sandbox)
  const usual = before.filter(({ from }) => from.outcome === 'success')
  return (
    usual.some(({ ms }) => repeat.ms >= ms / 2 - UNEVEN) &&
    usual.some(({ ms }) => repeat.ms <= ms * 2 + UNEVEN)
  )
}
