import type { Sandbox } from '../sandboxes/sandbox.ts'
import { hasLostKey, isChangedAttempt } from './attempt.ts'
import { type Gap, type Group, gapsOf, groupBy, type ObservedRequest } from './observed.ts'

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

/** The most calls that wait for a repetition: of those that are searched for a changed one, and of equal ones. */
const [MAX_CHANGED, MAX_OPEN] = [50, 1_000]

/** A call while its attempts are collected. */
type Attempts = { readonly attempts: Group<ObservedRequest>; isCertain: boolean }

const lastOf = ({ attempts }: Attempts): ObservedRequest => attempts.at(-1) ?? attempts[0]

/** Groups requests into calls. A request repeats one that has failed and ended: the same one, or what a client has made of it. */
export function callsOf(requests: readonly ObservedRequest[], sandbox: Sandbox): ObservedCall[] {
  const calls: Attempts[] = []
  /** The calls that have not succeeded yet, by their paths, signatures and marks. The one that was sent last is at the end. */
  const open = new Map<string, Set<Attempts>>()
  for (const request of requests) {
    const marks = marksOf(request)
    const find = (name: string, fits = (_: Attempts) => true) => {
      for (const call of open.get(name) ?? []) {
        const last = lastOf(call)
        if (isSameCaller(last, request) && follows(request, last, marks.includes(name)) && fits(call))
          return call
      }
      return undefined
    }
    const certain = marks.map((mark) => find(mark)).find(Boolean)
    const found =
      certain ??
      find(request.signature) ??
      find(request.name, (call) => {
        const last = lastOf(call)
        return last.hasFailed && [call.attempts[0], last].some((from) => isChangedAttempt(from, request))
      })
    const call = found ?? { attempts: [request], isCertain: false }
    if (found === undefined) calls.push(call)
    else call.attempts.push(request)
    call.isCertain ||= certain !== undefined
    for (const name of [...marks, request.signature, request.name]) {
      const others = open.get(name) ?? new Set()
      // Of equal calls, the one that has waited longest is repeated first.
      others.delete(call)
      if (request.outcome !== 'success') open.set(name, others.add(call))
      const [oldest] = others
      if (oldest && others.size > (name === request.name ? MAX_CHANGED : MAX_OPEN)) others.delete(oldest)
    }
  }
  const rowOf = ({ caller, signature }: ObservedRequest) => `${caller} ${signature}`
  const rows = groupBy(requests, rowOf)
  return calls.map(({ attempts, isCertain }) => {
    const [first] = attempts
    const repeats = gapsOf(attempts, sandbox)
    const isSteady = !isCertain && isPaced(repeats[0], rows.get(rowOf(first)) ?? [], sandbox)
    return { first, last: attempts.at(-1) ?? first, attempts, repeats, isCertain, isPaced: isSteady }
  })
}

/** Whether one client has sent both requests, as far as they show it. */
function isSameCaller(last: ObservedRequest, next: ObservedRequest): boolean {
  const isKnown = last.caller !== '' && next.caller !== ''
  return !isKnown || last.caller === next.caller || (hasLostKey(last, next) && last.client === next.client)
}

/** The names that only the attempts of one call have. */
function marksOf({ name, entry: { headers } }: ObservedRequest): string[] {
  const marker = MARKERS.find((name) => headers[name] !== undefined)
  return [marker ?? '', 'idempotency-key'].flatMap((header) => {
    return headers[header] === undefined ? [] : [`${name} ${header} ${headers[header]}`]
  })
}

/** Whether a request can be a repetition. `isCertain`: the two have the same key or marker. */
function follows(next: ObservedRequest, last: ObservedRequest, isCertain: boolean): boolean {
  if (last.outcome === 'success') return false
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
