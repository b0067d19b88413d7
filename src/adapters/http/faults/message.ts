import { validateHeaderName, validateHeaderValue } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { allOf } from '../../../core/faults/actions.ts'
import type { Answer, Wire } from '../../../core/request/answer.ts'
import { KEEP_ALIVE_TIMEOUT } from '../connections.ts'
import type { HeaderPair } from '../guard.ts'
import { withBody } from './body.ts'
import { type Draft, draftOf } from './draft.ts'
import { type Framing, framingHeaders, framingOf } from './frame.ts'
import { type Head, plainHead, withHead } from './head.ts'
import { withLines } from './lines.ts'

/** An answer as faults have made it, ready to be written. */
export interface Message {
  /** Undefined: `body` is all there is, written as it stands. */
  readonly head: Head | undefined
  /** Empty where none is sent. */
  readonly body: Buffer
  readonly framing: Framing
  /** Whether it has to be written to the socket itself, since a ServerResponse refuses it; the connection ends behind it. */
  readonly raw: boolean
}

/** What a message depends on, besides answer and faults. */
export interface MessageFacts {
  /** False for HEAD. */
  readonly withBody: boolean
  /** The client speaks HTTP/1.0. */
  readonly http10: boolean
  /** Whether the connection is to stay open. */
  readonly keepAlive: boolean
}

/**
 * Carries out everything about what is sent. Bodies and lines change in the order of the actions; then the framing is told
 * of, and then heads change, so that a fault may contradict the framing.
 */
export async function messageOf(
  answer: Answer & { readonly wire: Wire },
  extra: readonly HeaderPair[],
  facts: MessageFacts,
): Promise<Message> {
  const { actions } = answer.wire
  const raw = allOf(actions, 'raw').at(-1)
  if (raw !== undefined) {
    return { head: undefined, body: Buffer.from(raw.base64, 'base64'), framing: UNFRAMED, raw: true }
  }
  let draft = await draftOf(answer, extra)
  const isStream = draft.ndjson
  for (const action of actions) {
    if ('body' in action) draft = await withBody(draft, action.body)
    if ('lines' in action) draft = withLines(draft, action.lines)
  }
  const heads = allOf(actions, 'head')
  const status = heads.reduce((status, head) => head.status ?? status, draft.status)
  const version = heads.reduce((version, head) => head.version ?? version, '1.1')
  const http10 = facts.http10 || version === '1.0'
  const framing = framingOf(allOf(actions, 'frame'), { ...facts, status, stream: isStream, http10 })
  const framed = (keepAlive: boolean): Head => {
    const own = [...draft.headers, ...hopHeaders(framing, draft, keepAlive)]
    return heads.reduce(withHead, plainHead(draft.status, own))
  }
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

// What a ServerResponse does of its own accord, and what it leaves a connection in order behind.
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

/** Headers that a ServerResponse acts on. */
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

function hopHeaders(framing: Framing, { body }: Draft, keepAlive: boolean): HeaderPair[] {
  const own = framingHeaders(framing, body?.length ?? 0)
  if (!keepAlive) return [...own, ['Connection', 'close']]
  return [...own, ['Connection', 'keep-alive'], ['Keep-Alive', `timeout=${KEEP_ALIVE_TIMEOUT / 1_000}`]]
}
