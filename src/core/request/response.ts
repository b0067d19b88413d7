import type { Setting, Settings } from '../assumptions.ts'
import { successOverrides } from '../core-assumptions.ts'
import { bodyReliances, CHALLENGE, errorFacts, problemBody, type Refusal, standardBody } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { KeptResponse } from '../log/kept-response.ts'
import { logEntry, maskedWordsOf } from '../log/log-entry.ts'
import type { CorsCheck } from '../log/request-log.ts'
import type { AnyOperation } from '../operation.ts'
import { resultOf } from '../record/own-result.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { SECOND } from '../time/instant.ts'
import { errorBodies } from '../tomorrow.ts'
import type { Content, Exchange, RequestHooks } from './exchange.ts'
import type { HeaderList } from './headers.ts'
import type { Admission } from './rate-limiter.ts'
import { type StreamPauses, streamPauses } from './stream-pauses.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
export const PROBLEM_TYPE = 'application/problem+json'

/** A response in its final form: an adapter only has to write it. */
export interface ApiResponse extends Content {
  /** The copy for the log. An adapter that sends something else changes this copy. */
  readonly kept?: KeptResponse
  /** The pauses of its stream. */
  readonly pauses?: StreamPauses | undefined
  /** The check of its request, which depends on the headers that are sent. Absent for a request without one. */
  readonly cors?: CorsCheck | undefined
  /** The hooks of its request, which may change how it is sent. Absent for a response that is sent unchanged. */
  readonly hooks?: RequestHooks | undefined
}

/** Creates the response of a request that has passed the pipeline or was refused, and logs it. */
export function finish(sandbox: Sandbox, exchange: Exchange): ApiResponse {
  const { hooks, tomorrow } = exchange
  const content = hooks?.content(exchange) ?? contentOf(exchange)
  const { method, operation, cors } = exchange.call
  const found =
    exchange.refusal?.options.admission ??
    exchange.window?.admission ??
    sandbox.limits.untouched(operation.name)
  const own: (readonly [string, string])[] = []
  const shown = sandbox.service.assumptions.shownOf(exchange.assumed)
  if (shown !== '') own.push(['X-Emulator-Assumed', shown])
  own.push(['X-Emulator-Request-Id', exchange.id], ['Date', httpDate(exchange.now)])
  const { admission, headers: all } =
    hooks === undefined
      ? { admission: found, headers: content.headers.concat(quotaHeaders(found), own) }
      : hooks.response(exchange, { content: content.headers, admission: found, own })
  const { status, text, lines, bytes, stream } = content
  const headers = tomorrow === undefined ? all : tomorrow.headers(all)
  const words = maskedWordsOf(exchange.call, sandbox, exchange.settings)
  const kept = new KeptResponse(status, headers, operation.secrets, words)
  const shownText = text ?? bytes?.toString()
  if (shownText !== undefined && method !== 'HEAD') kept.write(shownText, bytes?.length)
  const whole = {
    request: exchange.rawBody,
    response: hooks === undefined ? exchange.reply?.body : undefined,
    result: operation.place === undefined ? undefined : (exchange.result ?? resultOf(exchange)),
  }
  sandbox.log.add(logEntry(exchange, status, admission, words, kept), whole)
  const copied = lines && kept.copying(lines)
  const pauses = stream && streamPauses(sandbox, exchange.id, stream)
  return { status, headers, text, lines: copied, bytes, stream, kept, pauses, cors, hooks }
}

/** The content of a response: the reply of the handler, or the error of the refusal. */
export function contentOf(exchange: Exchange): Content {
  return exchange.refusal === undefined ? succeed(exchange) : fail(exchange, exchange.refusal)
}

/** The status of a success. */
export function statusOf({ call, settings, reply, assume }: Exchange): number {
  return reply?.status ?? successOf(call.operation, settings, assume)
}

/** The success status of an operation. @param usual reads the setting of operations without their own status */
export function successOf(
  { name, success }: AnyOperation,
  settings: Settings,
  usual = (setting: Setting<number>) => settings.get(setting),
): number {
  if (typeof success === 'number') return success
  const own = settings.isChosen ? settings.get(successOverrides)[name] : undefined
  return own ?? usual(success)
}

function succeed(exchange: Exchange): Content {
  const { reply, caller, call } = exchange
  const status = statusOf(exchange)
  // After the commit, so that a replay does not name it for the caller of the first request. The specification names no role
  // with more rights than the account admin, whom every rule about permissions would admit.
  if (call.operation.permissionShown !== true && !caller.account_admin) exchange.note('U071')
  const headers = [...(reply?.headers ?? [])]
  if (reply?.lines !== undefined) {
    headers.push(['Content-Type', call.operation.media ?? 'application/json'])
    return { status, headers, text: undefined, lines: reply.lines }
  }
  const { bytes, stream, type = stream?.type ?? JSON_TYPE } = reply ?? {}
  if ((bytes ?? stream) !== undefined && status !== 204) {
    headers.push(['Content-Type', type])
    return { status, headers, text: undefined, lines: undefined, bytes, stream }
  }
  const body = reply?.body
  if (body === undefined || status === 204) return { status, headers, text: undefined, lines: undefined }
  // Nearly every body has an id and a timestamp, so only the log names these two assumptions.
  exchange.note('U012')
  exchange.note('U013')
  headers.push(['Content-Type', type])
  return { status, headers, text: reply?.text ?? JSON.stringify(body), lines: undefined }
}

/** An error in the error format of the operation. Specification: Errors. */
export function fail(exchange: Exchange, refusal: Refusal): Content {
  const { settings, call } = exchange
  const facts = errorFacts(refusal, settings)
  const { errorFormat } = call.operation
  for (const reliance of [...facts.assumed, ...bodyReliances(refusal, errorFormat)])
    exchange.note(...reliance)
  const problem = errorFormat === 'problem'
  const body: JsonObject = problem
    ? problemBody(refusal, facts, exchange, call.path)
    : standardBody(refusal, facts, settings)
  const type = problem ? PROBLEM_TYPE : JSON_TYPE
  const sent = exchange.tomorrow?.body(body, errorBodies()[facts.kind.documented ? 'shown' : 'other']) ?? body
  const { headers: own = facts.status === 401 ? CHALLENGE : [] } = refusal.options
  const headers = [...own, ['Content-Type', type] as const]
  return { status: facts.status, headers, text: JSON.stringify(sent), lines: undefined }
}

/** The rate-limit headers of every response. Specification: Limits / Rate limits. */
export function quotaHeaders({ limit, remaining, reset, retryAfter }: Admission): HeaderList {
  const headers: (readonly [string, string])[] = [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(reset)],
  ]
  if (retryAfter !== undefined) headers.push(['Retry-After', String(retryAfter)])
  return headers
}

/** An instant in the format of the Date header. */
function httpDate(ms: number): string {
  const second = Math.floor(ms / SECOND)
  // The text is the same for all requests of one second.
  if (second !== latest.second) latest = { second, text: new Date(ms).toUTCString() }
  return latest.text
}

let latest = { second: 0, text: 'Thu, 01 Jan 1970 00:00:00 GMT' }
