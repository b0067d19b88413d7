import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Action } from '../../../core/faults/primitive.ts'
import type { ApiResponse } from '../../../core/request/response.ts'
import { KEEP_ALIVE_TIMEOUT } from '../connections.ts'
import type { HeaderPair } from '../guard.ts'
import { type Draft, draftOf, type Head } from './draft.ts'
import { wireEffects } from './primitives.ts'
import type { AskedFraming } from './wire-primitive.ts'

/** A response after all changes by faults, ready to be written. */
export interface ResponseMessage {
  /** Undefined: only `body` is written, as raw bytes. */
  readonly head: Head | undefined
  /** Empty when no body is sent. */
  readonly body: Buffer
  readonly framing: Framing
  /** Whether it must be written to the socket, because a ServerResponse cannot send it. The connection ends after it. */
  readonly raw: boolean
}

/** The facts, in addition to response and faults, that decide a message. */
export interface MessageFacts {
  /** False for HEAD. */
  readonly withBody: boolean
  /** Whether the request is HTTP/1.0. */
  readonly http10: boolean
  /** Whether the connection should stay open. */
  readonly keepAlive: boolean
}

/** How the end of a body is marked. */
interface Framing {
  /** `none`: there is no body, and no header for its length. */
  readonly mode: 'none' | 'length' | 'chunked' | 'close'
  /** Added to the true length. */
  readonly delta: number
  /** Bytes after the end of the message. */
  readonly tail: Buffer
  /** Whether a body is sent: the response to HEAD only has the headers. */
  readonly withBody: boolean
}

/**
 * Applies all faults that change the sent bytes. Bodies and lines change in the order of the actions. Then the headers of the
 * framing are added. Heads change last, so that a fault can contradict the framing.
 */
export async function messageOf(
  response: ApiResponse,
  actions: readonly Action[],
  extra: readonly HeaderPair[],
  facts: MessageFacts,
): Promise<ResponseMessage> {
  const bytes = wireEffects(actions, 'bytes').at(-1)
  if (bytes !== undefined) return { head: undefined, body: bytes(), framing: UNFRAMED, raw: true }
  let draft = await draftOf(response, extra)
  const isStream = draft.ndjson
  for (const change of wireEffects(actions, 'body')) draft = await change(draft)
  const changed = (headers: readonly HeaderPair[]): Head => {
    const reason = STATUS_CODES[draft.status] ?? ''
    const plain: Head = { status: draft.status, reason, version: '1.1', headers, interim: [] }
    return wireEffects(actions, 'head').reduce((head, change) => change(head), plain)
  }
  const { status, version } = changed(draft.headers)
  const http10 = facts.http10 || version === '1.0'
  const asked = wireEffects(actions, 'framing').reduce<AskedFraming>((asked, change) => change(asked), {})
  // A stream is sent without a length. HTTP/1.0 has no chunks: a stream then ends with its connection.
  const streamed = http10 ? 'close' : 'chunked'
  const framing = framingOf(asked, status, facts.withBody, isStream ? streamed : 'length')
  const framed = (keepAlive: boolean): Head =>
    changed([...draft.headers, ...hopHeaders(framing, draft, keepAlive)])
  const body = (framing.withBody && draft.body) || NOTHING
  const head = framed(facts.keepAlive)
  const isGentle =
    !facts.http10 &&
    isPlain(framing, status) &&
    isWritable(head) &&
    isDeepStrictEqual(hopsIn(head.headers), hopsIn(hopHeaders(framing, draft, facts.keepAlive)))
  if (isGentle) return { head, body, framing, raw: false }
  return { head: framed(false), body, framing, raw: true }
}

// 204 and 304 have a body only if a fault sets `mode`, so that none is sent by accident.
function framingOf(
  { mode: wanted, length_delta = 0, tail_b64 = '' }: AskedFraming,
  status: number,
  withBody: boolean,
  usual: 'length' | 'chunked' | 'close',
): Framing {
  const tail = Buffer.from(tail_b64, 'base64')
  const isBodiless = (status === 204 || status === 304) && wanted === undefined
  if (isBodiless) return { mode: 'none', delta: 0, tail, withBody: false }
  const mode = wanted ?? (length_delta === 0 ? usual : 'length')
  return { mode, delta: mode === 'length' ? length_delta : 0, tail, withBody }
}

// Whether a ServerResponse can send this framing and then keep the connection usable.
function isPlain({ mode, delta, tail }: Framing, status: number): boolean {
  const isBodiless = status === 204 || status === 304
  const isFramed = isBodiless ? mode === 'none' : mode === 'length' || mode === 'chunked'
  return isFramed && delta === 0 && tail.length === 0 && status >= 200 && status <= 999
}

function isWritable({ version, reason, headers }: Head): boolean {
  if (version !== '1.1') return false
  try {
    validateHeaderValue('reason', reason)
    for (const [name, value] of headers) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
    return true
  } catch {
    return false
  }
}

/** Headers that change what a ServerResponse does. */
const HOPS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
])

function hopsIn(headers: readonly HeaderPair[]): HeaderPair[] {
  return headers.flatMap(([name, value]) =>
    HOPS.has(name.toLowerCase()) ? [[name.toLowerCase(), value]] : [],
  )
}

const NOTHING = Buffer.alloc(0)
const UNFRAMED: Framing = { mode: 'close', delta: 0, tail: NOTHING, withBody: true }

// A negative length is written unchanged.
function hopHeaders({ mode, delta }: Framing, { body }: Draft, keepAlive: boolean): HeaderPair[] {
  const headers: HeaderPair[] = []
  if (mode === 'length') headers.push(['Content-Length', String((body?.length ?? 0) + delta)])
  if (mode === 'chunked') headers.push(['Transfer-Encoding', 'chunked'])
  headers.push(['Connection', keepAlive ? 'keep-alive' : 'close'])
  if (keepAlive) headers.push(['Keep-Alive', `timeout=${Math.floor(KEEP_ALIVE_TIMEOUT / 1_000)}`])
  return headers
}
