import { isAscii, isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { bodyLimit } from '../../core/core-assumptions.ts'
import { Refusal } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import type { Evidence } from '../../core/log/evidence.ts'
import { type AnyOperation, inputOf } from '../../core/operation.ts'
import type { BodyBounds, CallBody } from '../../core/request/exchange.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { nextTurn } from '../../core/time/real.ts'
import { sentence } from '../../core/words.ts'
import { lineAndColumn, type SyntaxIssue, syntaxIssue } from '../json-text.ts'
import { announcesBody, type BodyRefusal, readBody, tooLarge } from './body.ts'

/** How a body is read. */
interface Reading extends BodyBounds {
  /** Called with the number of bytes received so far; returning false ends the reading. */
  readonly received?: ((bytes: number) => boolean) | undefined
  /** Gets the length and the digest of the body. */
  readonly evidence?: Evidence | undefined
}

/**
 * Reads and parses the body that an operation expects. An invalid body becomes a refusal that the pipeline raises in its own
 * order, after the caller is authenticated. Undefined when the client has left, or `received` has returned false.
 */
export function readCallBody(
  req: IncomingMessage,
  operation: AnyOperation,
  { settings }: Sandbox,
  evidence: Evidence,
  received?: Reading['received'],
): Promise<CallBody | undefined> {
  if (inputOf(operation, settings).body === undefined) return Promise.resolve(NO_BODY)
  const bytes = operation.bodyLimit ?? settings.get(bodyLimit)
  return readJsonBody(req, { bytes, tokens: JSON_BOUNDS.maxTokens, received, evidence })
}

/** Reads and parses a JSON body within bounds. Never rejects. Undefined as in {@link readCallBody}. */
export async function readJsonBody(req: IncomingMessage, bounds: Reading): Promise<CallBody | undefined> {
  if (!announcesBody(req)) return NO_BODY
  const media = isJsonContentType(req.headers['content-type'])
  if (media !== 'json') return refused(mediaRefusal(media, req.headers['content-type']))
  const body = await readBody(req, {
    limit: bounds.bytes,
    received: bounds.received,
    evidence: bounds.evidence,
  })
  if (body.kind === 'aborted') return undefined
  if (body.kind !== 'bytes') return refused(bodyRefusal(body))
  const violation = violationIn(body.bytes, bounds.tokens)
  if (violation !== undefined) return violation
  // A body of many megabytes takes long to parse, so other requests get a turn before and after.
  if (body.bytes.length < LARGE) return parsedBody(body.bytes)
  await nextTurn()
  const parsed = parsedBody(body.bytes)
  await nextTurn()
  return parsed
}

/** From this number of bytes on, parsing takes more than a few milliseconds. */
const LARGE = 500_000

/** Parses bytes as a JSON body within bounds, with the same refusals as for the body of a request. */
export function parseJsonBody(bytes: Buffer, bounds: BodyBounds): CallBody {
  if (bytes.length > bounds.bytes) return refused(bodyRefusal(tooLarge(bounds.bytes)))
  return violationIn(bytes, bounds.tokens) ?? parsedBody(bytes)
}

const NO_BODY: CallBody = { kind: 'none' }

function violationIn(bytes: Buffer, maxTokens: number): CallBody | undefined {
  const bounds = { ...JSON_BOUNDS, maxTokens }
  const violation = guardJson(bytes, bounds)
  if (violation === undefined) return undefined
  const detail = describeViolation(violation, bounds)
  return refused(new Refusal('validation_failed', { detail, assumed: [['U081']] }))
}

function parsedBody(bytes: Buffer): CallBody {
  const result = parseJson(bytes)
  if (!result.ok) return refused(new Refusal('malformed_json', { detail: result.detail }))
  return { kind: 'json', value: result.value, bytes }
}

function bodyRefusal({ kind, detail }: BodyRefusal): Refusal {
  if (kind === 'too_large') return new Refusal('payload_too_large', { detail })
  if (kind === 'unsupported_encoding') return new Refusal('unsupported_media_type', { detail })
  return new Refusal('bad_request', { detail })
}

function mediaRefusal(media: 'missing' | 'other' | 'bad_charset', given: string | undefined): Refusal {
  const detail = {
    missing: 'The body has no Content-Type.',
    other: `The Content-Type "${given}" is not JSON.`,
    bad_charset: `JSON is always UTF-8; the Content-Type "${given}" names another charset.`,
  }[media]
  return new Refusal('unsupported_media_type', { detail })
}

function refused(refusal: Refusal): CallBody {
  return { kind: 'refused', refusal }
}

/** The result of checking the `Content-Type` of a body that should be JSON. */
type JsonContentType = 'json' | 'missing' | 'other' | 'bad_charset'

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+"
const MEDIA_TYPE = new RegExp(`^(${TOKEN})/(${TOKEN})`)
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:(${TOKEN})=(${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?`, 'y')

/**
 * `json` for `application/json` and `application/*+json` in any case, with any parameters; `bad_charset` when a
 * `charset` other than utf-8, or its alias utf8, is among them (RFC 8259 allows no other); `other` also for a malformed header.
 */
export function isJsonContentType(header: string | undefined): JsonContentType {
  if (header === 'application/json') return 'json'
  const text = header?.trim().toLowerCase()
  if (text === undefined || text === '') return 'missing'
  const [whole, type, subtype] = MEDIA_TYPE.exec(text) ?? []
  if (whole === undefined || type !== 'application') return 'other'
  if (subtype !== 'json' && !subtype?.endsWith('+json')) return 'other'
  return charsetsOf(text, whole.length)
}

function charsetsOf(text: string, from: number): JsonContentType {
  let verdict: JsonContentType = 'json'
  let at = from
  while (at < text.length) {
    PARAMETER.lastIndex = at
    const [whole, name, value] = PARAMETER.exec(text) ?? []
    if (whole === undefined) return 'other'
    if (name === 'charset' && !/^"?utf-?8"?$/.test(value ?? '')) verdict = 'bad_charset'
    at += whole.length
  }
  return verdict
}

/** Bounds for the structure of a JSON body. */
export interface JsonBounds {
  /** Containers inside each other, the outermost counted: `[[1]]` is 2. */
  readonly maxDepth: number
  /** Strings, numbers, literals and the six structural characters. Infinity turns the count off. */
  readonly maxTokens: number
}

/** Far above every body of the API, and far below a size that blocks the process or makes a later JSON.stringify fail. */
export const JSON_BOUNDS: JsonBounds = { maxDepth: 512, maxTokens: 1_000_000 }

/** The first token that exceeded a bound, and the byte at which it starts. */
export interface Violation {
  readonly kind: 'too_deep' | 'too_many_tokens'
  readonly offset: number
}

/** A JSON value, or where and why the bytes are not one. */
type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly detail: string }

const SPACE = 0
const SCALAR = 1
const SEPARATOR = 2
const OPEN = 3
const CLOSE = 4
const QUOTE = 5

const CLASS_OF_BYTE = classOfByte()

/**
 * Scans the bytes of a JSON body once, without creating values, and stops at the first violation.
 * It checks structure only: up to the first syntax error it counts the tokens that JSON.parse would read, and JSON.parse
 * stops at that error.
 */
export function guardJson(bytes: Buffer, bounds: JsonBounds = JSON_BOUNDS): Violation | undefined {
  let depth = 0
  let tokens = 0
  let inScalar = false
  for (let at = bomLength(bytes); at < bytes.length; at++) {
    const start = at
    const kind = CLASS_OF_BYTE[bytes[at] ?? 0]
    if (kind === SPACE || (kind === SCALAR && inScalar)) {
      inScalar = kind === SCALAR
      continue
    }
    inScalar = kind === SCALAR
    if (kind === QUOTE) at = closingQuote(bytes, at + 1)
    else if (kind === OPEN && ++depth > bounds.maxDepth) return { kind: 'too_deep', offset: start }
    else if (kind === CLOSE) depth--
    if (++tokens > bounds.maxTokens) return { kind: 'too_many_tokens', offset: start }
  }
  return undefined
}

/** The message for a violation: the bound, the byte and the fix. */
export function describeViolation({ kind, offset }: Violation, bounds: JsonBounds = JSON_BOUNDS): string {
  return kind === 'too_deep'
    ? `The JSON body nests more than ${bounds.maxDepth} levels deep at byte ${offset}. Send a flatter value.`
    : `The JSON body has more than ${bounds.maxTokens} tokens (values, brackets, commas, colons), reached at ` +
        `byte ${offset}. Split it over several requests.`
}

/**
 * Parses UTF-8 JSON text (RFC 8259). A byte order mark is ignored, the last of several equal keys wins, and
 * escaped lone surrogates are kept. The detail of a failure quotes at most one character of the body.
 */
export function parseJson(bytes: Buffer): ParsedJson {
  const body = bytes.subarray(bomLength(bytes))
  if (!isUtf8(body)) {
    const valid = body.toString('utf8', 0, firstInvalidUtf8(body))
    return failure(valid, { offset: valid.length, detail: 'bytes that are not UTF-8' })
  }
  const text = body.toString(isAscii(body) ? 'latin1' : 'utf8')
  try {
    return { ok: true, value: JSON.parse(text) as Json }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // JSON.parse's own message quotes the body and often lacks the place.
    return failure(text, syntaxIssue(text) ?? { offset: 0, detail: 'this is not JSON' })
  }
}

function failure(text: string, { offset, detail }: SyntaxIssue): ParsedJson {
  const { line, column } = lineAndColumn(text, offset)
  return {
    ok: false,
    detail: sentence(`The body is not valid JSON: line ${line}, column ${column}: ${detail}`),
  }
}

/** The index of the quote that ends the string whose first character is at `from`; the length or more if none does. */
function closingQuote(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1
  return at
}

function bomLength(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

/**
 * The index of the first invalid byte: valid bytes stay the same when they are decoded and encoded again. Up to 2 more when it
 * begins like the replacement character.
 */
function firstInvalidUtf8(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  let at = 0
  while (bytes[at] === again[at]) at += 1
  return at
}

function classOfByte(): Uint8Array {
  const classes = new Uint8Array(256).fill(SCALAR)
  for (const byte of Buffer.from(' \t\n\r')) classes[byte] = SPACE
  for (const byte of Buffer.from(',:')) classes[byte] = SEPARATOR
  for (const byte of Buffer.from('[{')) classes[byte] = OPEN
  for (const byte of Buffer.from(']}')) classes[byte] = CLOSE
  classes[0x22] = QUOTE
  return classes
}
