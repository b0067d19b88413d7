import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { idempotencyTrace, quotaValues } from '../../core/explain/limits.ts'
import { corsOf, corsTrace, requestOf, requestTrace } from '../../core/explain/trace.ts'
import { type ShapeOf, timestamp } from '../../core/fields.ts'
import { evidenceTrace } from '../../core/log/evidence.ts'
import { keptResponse } from '../../core/log/kept-response.ts'
import { CHOSEN_BY, EXCHANGE_ENDS, type LogEntry } from '../../core/log/request-log.ts'
import { traceIn } from '../../core/log/traceparent.ts'
import { caller } from '../../core/request/auth.ts'
import { STEPS } from '../../core/request/steps.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { parseInstant } from '../../core/time/instant.ts'
import { TOMORROW_KINDS } from '../../core/tomorrow.ts'
import { BASE } from './route.ts'

/** The path that explains a request. */
export function explainPath(id: string): string {
  return `${BASE}/explain/${id}`
}

/** One request in a list, with its outcome. Changed records and fired fault rules are only named. */
export const requestEntry = () =>
  z.strictObject({
    id: z.string(),
    /** Virtual instant. */
    at: timestamp(),
    sandbox: z.string(),
    /** The part of the request that chose the sandbox; `default` for none. */
    chosen_by: z.enum(CHOSEN_BY),
    method: z.string(),
    path: z.string(),
    /** Null when no route matched. */
    operation: z.string().nullable(),
    /** Where the user has defined the operation, as `file:line`; absent for those of the service. */
    place: z.string().exactOptional(),
    /** 0 for a request that a fault cut off before there was a response. */
    status: z.int(),
    /**
     * How a fault ended the exchange for the client: the connection was reset, closed or silent; `timed out` after the longest
     * time of the fault; `left` when the client disconnected. Null for a response that was sent completely.
     */
    end: z.enum(EXCHANGE_ENDS).nullable(),
    /** The step that decided the response: `handle` when it succeeded. */
    decided: z.enum(STEPS),
    caller: caller().nullable(),
    /** The values of the rate-limit headers of the response. */
    admission: z.strictObject({ admitted: z.boolean() }).extend(quotaValues().shape),
    idempotency: idempotencyTrace().shape.outcome,
    idempotency_key: z.string().nullable(),
    /** Id of the trace in `traceparent`. */
    trace: z.string().exactOptional(),
    error: z.strictObject({ code: z.string(), detail: z.string() }).nullable(),
    /** What is wrong with the response of an endpoint of your own, which was sent nevertheless. */
    remark: z.string().exactOptional(),
    /** The kinds of changes that the setting or the fault `tomorrow` has made; absent for none. */
    tomorrow: z.array(z.enum(TOMORROW_KINDS)).readonly().exactOptional(),
    /** Ids of the assumptions that the response relies on. */
    assumed: z.array(z.string()),
    /** Ids of the fault rules that fired. */
    faults: z.array(z.string()),
    /** Records that were changed, each as `collection/id`. */
    changed: z.array(z.string()),
    /**
     * Real milliseconds until all of the response was handed to the connection; null before that, and without HTTP. Absent with
     * `stable`.
     */
    duration_ms: z.number().nullable().exactOptional(),
    /** Real time, not virtual: absent with `stable`. Null for a request without HTTP. */
    evidence: evidenceTrace().nullable().exactOptional(),
    /** Present if a web page sent the request and its browser does not let it read the response. */
    cors: corsTrace().exactOptional(),
    /** Path that explains the request. */
    explain: z.string(),
    /** The request and the response; only with `full`. */
    request: requestTrace().shape.request.exactOptional(),
    response: keptResponse().nullable().exactOptional(),
  })

export type RequestEntry = ShapeOf<typeof requestEntry>

/**
 * @param full with heads and bodies
 * @param stable without real-time fields
 */
export function entryOf(
  sandbox: Sandbox,
  entry: LogEntry,
  { full = false, stable = false }: { readonly full?: boolean; readonly stable?: boolean } = {},
): RequestEntry {
  const { commit, headers, timing } = entry
  const { admitted, limit, remaining, reset, retryAfter: retry_after = null } = entry.admission
  const duration_ms = timing?.took === undefined ? null : Math.round(timing.took * 10) / 10
  const changes = (commit?.changes ?? []).filter(({ table }) => !table.startsWith('$'))
  return {
    id: entry.id,
    at: entry.at,
    sandbox: sandbox.name,
    chosen_by: entry.chosenBy,
    method: entry.method,
    path: entry.path,
    operation: entry.operation ?? null,
    ...(entry.added?.place !== undefined && { place: entry.added.place }),
    status: entry.status,
    end: entry.faults?.end ?? null,
    decided: entry.decided,
    caller: entry.caller ?? null,
    admission: { admitted, limit, remaining, reset, retry_after },
    idempotency: entry.idempotency,
    idempotency_key: headers['idempotency-key'] ?? null,
    ...traceIn(headers),
    error: entry.error === undefined ? null : { code: entry.error.code, detail: entry.error.detail },
    ...(entry.remark !== undefined && { remark: entry.remark }),
    ...(entry.tomorrow && { tomorrow: entry.tomorrow }),
    assumed: [...entry.assumed, ...entry.mentioned],
    faults: (entry.faults?.fired ?? []).map(({ rule }) => rule.id),
    changed: changes.map(({ table, id }) => `${table}/${id}`),
    ...(!stable && { duration_ms, evidence: entry.evidence ?? null }),
    ...corsOf(entry),
    explain: explainPath(entry.id),
    ...(full && { request: requestOf(entry), response: entry.response?.show() ?? null }),
  }
}

/**
 * The entries of a log from a point on, oldest first. With an instant: the entries from it on. With the id of a request: the
 * entries after it, to read the log in pieces. Any other text is refused with an issue at `at`.
 */
export function entriesSince({ log }: Sandbox, point: string | undefined, at: string): LogEntry[] {
  const entries = log.entries()
  if (point === undefined) return entries
  const index = entries.findIndex(({ id }) => id === point)
  if (index !== -1) return entries.slice(index + 1)
  const unknown = `"${point}" is neither an ISO 8601 instant nor the id of a request that is in the log`
  const from = parseInstant(point)?.ms ?? refusePoint('since', at, unknown)
  return entries.filter((entry) => Date.parse(entry.at) >= from)
}

/** The entries before a request, to read the log backwards. Refuses a request that is not among the entries. */
export function entriesBefore(entries: LogEntry[], id: string | undefined): LogEntry[] {
  if (id === undefined) return entries
  const index = entries.findIndex((entry) => entry.id === id)
  if (index !== -1) return entries.slice(0, index)
  return refusePoint('before', '/query/before', `"${id}" is not the id of a request that is in the log`)
}

function refusePoint(name: string, pointer: string, detail: string): never {
  return refuse('validation_failed', {
    detail: `${name}: ${detail}.`,
    issues: [{ pointer, detail }],
    mitigation: '"workspace-emulator requests" lists the requests that are in the log, with their ids.',
  })
}
