import { catalog, type ErrorCode, Refusal, type RefusalOptions } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { type Content, fail, JSON_TYPE, PROBLEM_TYPE } from '../../request/content.ts'
import type { Exchange } from '../../request/exchange.ts'
import { allOf, type Respond } from '../actions.ts'
import type { Decision } from '../decision.ts'
import type { HeaderList } from './headers.ts'

/** The answer that stands in for the handler's. Of several the first: behind it there is nothing left to answer. */
export function respondOf({ actions }: Decision): Respond | undefined {
  return allOf(actions, 'respond')[0]
}

/** Whether the handler must not run, so that the request leaves the sandbox as it is. */
export function replacesHandler(decision: Decision): boolean {
  const respond = respondOf(decision)
  if (respond !== undefined && respond.effects !== 'apply') return true
  return allOf(decision.actions, 'body').some(({ effects }) => effects === 'none')
}

/**
 * Puts an answer in the place of whatever became of the request, a refusal included, and says so in the exchange.
 * Undefined when no fault answers.
 */
export function inject(exchange: Exchange, decision: Decision): Content | undefined {
  const respond = respondOf(decision)
  if (respond === undefined) return undefined
  exchange.injected = true
  if (exchange.refusal !== undefined) exchange.overruled = exchange.step
  exchange.step = respond.effects === 'apply' ? 'faultsAfter' : 'faultsBefore'
  exchange.refusal = respond.status < 400 ? undefined : refusalOf(respond)
  return saidBy(respond, exchange)
}

/** What the headers of a rule say in the place of all others, but for those that frame the body: `frame` is for them. */
export function headersOf({ headers = {} }: Respond): HeaderList {
  return Object.entries(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()))
}

const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer', 'transfer-encoding'])

function saidBy(respond: Respond, exchange: Exchange): Content {
  const { status, body } = respond
  const { refusal } = exchange
  const lines = undefined
  if (BODILESS.has(status)) return { status, headers: [], text: undefined, lines }
  if (body !== undefined) return { status, lines, ...given(body, respond, exchange) }
  if (refusal === undefined) return { status, headers: [], text: undefined, lines }
  if (respond.proxy !== true) return fail(exchange, refusal)
  return { status, headers: [['Content-Type', PLAIN]], text: `${catalog[refusal.code].title}\n`, lines }
}

function given(
  body: Json,
  { proxy }: Respond,
  { refusal, call }: Exchange,
): Pick<Content, 'headers' | 'text'> {
  const more = refusal?.options.headers ?? []
  if (body === '') return { headers: more, text: '' }
  if (typeof body === 'string') return { headers: [...more, ['Content-Type', PLAIN]], text: body }
  const isProblem = refusal !== undefined && proxy !== true && call.operation.errorFormat === 'problem'
  const type = isProblem ? PROBLEM_TYPE : JSON_TYPE
  return { headers: [...more, ['Content-Type', type]], text: JSON.stringify(body) }
}

const BODILESS: ReadonlySet<number> = new Set([204, 304])

const PLAIN = 'text/plain; charset=utf-8'

// What it says is what the service would say: nothing of a rule.
function refusalOf({ status, code, detail }: Respond): Refusal {
  const word = codeOf(status, code)
  const more: Partial<RefusalOptions> = {
    ...(word === 'rate_limit_exceeded' && { details: { reason: word }, assumed: ['U065'] }),
    ...(status === 401 && { headers: [['WWW-Authenticate', 'Bearer']] as const }),
  }
  const said = detail ?? DETAILS[word] ?? `The request was refused: ${catalog[word].title.toLowerCase()}.`
  return new Refusal(word, { status, detail: said, ...more })
}

function codeOf(status: number, code: string | undefined): ErrorCode {
  if (code !== undefined && Object.hasOwn(catalog, code)) return code as ErrorCode
  return BY_STATUS.get(status) ?? (status < 500 ? 'bad_request' : 'internal_error')
}

const BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [409, 'conflict'],
  [410, 'results_gone'],
  [413, 'payload_too_large'],
  [415, 'unsupported_media_type'],
  [417, 'expectation_failed'],
  [422, 'validation_failed'],
  [429, 'rate_limit_exceeded'],
  [431, 'header_fields_too_large'],
  [502, 'bad_gateway'],
  [503, 'service_unavailable'],
  [504, 'gateway_timeout'],
])

const DETAILS: Readonly<Partial<Record<ErrorCode, string>>> = {
  bad_request: 'The request was not understood.',
  validation_failed: 'The request breaks a rule of its fields.',
  unauthorized: 'The key is not valid.',
  forbidden: 'The key may not do this.',
  not_found: 'There is no such object.',
  request_timeout: 'The request did not arrive in time.',
  conflict: 'The object is in a state in which this cannot be done.',
  results_not_ready: 'The results are not there yet.',
  idempotency_key_reused: 'The Idempotency-Key was used before with a different body.',
  idempotency_key_in_use: 'A request with the same Idempotency-Key is still under way.',
  results_gone: 'The results have been cleaned up.',
  payload_too_large: 'The body is too large.',
  rate_limit_exceeded: 'More requests were made than the limit admits.',
  internal_error: 'The service failed to handle the request.',
  bad_gateway: 'The service gave no usable answer.',
  service_unavailable: 'The service is not available at the moment.',
  gateway_timeout: 'The service did not answer in time.',
}
