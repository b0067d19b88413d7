import { isObject } from '../../../src/core/json.ts'
import type { RawResponse } from './connection.ts'
import type { ApiDocument, Described } from './document.ts'
import type { Sent } from './request-wire.ts'

export type Broken = 'unsolicited 5xx' | 'response schema' | 'error form' | 'headers' | 'accepted'

export interface Violation {
  readonly broken: Broken
  readonly detail: string
}

/** Error codes for malformed requests; a valid request must never get one. */
const MALFORMED = [
  ...['validation_failed', 'malformed_json', 'bad_request', 'unauthorized', 'route_not_found'],
  ...['method_not_allowed', 'unsupported_media_type', 'payload_too_large'],
]

export function judge(
  document: ApiDocument,
  sent: Sent,
  response: RawResponse,
  isValid: boolean,
): readonly Violation[] {
  const violations: Violation[] = []
  const say = (broken: Broken, detail: string | undefined): void => {
    if (detail !== undefined) violations.push({ broken, detail })
  }
  const isPreflight =
    sent.method === 'OPTIONS' && has(sent, 'Origin') && has(sent, 'Access-Control-Request-Method')
  for (const problem of headerProblems(response, isPreflight)) say('headers', problem)
  if (isPreflight) {
    if (response.status !== 204 && response.status < 400) say('headers', `a preflight got ${response.status}`)
    return violations
  }
  const path = /^(?:\/@[^/?]*)?\/v1([^?]*)/.exec(sent.target)?.[1]
  const operation = path === undefined ? undefined : document.match(sent.method, path)
  if (response.status >= 500) {
    const isKnown = response.status === 501 && operation?.contract === false
    if (!isKnown) say('unsolicited 5xx', `${response.status} ${response.text}`)
  }
  if (response.status >= 400) {
    say('error form', errorProblem(document, sent, response, operation))
    if (isValid) say('error form', refusedThoughValid(response))
  } else if (operation === undefined) say('accepted', `${response.status} without an operation`)
  else {
    say('response schema', successProblem(sent, response, operation))
    say('accepted', acceptedThoughInvalid(sent, operation))
  }
  return violations
}

function has({ headers }: Pick<Sent, 'headers'>, wanted: string): boolean {
  return headers.some(([name]) => name === wanted)
}

function headerProblems({ status, headers }: RawResponse, isPreflight: boolean): string[] {
  const problems: string[] = []
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
    if (!/^\d+$/.test(headers.get(name) ?? '')) problems.push(`${name} is ${headers.get(name)}`)
  const isUsedUp = headers.get('x-ratelimit-remaining') === '0'
  const wait = headers.get('retry-after')
  if (isUsedUp !== (wait !== undefined)) problems.push(`remaining 0 is ${isUsedUp}, Retry-After is ${wait}`)
  if (wait !== undefined && !/^[1-9]\d*$/.test(wait)) problems.push(`Retry-After is ${wait}`)
  if (status === 429 && wait === undefined) problems.push('a 429 has no Retry-After')
  const id = headers.get('x-emulator-request-id')
  if (!isPreflight && !/^[a-z0-9-]+-\d{6,}$/.test(id ?? '')) problems.push(`X-Emulator-Request-Id is ${id}`)
  if (!isPreflight && Number.isNaN(Date.parse(headers.get('date') ?? ''))) problems.push('Date is missing')
  const assumed = headers.get('x-emulator-assumed')
  if (assumed !== undefined && !/^[UT]\d+(?:,[UT]\d+)*$/.test(assumed)) problems.push(`assumed is ${assumed}`)
  if (headers.get('vary') === undefined) problems.push('Vary is missing')
  return problems
}

function errorProblem(
  document: ApiDocument,
  sent: Sent,
  response: RawResponse,
  operation: Described | undefined,
): string | undefined {
  const type = response.headers.get('content-type') ?? ''
  const isProblem = type.startsWith('application/problem+json')
  if (!isProblem && !type.startsWith('application/json')) return `the Content-Type of an error is "${type}"`
  if (operation !== undefined && operation.isProblem !== isProblem) return `${operation.name} errs as ${type}`
  if (sent.method === 'HEAD') return undefined
  const body = parsed(response.text)
  if (!isObject(body)) return `the error is ${response.text}`
  const issue = (isProblem ? document.problem : document.standardError)(body)
  if (issue !== undefined) return `${issue}: ${response.text}`
  if ((isProblem ? body.status : body.status_code) !== response.status)
    return `another status in ${response.text}`
  if (!isProblem && body.statusCode !== response.status) return `another statusCode in ${response.text}`
  if (isProblem && body.instance !== asReference(sent.target.split('?')[0] ?? ''))
    return `another instance in ${response.text}`
  if (/node_modules| at .*\.[jt]s:\d|<html/i.test(response.text))
    return `it shows the inside: ${response.text}`
  return undefined
}

// Characters that RFC 3986 allows in a path are unchanged.
function asReference(path: string): string {
  return [...path]
    .map((each, at) => {
      const isEscape = each === '%' && /^%[\da-f]{2}/i.test(path.slice(at))
      return isEscape || /[\w.~!$&'()*+,;=:@/-]/.test(each) ? each : encodeURIComponent(each)
    })
    .join('')
}

function refusedThoughValid({ text }: RawResponse): string | undefined {
  const body = parsed(text)
  const code = isObject(body) ? String(body.error ?? String(body.type).split('/').at(-1)) : ''
  return MALFORMED.includes(code) ? `a valid request is refused: ${text}` : undefined
}

function successProblem({ method }: Sent, response: RawResponse, operation: Described): string | undefined {
  const { success, media, name } = operation
  if (response.status !== success) return `${name} got ${response.status} and not ${success}`
  const type = response.headers.get('content-type')
  if (media === undefined)
    return type === undefined && response.text === '' ? undefined : `${name} has a body`
  if (type?.startsWith(media) !== true) return `${name} got the type ${type}`
  if (method === 'HEAD') return response.text === '' ? undefined : 'the response to HEAD has a body'
  const bodies = media === 'application/x-ndjson' ? response.text.split('\n').slice(0, -1) : [response.text]
  for (const text of bodies) {
    const body = parsed(text)
    const issue = body === undefined ? 'is not JSON' : operation.judge(body)
    if (issue !== undefined) return `${name}: ${issue}: ${text}`
  }
  return undefined
}

// The emulator must not accept bodies that the document forbids, or parameters beyond their bounds.
function acceptedThoughInvalid({ target, body, headers }: Sent, operation: Described): string | undefined {
  if (operation.body !== undefined && body !== undefined && !has({ headers }, 'Content-Encoding')) {
    const json = parsed(body.toString().replace(/^\uFEFF/, ''))
    if (json === undefined)
      return body.length === 0 ? undefined : `${operation.name} accepted a body that is not JSON`
    if (!operation.accepts(json)) return `${operation.name} accepted a body that the document forbids`
  }
  const query = new URLSearchParams(target.split('?')[1] ?? '')
  for (const { name, schema } of operation.query) {
    if (schema.type !== 'integer') continue
    for (const value of query.getAll(name)) {
      const number = Number(value)
      const isIn = number >= Number(schema.minimum) && number <= Number(schema.maximum)
      if (!/^\d+$/.test(value) || !isIn) return `${operation.name} took ${name}=${value}`
    }
    if (query.getAll(name).length > 1) return `${operation.name} took ${name} twice`
  }
  return undefined
}

/** The JSON of a text; undefined if it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
