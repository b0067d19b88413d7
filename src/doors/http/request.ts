import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../kernel/errors.ts'
import { bodyLimit } from '../../kernel/open-items.ts'
import type { AnyOperation } from '../../kernel/operation.ts'
import type { CallBody } from '../../kernel/request/exchange.ts'
import type { World } from '../../kernel/worlds/world.ts'
import { type BodyRefusal, readBody, tooLarge } from './body.ts'
import { announcesBody } from './discard.ts'
import {
  describeViolation,
  guardJson,
  isDeeperThan,
  JSON_BOUNDS,
  type JsonBounds,
  parseJson,
  type Violation,
} from './json-guard.ts'
import { LARGE_BODY_BYTES } from './large-body-gate.ts'
import { isJsonContentType } from './media-type.ts'
import { reclaimSoon } from './reclaim.ts'

/** Bodies up to this many bytes are read before anybody asks who sends them: it costs less than asking twice. */
const FREE_READING = 1_048_576

/** Up to so many bytes, JSON.parse itself is no danger, however they nest. */
const LARGEST_UNGUARDED = 1_048_576

/** A request target in its two parts, still percent-encoded. */
export interface Target {
  readonly path: string
  readonly query: string
}

/** Splits a request target into its path and its query. Undefined for anything but an absolute path (`*`, `http://...`). */
export function splitTarget(target: string): Target | undefined {
  if (!target.startsWith('/')) return undefined
  const mark = target.indexOf('?')
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/** The parameters of a query. A repeated one has all its values, so that nobody takes one of them by accident. */
export function parseQuery(query: string): Readonly<Record<string, string | readonly string[]>> {
  if (query === '') return NO_QUERY
  const parameters: Record<string, string | string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) {
    const earlier = parameters[name]
    if (earlier === undefined) parameters[name] = value
    else if (typeof earlier === 'string') parameters[name] = [earlier, value]
    else earlier.push(value)
  }
  return parameters
}

const NO_QUERY = Object.freeze(Object.create(null)) as Readonly<Record<string, string>>

/**
 * Reads and parses the body that an operation expects. Whatever is wrong with it becomes a refusal that the pipeline
 * raises in its own order, after the caller is known. Undefined when the client went away.
 * @param authorization the header without what chooses a sandbox
 * @param received told how many bytes have come so far; false ends the reading, and nothing comes of it
 */
export async function readCallBody(
  req: IncomingMessage,
  operation: AnyOperation,
  world: World,
  authorization: string | undefined,
  received?: (bytes: number) => boolean,
): Promise<CallBody | undefined> {
  if (world.inputOf(operation).body === undefined) return NO_BODY
  if (mayBeLarge(req) && !world.authenticator.recognises(authorization, world.settings)) return NO_BODY
  const bytes = operation.bodyLimit ?? world.settings.get(bodyLimit)
  return readJson(req, { bytes, tokens: JSON_BOUNDS.maxTokens, received })
}

/** Reads and parses a JSON body within bounds: bytes after decoding, and tokens. Never rejects. */
export async function readJson(
  req: IncomingMessage,
  bounds: {
    readonly bytes: number
    readonly tokens: number
    readonly received?: ((bytes: number) => boolean) | undefined
  },
): Promise<CallBody | undefined> {
  if (!announcesBody(req)) return NO_BODY
  const media = isJsonContentType(req.headers['content-type'])
  if (media !== 'json') return refused(mediaRefusal(media, req.headers['content-type']))
  const body = await readBody(req, { limit: bounds.bytes, received: bounds.received })
  if (body.kind === 'aborted') return undefined
  if (body.kind !== 'bytes') return refused(bodyRefusal(body))
  try {
    return parsed(body.bytes, { ...JSON_BOUNDS, maxTokens: bounds.tokens })
  } finally {
    body.release()
    if (body.bytes.length > LARGE_BODY_BYTES) reclaimSoon()
  }
}

/** Parses the bytes of a JSON body within bounds, as if a request had brought them. */
export function parseBody(
  bytes: Buffer,
  bounds: { readonly bytes: number; readonly tokens: number },
): CallBody {
  if (bytes.length > bounds.bytes) return refused(bodyRefusal(tooLarge(bounds.bytes)))
  return parsed(bytes, { ...JSON_BOUNDS, maxTokens: bounds.tokens })
}

const NO_BODY: CallBody = { kind: 'none' }

function mayBeLarge(req: IncomingMessage): boolean {
  const length = req.headers['content-length']
  return length === undefined || Number(length) > FREE_READING
}

// A text with fewer bytes than there may be tokens is parsed first and looked at then: that costs a quarter of the guard.
function parsed(bytes: Buffer, bounds: JsonBounds): CallBody {
  const isSmall = bytes.length <= Math.min(bounds.maxTokens, LARGEST_UNGUARDED)
  if (!isSmall) {
    const violation = guardJson(bytes, bounds)
    if (violation !== undefined) return refused(violated(violation, bounds))
  }
  const result = parseJson(bytes)
  if (!result.ok) return refused(new Refusal('malformed_json', { detail: result.detail }))
  if (isSmall && isDeeperThan(result.value, bounds.maxDepth)) {
    return refused(violated({ kind: 'too_deep', offset: guardJson(bytes, bounds)?.offset ?? 0 }, bounds))
  }
  return { kind: 'json', value: result.value, bytes }
}

function violated(violation: Violation, bounds: JsonBounds): Refusal {
  return new Refusal('validation_failed', { detail: describeViolation(violation, bounds) })
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
