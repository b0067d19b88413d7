import { isAscii, isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { bodyLimit } from '../../core/core-assumptions.ts'
import { Refusal } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import { lineAndColumn, type SyntaxIssue, syntaxIssue } from '../../core/json-text.ts'
import type { Evidence } from '../../core/log/evidence.ts'
import { type AnyOperation, inputOf } from '../../core/operation.ts'
import type { BodyBounds, CallBody } from '../../core/request/exchange.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { nextTurn } from '../../core/time/real.ts'
import { sentence } from '../../core/words.ts'
import { announcesBody, type BodyOptions, readBody, refusedBody, tooLarge } from './body.ts'

/**
 * Reads and parses the body that an operation expects. An invalid body becomes a refusal that the pipeline raises in its own
 * order, after the caller is authenticated. Undefined when the client has left, or `received` has returned false.
 */
export function readCallBody(
  req: IncomingMessage,
  operation: AnyOperation,
  { settings }: Sandbox,
  evidence: Evidence,
  received?: BodyOptions['received'],
): Promise<CallBody | undefined> {
  if (inputOf(operation, settings).body === undefined) return Promise.resolve(NO_BODY)
  const bytes = operation.bodyLimit ?? settings.get(bodyLimit)
  if (operation.accept === 'bytes') return readBytes(req, { bytes, received, evidence })
  return readJsonBody(req, { bytes, tokens: JSON_BOUNDS.maxTokens, received, evidence })
}

async function readBytes(req: IncomingMessage, options: BodyOptions): Promise<CallBody | undefined> {
  if (!announcesBody(req)) return NO_BODY
  const body = await readBody(req, options)
  if (body.kind === 'aborted') return undefined
  return body.kind === 'refused' ? body : { kind: 'bytes', value: body.bytes }
}

/** Reads and parses a JSON body within bounds. Never rejects. Undefined as in {@link readCallBody}. */
export async function readJsonBody(
  req: IncomingMessage,
  bounds: BodyOptions & BodyBounds,
): Promise<CallBody | undefined> {
  if (!announcesBody(req)) return NO_BODY
  const problem = contentTypeProblem(req.headers['content-type'])
  if (problem !== undefined) return refusedBody('unsupported_media_type', problem)
  const body = await readBody(req, bounds)
  if (body.kind === 'aborted') return undefined
  if (body.kind === 'refused') return body
  const violation = violationIn(body.bytes, bounds.tokens)
  if (violation !== undefined) return violation
  // A body of many megabytes takes long to parse, so other requests get a turn before and after.
  if (body.bytes.length < LARGE) return parseJson(body.bytes)
  await nextTurn()
  const parsed = parseJson(body.bytes)
  await nextTurn()
  return parsed
}

/** From this number of bytes on, parsing takes more than a few milliseconds. */
const LARGE = 500_000

/** Parses bytes as a JSON body within bounds, with the same refusals as for the body of a request. */
export function parseJsonBody(bytes: Buffer, bounds: BodyBounds): CallBody {
  if (bytes.length > bounds.bytes) return tooLarge(bounds.bytes)
  return violationIn(bytes, bounds.tokens) ?? parseJson(bytes)
}

const NO_BODY: CallBody = { kind: 'none' }

function violationIn(bytes: Buffer, maxTokens: number): CallBody | undefined {
  const { maxDepth, maxMembers } = JSON_BOUNDS
  const violation = guardJson(bytes, { maxDepth, maxTokens, maxMembers })
  if (violation === undefined) return undefined
  const at = `at byte ${violation.offset}`
  const detail = {
    too_deep: `The JSON body nests more than ${maxDepth} levels deep ${at}. Send a flatter value.`,
    too_many_tokens: `The JSON body has more than ${maxTokens} tokens (values, commas, colons, brackets; an opening bracket counts as two), reached ${at}. Split it over several requests.`,
    too_many_members: `An object of the JSON body has more than ${maxMembers} members ${at}. Use an array, or split it.`,
  }[violation.kind]
  return { kind: 'refused', refusal: new Refusal('validation_failed', { detail, assumed: [['U081']] }) }
}

const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+"
const PARAMETER = `[ \\t]*(${TOKEN})=(${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`
const PARAMETERS = new RegExp(`;${PARAMETER}`, 'g')
const JSON_TYPE = new RegExp(`^application/(?:${TOKEN}\\+)?json((?:[ \\t]*;(?:${PARAMETER})?)*)$`)

/**
 * The problem with the `Content-Type` of a body that should be JSON; undefined for `application/json` and `application/*+json` in
 * any case, with any parameters. RFC 8259 allows no `charset` but utf-8, whose alias utf8 is accepted, too.
 */
export function contentTypeProblem(header: string | undefined): string | undefined {
  if (header === 'application/json') return undefined
  const text = header?.trim().toLowerCase() ?? ''
  if (text === '') return 'The body has no Content-Type.'
  const [, parameters] = JSON_TYPE.exec(text) ?? []
  if (parameters === undefined) return `The Content-Type "${header}" is not JSON.`
  const isUtf8 = ([, name, value = '']: RegExpExecArray) => name !== 'charset' || /^"?utf-?8"?$/.test(value)
  return [...parameters.matchAll(PARAMETERS)].every(isUtf8)
    ? undefined
    : `JSON is always UTF-8; the Content-Type "${header}" names another charset.`
}

/**
 * Bounds for the structure of a JSON body: containers inside each other, the outermost counted (`[[1]]` is 2), strings,
 * numbers, literals and the six structural characters, and members of one object. Far above every body of the API, and far below a size that blocks the
 * process or makes a later JSON.stringify fail.
 */
export const JSON_BOUNDS = { maxDepth: 512, maxTokens: 1_000_000, maxMembers: 50_000 }

const SPACE = 0
const SCALAR = 1
const SEPARATOR = 2
const OPEN = 3
const CLOSE = 4
const QUOTE = 5
const COLON = 6

const CLASS_OF_BYTE = classOfByte()

/** The members of the open objects by their depth, during one scan. */
const MEMBERS = new Uint32Array(JSON_BOUNDS.maxDepth + 1)

/**
 * Scans the bytes of a JSON body once, without creating values, and stops at the first token that exceeds a bound.
 * It checks structure only: up to the first syntax error it counts the tokens that JSON.parse would read, and JSON.parse
 * stops at that error.
 */
export function guardJson(bytes: Buffer, { maxDepth, maxTokens, maxMembers } = JSON_BOUNDS) {
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
    else if (kind === OPEN) {
      if (++depth > maxDepth) return { kind: 'too_deep', offset: start } as const
      MEMBERS[depth] = 0
    } else if (kind === CLOSE) depth--
    else if (kind === COLON) {
      const count = (MEMBERS[depth] ?? 0) + 1
      if (count > maxMembers) return { kind: 'too_many_members', offset: start } as const
      MEMBERS[depth] = count
    }
    // An array or object takes more memory than another value, and V8 needs longer to move it.
    tokens += kind === OPEN ? 2 : 1
    if (tokens > maxTokens) return { kind: 'too_many_tokens', offset: start } as const
  }
  return undefined
}

