import { z } from 'zod'
import { assumption } from '../assumptions.ts'
import { errorKinds } from '../error-kinds.ts'
import { faultsOf, faultTrace } from '../faults/trace.ts'
import { issue, type ShapeOf, timestamp } from '../fields.ts'
import { evidenceTrace } from '../log/evidence.ts'
import { keptResponse } from '../log/kept-response.ts'
import { CHOSEN_BY, type ChosenBy, type LogEntry } from '../log/request-log.ts'
import { traceIn } from '../log/traceparent.ts'
import { caller } from '../request/auth.ts'
import { unreadParameter, unreadParameters } from '../request/unread-query.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { withoutSecret } from '../secrets.ts'
import { json } from '../strict-input.ts'
import { frozenNote } from '../time/frozen.ts'
import { counted, sentence } from '../words.ts'
import { effectsOf, inShort, type RequestEffects, requestEffects } from './effects.ts'
import { idempotencyOf, idempotencyTrace, limiterOf, limiterTrace, loggedOperation } from './limits.ts'
import { isCutOff, stepsOf, stepTrace } from './steps.ts'

/** An assumption that a response relies on. */
const assumptionTrace = () =>
  assumption()
    .pick({ id: true, open: true, decision: true })
    .extend({
      /** The settings of the assumption, with their values at the time of the request. */
      settings: z.array(z.strictObject({ key: z.string(), value: z.unknown() })),
    })

/** Why a web page cannot read the response to its request. */
export const corsTrace = () =>
  z.strictObject({
    /** The header `Origin`; null when the browser sent none. */
    origin: z.string().nullable(),
    /** Whether it is a preflight, after which the browser does not send the request itself. */
    preflight: z.boolean(),
    detail: z.string(),
    mitigation: z.string(),
  })

/** The trace of a request whose response the page cannot read; empty for any other. */
export function corsOf({ cors }: LogEntry): { readonly cors?: ShapeOf<typeof corsTrace> } {
  if (cors?.refusal === undefined) return {}
  const { origin, isPreflight, refusal } = cors
  return { cors: { origin, preflight: isPreflight, ...refusal } }
}

/** Everything that is known about one request, in reading order. */
export const requestTrace = () =>
  z.strictObject({
    /** One sentence: the step that decided, and why. */
    summary: z.string(),
    request: z.strictObject({
      id: z.string(),
      /** Virtual instant. */
      at: timestamp(),
      method: z.string(),
      path: z.string(),
      query: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      /** Without those that carry credentials. */
      headers: z.record(z.string(), z.string().optional()),
      /** Null when there was none, or it was not kept. */
      body: json(),
      body_kept: z.boolean(),
      /** Length in bytes on arrival; null when it was not counted. */
      body_bytes: z.int().nullable(),
    }),
    /** Null for a request that a fault cut off before there was one. */
    response: keptResponse().nullable(),
    sandbox: z.strictObject({ name: z.string(), chosen_by: z.enum(CHOSEN_BY), description: z.string() }),
    route: z.strictObject({
      operation: z.string().nullable(),
      method: z.string().nullable(),
      /** Template below `/v1`. */
      path: z.string().nullable(),
      /** Id of the stub that responded; absent if the service itself did. */
      stub: z.string().exactOptional(),
      /** Where the user has defined it, as `file:line`; absent for an operation of the service. */
      place: z.string().exactOptional(),
      params: z.record(z.string(), z.string()),
      /** The nearest operations, for a request that matched none. */
      near_misses: z.array(z.string()),
    }),
    steps: z.array(stepTrace()),
    caller: caller().nullable(),
    /** Id of the trace in `traceparent`. */
    trace: z.string().exactOptional(),
    limiter: limiterTrace(),
    idempotency: idempotencyTrace(),
    /** The fault rules that the request was compared with: all that fired, and the first hundred others of each phase. */
    faults: z.array(faultTrace()),
    error: z
      .strictObject({
        code: z.string(),
        status: z.int(),
        detail: z.string(),
        mitigation: z.string().nullable(),
        /** By JSON Pointer; the first hundred of `issues_total`. */
        issues: z.array(issue()),
        issues_total: z.int(),
      })
      .nullable(),
    ...requestEffects().shape,
    assumptions: z.array(assumptionTrace()),
    /** Heading of the section of the specification; null when no route matched. */
    specification: z.string().nullable(),
    /** Present if the query has parameters that nothing reads; at most a hundred of them. */
    unread_query: z.array(unreadParameter()).exactOptional(),
    /** Present if a web page sent the request and its browser does not let it read the response. */
    cors: corsTrace().exactOptional(),
    /** Real time, not virtual: absent with `stable`. Null for a request without HTTP. */
    evidence: evidenceTrace().nullable().exactOptional(),
  })

export type RequestTrace = ShapeOf<typeof requestTrace>

/**
 * Explains one entry of a sandbox's request log. Created on demand: the entry only has references.
 * @param stable without real-time fields
 */
