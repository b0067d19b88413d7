import { type Action, allOf, WIRE_PRIMITIVES } from '../faults/actions.ts'
import { dateOf } from '../faults/acts/clock.ts'
import { type HeaderList, withHeaders } from '../faults/acts/headers.ts'
import { claimed, quotaFields, toldQuota } from '../faults/acts/quota.ts'
import { headersOf, inject, respondOf } from '../faults/acts/respond.ts'
import type { Decision, Sent } from '../faults/decision.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { contentOf } from './content.ts'
import type { Exchange } from './exchange.ts'
import { type Admission, noWindow } from './rate-limiter.ts'

/** An answer in its final form: an adapter only has to write it. */
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

/** The part of a decision that an adapter carries out. */
export interface Wire {
  /** Those of `WIRE_PRIMITIVES`, in order. */
  readonly actions: readonly Action[]
  /** The answer waits for this before anything of it is sent. */
  readonly hold: (() => Promise<void>) | undefined
  /** Aborted when nobody is to wait any longer: the sandbox was reset, or its rules were removed. */
  readonly released: AbortSignal
  /** Tells how far the exchange came; to be called once, when it is over. */
  readonly report: (sent: Sent) => void
}

/** Makes the answer of a request that is over, whatever became of it, and puts it into the log. */
export function conclude(sandbox: Sandbox, exchange: Exchange): Answer {
  const { decision } = exchange
  const content = (decision && inject(exchange, decision)) ?? contentOf(exchange)
  const now = sandbox.limiterNow()
  const limit = sandbox.limitOf(exchange.call.operation.name)
  const found = exchange.refusal?.options.admission ?? exchange.window?.admission ?? noWindow(limit, now)
  const quota = decision && toldQuota(decision)
  const admission = quota === undefined ? found : claimed(quota, found, now)
  const rate = quota === undefined ? quotaHeaders(admission) : quotaFields(quota, admission, limit, now)
  const own: (readonly [string, string])[] = []
  const shown = sandbox.assumptions.shownOf(exchange.assumed)
  if (shown !== '') own.push(['X-Emulator-Assumed', shown])
  own.push(['X-Emulator-Request-Id', exchange.id], ['Date', new Date(exchange.now).toUTCString()])
  const headers =
    decision === undefined
      ? [...content.headers, ...rate, ...own]
      : underFaults(sandbox, exchange, decision, [...withHeaders(content.headers, rate), ...own])
  sandbox.record(exchange, content.status, admission)
  // Rules count, and move the sandbox, in transactions of their own.
  const hasWritten = exchange.commit !== undefined || decision !== undefined
  const durable = hasWritten ? sandbox.store.journal?.durable() : undefined
  const wire = wireOf(sandbox, exchange)
  const { status, text, lines } = content
  return { status, headers, text, lines, durable, ...(wire && { wire }) }
}

// What rules say of headers, once all of them are there.
function underFaults(
  { options }: Sandbox,
  { now }: Exchange,
  decision: Decision,
  all: HeaderList,
): HeaderList {
  const respond = respondOf(decision)
  const kept = respond?.proxy === true ? all.filter(([name]) => !OF_THE_SERVICE.test(name)) : all
  const set: (readonly [string, string])[] = [['Date', dateOf(now, decision)]]
  if (options.revealFaults && decision.fired.length > 0) set.push(['X-Emulator-Fault', idsOf(decision)])
  const headers = withHeaders(kept, set)
  return respond === undefined ? headers : withHeaders(headers, headersOf(respond))
}

// What stands in front of a service knows nothing of its limits.
const OF_THE_SERVICE = /^(?:x-ratelimit-.*|ratelimit(?:-policy)?|retry-after|x-emulator-assumed)$/i

// Ids are visible ASCII, unless a value of the request has become one; a comma in one would make two of it.
function idsOf({ fired }: Decision): string {
  return fired.map(({ rule }) => rule.id.replaceAll(/[^!-+\--~]/g, '_')).join(', ')
}

/** What is left for an adapter to do. */
function wireOf(sandbox: Sandbox, { decision }: Exchange): Wire | undefined {
  if (decision === undefined) return undefined
  const actions = decision.actions.filter((action) => Object.keys(action).some((name) => ON_WIRE.has(name)))
  const waits = allOf(decision.actions, 'deliver').some((each) => each.when === 'before-response')
  if (actions.length === 0 && !waits) return undefined
  const report = (sent: Sent): void => {
    decision.sent = sent
  }
  return {
    actions,
    // Anyone who sends has told already why it cannot; the answer does not depend on it.
    hold: waits ? async () => sandbox.pendingWork?.whenIdle().catch(() => {}) : undefined,
    released: sandbox.faults.releasedFor(decision),
    report,
  }
}

const ON_WIRE: ReadonlySet<string> = new Set(WIRE_PRIMITIVES)

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
