import { z } from 'zod'
import {
  type AnySetting,
  type AssumptionCatalog,
  memoizeBySettings,
  type Settings,
} from '../../core/assumptions.ts'
import { successOverrides } from '../../core/core-assumptions.ts'
import { problemDetails, standardError } from '../../core/error-body.ts'
import { type ErrorCode, errorKindOf } from '../../core/error-kinds.ts'
import { type ErrorFormat, errorCodes, errorFacts, Refusal, shownCode } from '../../core/errors.ts'
import { type Issue, isObject, type Json, keysOf, pointer, same, valueAt } from '../../core/json.ts'
import { type AnyOperation, codesOf, inputOf } from '../../core/operation.ts'
import { JSON_TYPE, PROBLEM_TYPE, successOf } from '../../core/request/response.ts'
import { parsed, REQUIRED, zodIssues } from '../../core/zod-issues.ts'
import type { HarExchange } from './har.ts'

/** A setting that an exchange shows, with the value under which the emulator would respond like this. */
export type Shown = readonly [setting: AnySetting, value: Json]

/** The settings that an exchange shows with another value than the one in force. */
export function contradictionsOf(
  exchange: HarExchange,
  settings: Settings,
  assumptions: AssumptionCatalog,
): Shown[] {
  return [...shownBy(exchange, settings, assumptions)].filter(
    ([setting, value]) => !agrees(settings.get<Json>(setting), value),
  )
}

/** `status success.create: 201 instead of 200`. @param status of the exchange */
export function contradictionText([setting, value]: Shown, settings: Settings, status: number): string {
  const what = value === status ? 'status' : 'setting'
  return `${what} ${setting.key}: ${shownValue(value)} instead of ${shownValue(settings.get<Json>(setting))}`
}

/**
 * How an exchange differs from the document, without values that may be secrets.
 * @param isRecorded whether a body that is missing or not JSON may be a fault of the recording
 */
export function documentIssues(exchange: HarExchange, settings: Settings, isRecorded: boolean): string[] {
  return [
    ...statusDifferences(exchange, settings),
    ...(isRecorded && exchange.missing !== undefined ? [] : bodyDifferences(exchange)),
    ...schemaDifferences(exchange, settings),
    ...headerDifferences(exchange),
    ...listDifferences(exchange),
  ]
}

/** The settings that an exchange shows, each with the value under which the emulator would respond like this. */
export function shownBy(
  exchange: HarExchange,
  settings: Settings,
  assumptions: AssumptionCatalog,
): Map<AnySetting, Json> {
  const { declared, status } = exchange
  const shown = new Map<AnySetting, Json>()
  for (const setting of assumptions.settings.values()) {
    const value = setting.observe?.(exchange) as Json | undefined
    if (value === undefined) continue
    // To create a schema takes long, and most values are known to be valid.
    if (agrees(settings.get(setting), value) || setting.schema().safeParse(value).success)
      shown.set(setting, value)
  }
  if (status < 300 && typeof declared.success === 'object') {
    const { name, success } = declared
    if (Object.hasOwn(settings.get(successOverrides), name)) shown.set(successOverrides, { [name]: status })
    else shown.set(success, status)
  }
  const code = codeOf(exchange, settings)
  if (code === undefined) return shown
  const kind = errorKindOf(code)
  const word = wordOf(exchange)
  if (typeof kind.status === 'object') shown.set(kind.status, status)
  if (kind.documented !== true && word !== undefined)
    shown.set(errorCodes, word === code ? {} : { [code]: word })
  return shown
}

/** Whether a setting has a value that traffic shows. Of a list or an object, an exchange shows only a part. */
export function agrees(actual: unknown, shown: Json): boolean {
  if (Array.isArray(shown) && Array.isArray(actual))
    return shown.every((one) => actual.some((each) => same(each, one)))
  if (!isObject(shown) || !isObject(actual)) return same(actual, shown)
  return Object.entries(shown).every(([key, one]) => same(actual[key], one))
}

/** A text about any item of a list, and about any entry. */
export const ofAnyItem = (detail: string): string => detail.replaceAll(/(\/|entry )\d+/g, '$1*')

/** A value of a setting, unless it may be a key or a token: these have long words or many digits. */
export function shownValue(value: Json): string {
  return isPlain(value) ? JSON.stringify(value) : 'another value'
}

export function isPlain(value: Json): boolean {
  const words = JSON.stringify(value).split(/[^A-Za-z0-9]+/)
  return words.every(({ length }, n) => length < 32 && (length < 8 || !/\d/.test(words[n] ?? '')))
}

function statusDifferences(exchange: HarExchange, settings: Settings): string[] {
  const { declared, status } = exchange
  const { success } = declared
  // A success or an error that a setting decides has been compared with the setting.
  if (status < 300 && typeof success === 'object') return []
  const code = codeOf(exchange, settings)
  if (code !== undefined && typeof errorKindOf(code).status === 'object') return []
  const codes = code === undefined ? codesOf(declared, inputOf(declared, settings)) : [code]
  const errors = [...new Set(codes.map((each) => statusOf(each, settings)))].sort()
  const expected = status < 400 ? [successOf(declared, settings)] : errors
  return expected.includes(status) ? [] : [`status: ${status} instead of ${expected.join(' or ')}`]
}

function statusOf(code: ErrorCode, settings: Settings): number {
  return errorFacts(new Refusal(code, { detail: '' }), settings).status
}