export function traceOf(sandbox: Sandbox, entry: LogEntry, stable: boolean): RequestTrace {
  const operation = loggedOperation(sandbox, entry)
  const effects = effectsOf(entry)
  const unread = operation === undefined ? [] : unreadParameters(operation, entry.settings, entry.query)
  return {
    summary: [summaryOf(sandbox, entry, effects), waiting(sandbox, entry), entry.cors?.refusal?.detail]
      .filter(Boolean)
      .join(' '),
    request: requestOf(entry),
    response: entry.response?.show() ?? null,
    sandbox: {
      name: sandbox.name,
      chosen_by: entry.chosenBy,
      description: chosen(sandbox.name)[entry.chosenBy],
    },
    route: {
      operation: operation?.name ?? null,
      method: operation?.method ?? null,
      path: operation?.path ?? null,
      ...(operation?.stub !== undefined && { stub: operation.stub }),
      ...(operation?.place !== undefined && { place: operation.place }),
      params: entry.params,
      near_misses: entry.nearest,
    },
    steps: stepsOf(sandbox, entry),
    caller: entry.caller ?? null,
    ...traceIn(entry.headers),
    limiter: limiterOf(sandbox, entry),
    idempotency: idempotencyOf(sandbox, entry),
    faults: faultsOf(entry.faults),
    error: errorOf(entry),
    ...effects,
    assumptions: assumptionsOf(sandbox, entry),
    specification: operation?.section ?? null,
    ...(unread.length > 0 && { unread_query: unread }),
    ...corsOf(entry),
    ...(!stable && { evidence: entry.evidence ?? null }),
  }
}

function summaryOf(sandbox: Sandbox, entry: LogEntry, effects: RequestEffects): string {
  const fired = (entry.faults?.fired ?? []).map(({ rule }) => rule.id)
  if (fired.length === 0) return plainSummary(sandbox, entry, effects)
  const rules = fired.length === 1 ? `rule ${fired[0]}` : `rules ${fired.join(', ')}`
  const way = entry.faults?.sent?.end === 'whole' ? '' : (entry.faults?.wayOf() ?? '')
  return `${plainSummary(sandbox, entry, effects)} Fired: the fault ${rules}. ${way}`.trimEnd()
}

// A note for a successful poll of a record that cannot progress because the clock is stopped.
function waiting(sandbox: Sandbox, entry: LogEntry): string | null {
  const ref = loggedOperation(sandbox, entry)?.poll?.ref(entry.params)
  return ref === undefined || entry.error !== undefined ? null : frozenNote(sandbox, ref)
}

function plainSummary(sandbox: Sandbox, entry: LogEntry, effects: RequestEffects): string {
  const { method, path, status, decided, error, cors } = entry
  const what = method === '' ? 'An invalid request' : `${method} ${path}`
  if (error !== undefined) {
    return sentence(
      `${what} was refused with ${status} ${error.code} by the step ${decided}: ${error.detail}`,
    )
  }
  if (isCutOff(entry))
    return `${what} was cut off by the step ${decided}: nothing was performed, and there was no response.`
  const isWhole = (entry.faults?.sent?.end ?? 'whole') === 'whole'
  const completed = `${what} was ${isWhole ? '' : 'to be '}completed with ${status} by the step ${decided}`
  if (cors?.isPreflight) return `${completed}: it is a preflight.`
  if (decided === 'replay') return `${completed}: ${idempotencyOf(sandbox, entry).description}`
  return `${completed}: ${inShort(effects)}${ranBefore(entry)}.`
}

function ranBefore({ caughtUp, poll }: LogEntry): string {
  const ran = caughtUp + (poll?.events ?? 0)
  if (ran === 0) return ''
  return `; ${counted(ran, 'event')} that ${ran === 1 ? 'was' : 'were'} due ran before`
}

/** The request as far as the log keeps it. */
export function requestOf({ id, at, method, path, query, headers, body }: LogEntry): RequestTrace['request'] {
  return {
    id,
    at,
    method,
    path,
    query,
    headers,
    body: body.kind === 'json' ? body.value : null,
    body_kept: body.kind === 'json',
    body_bytes: body.kind === 'json' || body.kind === 'large' ? (body.bytes ?? null) : null,
  }
}

function chosen(name: string): Readonly<Record<ChosenBy, string>> {
  return {
    path: `The path begins with /@${name}.`,
    header: 'The header X-Emulator-Sandbox names it.',
    token: `The API key ends in @${name}.`,
    default: 'Neither path, header nor key names a sandbox.',
  }
}

function errorOf({ status, error }: LogEntry): RequestTrace['error'] {
  if (error === undefined) return null
  // A code that a user has chosen is no kind of error.
  const kind = errorKinds.get(error.code)
  return {
    code: error.code,
    status,
    detail: error.detail,
    mitigation: error.mitigation ?? kind?.mitigation ?? null,
    issues: error.issues,
    issues_total: error.issueCount,
  }
}

function assumptionsOf({ service: { assumptions } }: Sandbox, { assumed, mentioned, settings }: LogEntry) {
  const offered = [...assumptions.settings.values()]
  return [...assumed, ...mentioned].sort().flatMap((id) => {
    const item = assumptions.items.get(id)
    if (item === undefined) return []
    const { open, decision } = item
    const own = offered.filter((setting) => setting.item === id)
    const values = own.map((each) => ({ key: each.key, value: withoutSecret(settings.get(each)) }))
    return [{ id, open, decision, settings: values }]
  })
}
