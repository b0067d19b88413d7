import { catalog, type ErrorCode, type ErrorKind } from '../errors.ts'
import { type FaultTrace, faultsOf } from '../faults/trace.ts'
import type { Issue, Json } from '../json.ts'
import type { ChosenBy, LogEntry } from '../log/request-log.ts'
import type { Caller } from '../request/auth.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { withoutSecret } from '../secrets.ts'
import { counted } from '../words.ts'
import { effectsOf, inShort, type RequestEffects } from './effects.ts'
import {
  type IdempotencyTrace,
  idempotencyOf,
  type LimiterTrace,
  limiterOf,
  loggedOperation,
} from './limits.ts'
import { isCutOff, type StepTrace, stepsOf } from './steps.ts'

/** Everything that is known about one request, in reading order. */
export interface Trace extends RequestEffects {
  /** One sentence: the step that decided, and why. */
  readonly summary: string
  readonly request: {
    readonly id: string
    /** Virtual instant. */
    readonly at: string
    readonly method: string
    readonly path: string
    readonly query: LogEntry['query']
    /** Without those that carry credentials. */
    readonly headers: LogEntry['headers']
    /** Null when there was none, or it was not kept. */
    readonly body: Json
    readonly body_kept: boolean
    /** Length on arrival; null when it was not counted. */
    readonly body_bytes: number | null
  }
  readonly sandbox: { readonly name: string; readonly chosen_by: ChosenBy; readonly description: string }
  readonly route: {
    readonly operation: string | null
    readonly method: string | null
    /** Template below `/v1`. */
    readonly path: string | null
    /** Id of the stub that answered; absent where the service itself did. */
    readonly stub?: string
    readonly params: LogEntry['params']
    /** The operations that come nearest to a request that fits none. */
    readonly near_misses: readonly string[]
  }
  readonly steps: readonly StepTrace[]
  readonly caller: Caller | null
  readonly limiter: LimiterTrace
  readonly idempotency: IdempotencyTrace
  /** Every fault rule that the request was held against; of those that did not fire, the first hundred of a phase. */
  readonly faults: readonly FaultTrace[]
  readonly error: ErrorTrace | null
  readonly assumptions: readonly AssumptionTrace[]
  /** Heading of the section of the specification; null when no route matched. */
  readonly specification: string | null
}

interface ErrorTrace {
  readonly code: string
  readonly status: number
  readonly detail: string
  readonly mitigation: string | null
  /** By JSON Pointer; the first hundred of `issues_total`. */
  readonly issues: readonly Issue[]
  readonly issues_total: number
}

interface AssumptionTrace {
  readonly id: string
  readonly open: string
  readonly decision: string
  /** The choices that the item offers, as they were in force at the request. */
  readonly settings: readonly { readonly key: string; readonly value: unknown }[]
}

/** Explains one entry of a sandbox's request log. Made on demand: the entry only has references. */
export function traceOf(sandbox: Sandbox, entry: LogEntry): Trace {
  const operation = loggedOperation(sandbox, entry)
  const effects = effectsOf(entry)
  return {
    summary: summaryOf(sandbox, entry, effects),
    request: requestOf(entry),
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
      params: entry.params,
      near_misses: entry.nearest,
    },
    steps: stepsOf(sandbox, entry),
    caller: entry.caller ?? null,
    limiter: limiterOf(sandbox, entry),
    idempotency: idempotencyOf(sandbox, entry),
    faults: faultsOf(entry.faults),
    error: errorOf(entry),
    ...effects,
    assumptions: assumptionsOf(sandbox, entry),
    specification: operation?.section ?? null,
  }
}

function summaryOf(sandbox: Sandbox, entry: LogEntry, effects: RequestEffects): string {
  const fired = (entry.faults?.fired ?? []).map(({ rule }) => rule.id)
  if (fired.length === 0) return plainSummary(sandbox, entry, effects)
  const rules = fired.length === 1 ? `rule ${fired[0]}` : `rules ${fired.join(', ')}`
  const way = entry.faults?.sent?.end === 'whole' ? '' : (entry.faults?.wayOf() ?? '')
  return `${plainSummary(sandbox, entry, effects)} Fired: the fault ${rules}. ${way}`.trimEnd()
}

function plainSummary(sandbox: Sandbox, entry: LogEntry, effects: RequestEffects): string {
  const { method, path, status, decided, error } = entry
  const what = method === '' ? 'What never became a request' : `${method} ${path}`
  if (error !== undefined) {
    return sentence(
      `${what} was refused with ${status} ${error.code} by the step ${decided}: ${error.detail}`,
    )
  }
  if (isCutOff(entry))
    return `${what} was cut off by the step ${decided}: nothing was performed, and there was no response.`
  const isWhole = (entry.faults?.sent?.end ?? 'whole') === 'whole'
  const answered = `${what} was ${isWhole ? '' : 'to be '}answered ${status} by the step ${decided}`
  if (decided === 'replay') return `${answered}: ${idempotencyOf(sandbox, entry).description}`
  return `${answered}: ${inShort(effects)}${ranBefore(entry)}.`
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

function ranBefore({ caughtUp, poll }: LogEntry): string {
  const ran = caughtUp + (poll?.events ?? 0)
  if (ran === 0) return ''
  return `; ${counted(ran, 'event')} that ${ran === 1 ? 'was' : 'were'} due ran before`
}

function requestOf({ id, at, method, path, query, headers, body }: LogEntry): Trace['request'] {
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

function errorOf({ status, error }: LogEntry): ErrorTrace | null {
  if (error === undefined) return null
  const kind: ErrorKind = catalog[error.code as ErrorCode]
  return {
    code: error.code,
    status,
    detail: error.detail,
    mitigation: error.mitigation ?? kind.mitigation ?? null,
    issues: error.issues,
    issues_total: error.issueCount,
  }
}

function assumptionsOf({ assumptions }: Sandbox, { assumed, settings }: LogEntry): AssumptionTrace[] {
  const offered = [...assumptions.settings.values()]
  return [...assumed].sort().flatMap((id) => {
    const item = assumptions.items.get(id)
    if (item === undefined) return []
    const { open, decision } = item
    const own = offered.filter((setting) => setting.item === id)
    return [
      {
        id,
        open,
        decision,
        settings: own.map((each) => ({ key: each.key, value: withoutSecret(settings.get(each)) })),
      },
    ]
  })
}