/** The error of a response: by its word, otherwise the only one that fits the status and the request. */
function codeOf(exchange: HarExchange, settings: Settings): ErrorCode | undefined {
  const { declared, status, sent, key } = exchange
  if (status < 400) return undefined
  const codes = codesOf(declared, inputOf(declared, settings))
  const word = wordOf(exchange)
  const named = codes.find((code) => word === code || word === shownCode(code, settings))
  if (named !== undefined) return named
  const isPossible = (code: ErrorCode) =>
    (code !== 'malformed_json' || sent === undefined) &&
    (code !== 'idempotency_key_reused' || key !== undefined)
  const [one, ...others] = codes.filter((code) => isPossible(code) && statusOf(code, settings) === status)
  if (one !== undefined) return others.length === 0 ? one : undefined
  // By RFC 9110, a 422 is about the contents of a body that was understood.
  return status === 422 ? codes.find((code) => code === 'validation_failed') : undefined
}

function wordOf({ declared, received }: HarExchange): string | undefined {
  const word = valueAt(received, declared.errorFormat === 'problem' ? '/type' : '/error')
  return typeof word === 'string' ? /(?:^|\/)([A-Za-z][\w.-]*)$/.exec(word)?.[1] : undefined
}

function bodyDifferences({ declared, status, received, body, media }: HarExchange): string[] {
  const isEmpty = status < 400 && (status === 204 || declared.output === undefined)
  if (status >= 300 && status < 400) return []
  if (body === 'none') return isEmpty ? [] : ['body: is missing']
  if (body === 'invalid') return ['body: is not JSON']
  if (received === undefined) return []
  if (isEmpty) return same(received, {}) ? [] : ['body: is present, instead of none']
  const error = declared.errorFormat === 'problem' ? PROBLEM_TYPE : JSON_TYPE
  const [expected] = (status < 400 ? (declared.media ?? JSON_TYPE) : error).split(';')
  return media === expected ? [] : [`header Content-Type: is not ${expected}`]
}

function schemaDifferences(exchange: HarExchange, settings: Settings): string[] {
  const { declared, status, query, sent, received } = exchange
  if (status >= 400) return problemsIn('error body', errorBody(declared.errorFormat, status), received)
  if (status >= 300) return []
  const { query: parameters, body } = inputOf(declared, settings)
  const output = status === 204 ? undefined : outputOf(declared, settings)
  const lines = declared.media !== undefined && Array.isArray(received) ? received : [received]
  return [
    ...problemsIn('query', parameters, query as Json),
    ...problemsIn('request body', body, sent),
    ...lines.flatMap((line) => problemsIn('body', output, line)),
  ]
}

function problemsIn(place: string, schema: z.ZodType | undefined, value: Json | undefined): string[] {
  if (schema === undefined || value === undefined) return []
  const { data, error } = parsed(schema, value)
  if (error !== undefined) return zodIssues(error, '').map((issue) => issueText(place, issue))
  // A schema of records fills in what fixtures may leave out; a response must have it.
  const absent = place === 'body' ? [...filledIn(data, value)] : []
  return absent.map((at) => issueText(place, { pointer: at, detail: REQUIRED }))
}

const outputOf = memoizeBySettings(({ output }: AnyOperation, settings) => output?.(settings))

function* filledIn(data: unknown, value: Json, at = ''): Iterable<string> {
  if (typeof data !== 'object' || data === null) return
  for (const [key, inner] of Object.entries(data)) {
    const own = valueAt(value, [key])
    if (own !== undefined) yield* filledIn(inner, own, at + pointer(key))
    else if (inner !== undefined) yield at + pointer(key)
  }
}

function issueText(place: string, { pointer: at, detail }: Issue): string {
  const keys = keysOf(at).map((key) => (isPlain(key) ? key : '...'))
  // Some messages quote the value; those that begin like this quote only fixed words.
  const quoted = /^(?:must be (?:one of )?"|is not a known )/.test(detail)
    ? detail
    : detail.replaceAll(/"[^"]*"/g, '"..."')
  return `${place} ${pointer(...keys)}: ${quoted}`
}

// Specification: Conventions.
function listDifferences({ query, received }: HarExchange): string[] {
  const rows = valueAt(received, '/data')
  const limit = Number(query.limit ?? Number.NaN)
  return Array.isArray(rows) && rows.length > limit ? ['body /data: has more items than the limit'] : []
}

function errorBody(format: ErrorFormat, status: number): z.ZodType {
  const same = z.literal(status)
  return format === 'problem'
    ? problemDetails.extend({ status: same })
    : standardError.extend({ status_code: same, statusCode: same.optional() }).strict()
}

// Specification: Limits / Rate limits.
function headerDifferences({ status, headers }: HarExchange): string[] {
  // Some tools leave out all headers.
  if (Object.keys(headers).length === 0) return []
  const isLast = status === 429 || headers['x-ratelimit-remaining'] === '0'
  const quota = ['Limit', 'Remaining', 'Reset'].map((each) => `X-RateLimit-${each}`)
  const found = [...quota, ...(isLast ? ['Retry-After'] : [])].flatMap((name) => {
    const value = headers[name.toLowerCase()]
    if (value === undefined) return `header ${name}: is missing`
    return /^\d+$/.test(value) ? [] : `header ${name}: is not a whole number`
  })
  if (!isLast && headers['retry-after'] !== undefined)
    found.push('header Retry-After: is present, although requests remain')
  if (status === 401 && headers['www-authenticate'] === undefined)
    found.push('header WWW-Authenticate: is missing')
  return found
}
