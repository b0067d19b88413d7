import { z } from 'zod'
import type { ShapeOf } from '../fields.ts'
import type { LogEntry } from '../log/request-log.ts'
import { idempotencyId } from '../request/idempotency.ts'
import type { Admission, FoundWindow } from '../request/rate-limiter.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { formatInstant } from '../time/instant.ts'
import { counted } from '../words.ts'

/** The operation of a request; undefined when no route matched. One that is not of the service is read from the entry, as it may be removed by now. */
export function loggedOperation({ service }: Sandbox, { operation, added }: LogEntry) {
  return added ?? service.operations.get(operation ?? '')
}

/** The state of a rate limit. */
export const quotaValues = () =>
  z.strictObject({
    limit: z.number(),
    remaining: z.number(),
    /** Unix epoch second at which the next request is possible. */
    reset: z.number(),
    /** In seconds; null without a Retry-After. */
    retry_after: z.number().nullable(),
  })

/** The rate window of a request, before and after it. */
export const limiterTrace = () =>
  z.strictObject({
    /** Teamspace and operation; null if the request did not reach the limiter. */
    key: z.string().nullable(),
    limit: z.number(),
    window_s: z.number().nullable(),
    before: z.strictObject({ remaining: z.number() }).nullable(),
    after: quotaValues().omit({ limit: true }),
    /** The limit in the headers of the response, if that is one of the handler or of a fault rule; else null. */
    other_rule: quotaValues().nullable(),
    description: z.string(),
  })

/** The window and the decision of the limiter. Specification: Limits / Rate limits. */
export function limiterOf(sandbox: Sandbox, { window, admission, error, faults }: LogEntry) {
  const { limit, ...after } = quotaOf(window?.admission ?? admission)
  const isFaulted = faults?.setsQuota === true
  const byOtherRule = error?.byOtherRule === true
  const shown = isFaulted ? 'the values of a fault rule' : 'an unused window'
  const counts =
    window === undefined
      ? `It did not count towards a rate limit; the headers show ${shown}.`
      : describeWindow(sandbox, window, byOtherRule)
  const isExplained = window !== undefined && isFaulted
  return {
    key: window?.key ?? null,
    limit,
    window_s: window === undefined ? null : window.limit.window / 1000,
    before: window === undefined ? null : { remaining: window.admission.free },
    after,
    other_rule: byOtherRule || isFaulted ? quotaOf(admission) : null,
    description: isExplained ? `${counts} The headers show ${shown}.` : counts,
  }
}

function quotaOf({ limit, remaining, reset, retryAfter }: Admission): ShapeOf<typeof quotaValues> {
  return { limit, remaining, reset, retry_after: retryAfter ?? null }
}

function describeWindow({ limits }: Sandbox, { limit, admission }: FoundWindow, byOtherRule: boolean) {
  const { free } = admission
  const size = `${counted(limit.limit, 'request')} per ${limit.window / 1000} s`
  if (!admission.admitted) {
    return `The limit of ${size} was reached; the next request is possible at ${formatInstant(admission.reset * 1000)}. A refused request does not count.`
  }
  if (byOtherRule)
    return `Before this request, ${free} of ${size} remained. It does not count, because another rule refused it.`
  if (free === 0)
    return `The limit of ${size} was reached, but limits are off: the request was accepted, and the oldest request no longer counts.`
  const off = limits.areEnforced ? '' : ' Limits are off: requests are counted, but none is refused.'
  return `Before this request, ${free} of ${size} remained. It counts towards the limit.${off}`
}

/** How the Idempotency-Key was handled. */
export const idempotencyTrace = () =>
  z.strictObject({
    outcome: z.enum(['none', 'fresh', 'replay', 'conflict']),
    key: z.string().nullable(),
    description: z.string(),
  })

/** How the request was stored or replayed. Specification: Limits / Batch predictions. */
export function idempotencyOf(sandbox: Sandbox, entry: LogEntry): ShapeOf<typeof idempotencyTrace> {
  const key = entry.headers['idempotency-key'] ?? null
  return { outcome: entry.idempotency, key, description: describeIdempotency(sandbox, entry, key) }
}

function describeIdempotency(sandbox: Sandbox, entry: LogEntry, key: string | null): string {
  const operation = loggedOperation(sandbox, entry)
  if (key === null) {
    return operation?.idempotent === true
      ? 'The operation honours an Idempotency-Key; none was sent.'
      : 'No Idempotency-Key was sent.'
  }
  if (operation === undefined)
    return 'The request reached no operation that could honour its Idempotency-Key.'
  if (operation.idempotent !== true) return `${operation.name} ignores the Idempotency-Key.`
  switch (entry.idempotency) {
    case 'none':
      return 'The key was not checked.'
    case 'fresh':
      return isKept(entry)
        ? 'The key was new, or older than 24 hours: the response is kept under it.'
        : 'The key was new, or older than 24 hours. Nothing is kept under it, because the request was refused.'
    case 'replay':
      return `The key was used before with the same body${firstUse(sandbox, entry)}: that response was sent again.`
    case 'conflict':
      return `The key was used before with another body${firstUse(sandbox, entry)}.`
  }
}

// Names the earlier request, if the log still has it.
function firstUse({ log }: Sandbox, entry: LogEntry): string {
  const place = placeOf(entry)
  const entries = log.entries()
  const earlier = entries.slice(0, entries.indexOf(entry))
  const first = earlier.findLast((each) => isKept(each) && placeOf(each) === place)
  return first === undefined ? '' : `, by ${first.id}`
}

// Depends on the commit, not on the status: a fault may have replaced the stored response with a refusal.
function isKept({ idempotency, commit }: LogEntry): boolean {
  return idempotency === 'fresh' && commit !== undefined
}

function placeOf({ caller, operation, headers }: LogEntry): string {
  return idempotencyId(caller?.teamspace_id ?? '', operation ?? '', headers['idempotency-key'] ?? '')
}
