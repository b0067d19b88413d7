import { bodyReliances, errorFacts, problemBody, type Refusal, standardBody } from '../errors.ts'
import type { Json } from '../json.ts'
import type { Content, Exchange } from './exchange.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
export const PROBLEM_TYPE = 'application/problem+json'

/** The content of a response: the reply of the handler, or the error of the refusal. */
export function contentOf(exchange: Exchange): Content {
  return exchange.refusal === undefined ? succeed(exchange) : fail(exchange, exchange.refusal)
}

/** The status of a success. */
export function statusOf(exchange: Exchange): number {
  const { success } = exchange.call.operation
  const status = exchange.reply?.status
  if (status !== undefined) return status
  return typeof success === 'number' ? success : exchange.assume(success)
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
  // Nearly every body has an id and a timestamp, so only the log names these two assumptions.
  exchange.note('U012')
  exchange.note('U013')
  headers.push(['Content-Type', JSON_TYPE])
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
  const body: Json = problem
    ? problemBody(refusal, facts, exchange, call.path)
    : standardBody(refusal, facts, settings)
  const type = problem ? PROBLEM_TYPE : JSON_TYPE
  const headers = [...(refusal.options.headers ?? []), ['Content-Type', type] as const]
  return { status: facts.status, headers, text: JSON.stringify(body), lines: undefined }
}
