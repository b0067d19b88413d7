import type { AskedFraming } from './wire-primitive.ts'

/** How the end of a body is marked. */
export interface Framing {
  /** `none`: there is no body, and no header for its length. */
  readonly mode: 'none' | 'length' | 'chunked' | 'close'
  /** Added to the true length. */
  readonly delta: number
  /** Bytes after the end of the message. */
  readonly tail: Buffer
  /** Whether a body is sent: the response to HEAD only has the headers. */
  readonly withBody: boolean
}

/** The facts, in addition to faults, that decide the framing of a response. */
export interface FramingFacts {
  readonly status: number
  /** Whether the body is a stream, which is sent without a length. */
  readonly stream: boolean
  /** False for HEAD. */
  readonly withBody: boolean
  /** HTTP/1.0 has no chunks: a stream then ends with its connection. */
  readonly http10: boolean
}

/** Chooses the framing of a response. 204 and 304 have a body only if a fault sets `mode`, so that none is sent by accident. */
export function framingOf(asked: AskedFraming, facts: FramingFacts): Framing {
  const { mode: wanted, length_delta = 0, tail_b64 = '' } = asked
  const tail = Buffer.from(tail_b64, 'base64')
  const isBodiless = (facts.status === 204 || facts.status === 304) && wanted === undefined
  if (isBodiless) return { mode: 'none', delta: 0, tail, withBody: false }
  const mode = wanted ?? (length_delta !== 0 || !facts.stream ? 'length' : facts.http10 ? 'close' : 'chunked')
  return { mode, delta: mode === 'length' ? length_delta : 0, tail, withBody: facts.withBody }
}
