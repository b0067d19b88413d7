import { errorFacts, problemBody, type Refusal, standardBody } from '../errors.ts'
import { type Action, only, WIRE_PRIMITIVES } from '../faults/actions.ts'
import type { Sent } from '../faults/decision.ts'
import type { Json } from '../json.ts'
import type { World } from '../worlds/world.ts'
import type { Exchange } from './exchange.ts'
import { type Admission, noWindow } from './rate-limiter.ts'

/** An answer in its final form: a door only has to write it. */
export interface Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** The serialised body; undefined when there is none or when it is streamed. */
  readonly text: string | undefined
  /** Lines of an NDJSON stream, made while they are read. */
  readonly lines: Iterable<string> | undefined
  /** Resolves when what the answer acknowledges survives a power cut; undefined where that is not promised. */
  readonly durable: Promise<void> | undefined
  /** What faults do to it on its way; undefined for an answer that goes out as it is. */
  readonly wire?: Wire
}

/** The part of a decision that a door carries out. */
export interface Wire {
  /** Those of `WIRE_PRIMITIVES`, in order. */
  readonly actions: readonly Action[]
  /** The answer waits for this before anything of it is sent. */
  readonly hold: (() => Promise<void>) | undefined
  /** Aborted when nobody is to wait any longer: the world was reset, or its rules were removed. */
  readonly released: AbortSignal
  /** Tells how far the exchange came; to be called once, when it is over. */
  readonly report: (sent: Sent) => void
}

/** Makes the answer of a request that is over, whatever became of it, and puts it into the log. */
export function conclude(world: World, exchange: Exchange): Answer {
  const answer = exchange.refusal === undefined ? succeed(exchange) : fail(exchange, exchange.refusal)
  const admission =
    exchange.refusal?.options.admission ??
    exchange.window?.admission ??
    noWindow(world.limitOf(exchange.call.operation.name), world.limiterNow())
  const headers: (readonly [string, string])[] = [...answer.headers, ...quotaHeaders(admission)]
  const shown = world.ledger.shownOf(exchange.assumed)
  if (shown !== '') headers.push(['X-Emulator-Assumed', shown])
  headers.push(['X-Emulator-Request-Id', exchange.id], ['Date', new Date(exchange.now).toUTCString()])
  world.record(exchange, answer.status, admission)
  const durable = exchange.commit === undefined ? undefined : world.store.journal?.durable()
  const wire = wireOf(world, exchange)
  const { status, text, lines } = answer
  return { status, headers, text, lines, durable, ...(wire && { wire }) }
}

/** What is left for a door to do. */
function wireOf(world: World, { decision }: Exchange): Wire | undefined {
  if (decision === undefined) return undefined
  const actions = decision.actions.filter((action) => Object.keys(action).some((name) => ON_WIRE.has(name)))
  const waits = only(decision.actions, 'deliver').some((each) => each.when === 'before-response')
  if (actions.length === 0 && !waits) return undefined
  const report = (sent: Sent): void => {
    decision.sent = sent
  }
  return {
    actions,
    hold: waits ? async () => world.outbox?.settled() : undefined,
    released: world.faults.released,
    report,
  }
}

const ON_WIRE: ReadonlySet<string> = new Set(WIRE_PRIMITIVES)

/** The status of a success. */
export function statusOf(exchange: Exchange): number {
  const { success } = exchange.call.operation
  const status = exchange.reply?.status
  if (status !== undefined) return status
  return typeof success === 'number' ? success : exchange.assume(success)
}

interface Content {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string | undefined
  readonly lines: Iterable<string> | undefined
}

function succeed(exchange: Exchange): Content {
  const { reply } = exchange
  const status = statusOf(exchange)
  const headers = [...(reply?.headers ?? [])]
  if (reply?.lines !== undefined) {
    headers.push(['Content-Type', exchange.call.operation.media ?? 'application/json'])
    return { status, headers, text: undefined, lines: reply.lines }
  }
  const body = reply?.body
  if (body === undefined || status === 204) return { status, headers, text: undefined, lines: undefined }
  headers.push(['Content-Type', 'application/json; charset=utf-8'])
  return { status, headers, text: JSON.stringify(body), lines: undefined }
}

function fail(exchange: Exchange, refusal: Refusal): Content {
  const { settings, call } = exchange
  const facts = errorFacts(refusal, settings)
  for (const item of facts.assumed) exchange.note(item)
  const problem = call.operation.dialect === 'problem'
  if (problem) exchange.note('U066')
  const body: Json = problem
    ? problemBody(refusal, facts, settings, call.path)
    : standardBody(refusal, facts, settings)
  const type = problem ? 'application/problem+json' : 'application/json; charset=utf-8'
  const headers = [...(refusal.options.headers ?? []), ['Content-Type', type] as const]
  return { status: facts.status, headers, text: JSON.stringify(body), lines: undefined }
}

/** The headers that every answer carries. Specification: Limits / Rate limits. */
export function quotaHeaders({
  limit,
  remaining,
  reset,
  retryAfter,
}: Admission): (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(reset)],
  ]
  if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)])
  return headers
}