/**
 * Parses UTF-8 JSON text (RFC 8259). A byte order mark is ignored, the last of several equal keys wins, and
 * escaped lone surrogates are kept. The detail of a failure quotes at most one character of the body.
 */
export function parseJson(bytes: Buffer): CallBody {
  const body = bytes.subarray(bomLength(bytes))
  if (!isUtf8(body)) {
    const valid = body.toString('utf8', 0, firstInvalidUtf8(body))
    return failure(valid, { offset: valid.length, detail: 'bytes that are not UTF-8' })
  }
  const text = body.toString(isAscii(body) ? 'latin1' : 'utf8')
  try {
    return { kind: 'json', value: JSON.parse(text) as Json, bytes }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // JSON.parse's own message quotes the body and often lacks the place.
    return failure(text, syntaxIssue(text) ?? { offset: 0, detail: 'this is not JSON' })
  }
}

function failure(text: string, { offset, detail }: SyntaxIssue): CallBody {
  const { line, column } = lineAndColumn(text, offset)
  const what = `The body is not valid JSON: line ${line}, column ${column}: ${detail}`
  return refusedBody('malformed_json', sentence(what))
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
  classes[0x2c] = SEPARATOR
  classes[0x3a] = COLON
  for (const byte of Buffer.from('[{')) classes[byte] = OPEN
  for (const byte of Buffer.from(']}')) classes[byte] = CLOSE
  classes[0x22] = QUOTE
  return classes
}
