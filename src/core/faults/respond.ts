import { z } from 'zod'
import { declaredWith, type ErrorCode, errorKindOf, errorKinds } from '../error-kinds.ts'
import { CHALLENGE, Refusal, type RefusalOptions } from '../errors.ts'
import { intBetween, nonEmptyText } from '../fields.ts'
import type { Content, Exchange } from '../request/exchange.ts'
import { type HeaderList, responseHeaders, withHeaders } from '../request/headers.ts'
import { fail, JSON_TYPE, PROBLEM_TYPE } from '../request/response.ts'
import { json, nameAmong, strictObject } from '../strict-input.ts'
import type { ParametersOf } from './primitive.ts'
import { ratePart } from './quota.ts'
import type { Fault, StatePrimitive } from './state-primitive.ts'

/** A response instead of the handler's, in the error format of the operation unless it models a proxy in front of the service. */
export type Respond = ParametersOf<typeof schema>

function schema() {
  return strictObject({
    status: intBetween(200, 599),
    /** Machine-readable code of the error, one of the catalog; default: by the status. */
    code: nameAmong([...errorKinds.keys()], 'error code').optional(),
    detail: nonEmptyText().optional(),
    headers: responseHeaders().optional(),
    /** JSON, or text that is sent unchanged. Absent: the error body of the error format for a status from 400 on, else none. */
    body: json().optional(),
    /** Whether the handler runs; default `none`. `apply`: its changes are kept, but the client does not see its response. */
    effects: z.enum(['none', 'apply']).optional(),
    /** Models the response of a proxy in front of the service: without rate-limit headers. */
    proxy: z.boolean().optional(),
  })
}

export const respond: StatePrimitive<'respond', typeof schema> = {
  name: 'respond',
  kind: 'state',
  description: 'another response: a short form of head and body',
  schema,
  example: { parameters: { status: 503, headers: { 'Retry-After': '2' } } },
  step: ({ effects }) => (effects === 'apply' ? 'faultsAfter' : 'faultsBefore'),
  replacesHandler: ([first]) => first?.effects !== 'apply',
  effect: {
    content,
    // An injected 429 has the rate-limit headers of a real one, with 0 remaining, unless a `quota` action sets them.
    rate: (fault, found) => {
      const isOwn = firstOf(fault).status === 429 && fault.decision.given('quota').length === 0
      return isOwn ? ratePart(fault, { reject: true }, found) : undefined
    },
    headers: (fault, all) => {
      const { proxy, headers = {} } = firstOf(fault)
      const kept = proxy === true ? all.filter(([name]) => !OF_THE_SERVICE.test(name)) : all
      return withHeaders(kept, unframed(headers))
    },
  },
}

/** The first of several actions: a request has only one response. */
function firstOf({ given }: Fault<Respond>): Respond {
  return (given[0] as (typeof given)[number]).parameters // an effect is given at least one
}

// Replaces a refusal, too.
function content(fault: Fault<Respond>): Content {
  const { exchange } = fault
  const respond = firstOf(fault)
  exchange.injected = true
  if (exchange.refusal !== undefined) exchange.overruled = exchange.step
  exchange.step = respond.effects === 'apply' ? 'faultsAfter' : 'faultsBefore'
  exchange.refusal = respond.status < 400 ? undefined : refusalOf(respond)
  return saidBy(respond, exchange)
}

// Headers of the service that a proxy in front of it does not send.
const OF_THE_SERVICE = /^(?:x-ratelimit-.*|ratelimit(?:-policy)?|retry-after|x-emulator-assumed)$/i

// Headers that frame the body are left to the primitive `frame`.
function unframed(headers: NonNullable<Respond['headers']>): HeaderList {
  return Object.entries(headers).filter(([name]) => !FRAMING.has(name.toLowerCase()))
}

const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer', 'transfer-encoding'])

function saidBy({ status, body, proxy }: Respond, exchange: Exchange): Content {
  const { refusal, call } = exchange
  const content = (text: string | undefined, headers: HeaderList = []): Content => {
    return { status, headers, text, lines: undefined }
  }
  if (BODILESS.has(status)) return content(undefined)
  const more = refusal?.options.headers ?? []
  if (body === '') return content('', more)
  if (typeof body === 'string') return content(body, [...more, ['Content-Type', PLAIN]])
  if (body !== undefined) {
    const isProblem = refusal !== undefined && proxy !== true && call.operation.errorFormat === 'problem'
    return content(JSON.stringify(body), [...more, ['Content-Type', isProblem ? PROBLEM_TYPE : JSON_TYPE]])
  }
  if (refusal === undefined) return content(undefined)
  if (proxy !== true) return fail(exchange, refusal)
  return content(`${errorKindOf(refusal.code).title}\n`, [['Content-Type', PLAIN]])
}

const BODILESS: ReadonlySet<number> = new Set([204, 304])

const PLAIN = 'text/plain; charset=utf-8'

// The error reads as if the service had sent it: it does not mention a rule.
function refusalOf({ status, code, detail }: Respond): Refusal {
  const usual =
    BY_STATUS.get(status) ?? declaredWith(status) ?? (status < 500 ? 'bad_request' : 'internal_error')
  // The schema has checked the code.
  const word = (code as ErrorCode | undefined) ?? usual
  const more: Partial<RefusalOptions> = {
    // A 5xx of a fault is temporary, so that a retry can succeed.
    ...(status >= 500 && { retryable: true }),
    ...(status === 401 && { headers: CHALLENGE }),
  }
  const { sentence, title } = errorKindOf(word)
  const said = detail ?? sentence ?? `The request was refused: ${title.toLowerCase()}.`
  return new Refusal(word, { status, detail: said, ...more })
}

const BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [409, 'conflict'],
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
