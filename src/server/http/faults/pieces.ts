import type { AskedPace } from './wire-primitive.ts'

/** Minimum milliseconds between two pieces: with less, a client receives them joined. */
export const MIN_GAP = 5

/** Milliseconds between pieces when only a rate is given. */
const BEAT = 20

/** Maximum splits inside of characters or line ends of one body: enough to test a decoder. */
const MAX_SPLITS = 100

/** Yields the pieces in which a body is sent: one, unless a fault splits it. No piece is empty. */
export function* piecesOf(body: Buffer, pace: AskedPace): Generator<Buffer> {
  let start = 0
  for (const offset of splits(body, pace)) {
    if (offset <= start || offset >= body.length) continue
    yield body.subarray(start, offset)
    start = offset
  }
  if (start < body.length) yield body.subarray(start)
}

/** Milliseconds between a piece and the next. */
export function gapAfter(piece: Buffer, { gap_ms = MIN_GAP, kbps }: AskedPace): number {
  const atRate = kbps === undefined ? 0 : (piece.length * 8) / kbps
  return Math.max(MIN_GAP, gap_ms, atRate)
}

/** Where a body is split, in ascending order. */
function splits(body: Buffer, { chunks, bytes, kbps, gap_ms = BEAT }: AskedPace): Iterable<number> {
  if (typeof chunks === 'string') return offsetsAfter(BEFORE_SPLIT[chunks], body)
  if (chunks !== undefined) return chunks
  if (bytes !== undefined) return each(bytes, body.length)
  if (kbps !== undefined) return each((kbps / 8) * Math.max(gap_ms, BEAT), body.length)
  return []
}

function* each(size: number, length: number): Generator<number> {
  const step = Math.max(1, Math.floor(size))
  for (let offset = step; offset < length; offset += step) yield offset
}

/** The byte after which a body is split. In a character of several bytes that is the first: the others stay in one piece. */
const BEFORE_SPLIT = {
  'inside-multibyte': /[\xc0-\xff](?=[\x80-\xbf])/g,
  'between-cr-lf': /\r(?=\n)/g,
}

// Latin-1 has one character per byte.
function offsetsAfter(byte: RegExp, body: Buffer): number[] {
  const found = [...body.toString('latin1').matchAll(byte)]
  return found.slice(0, MAX_SPLITS).map(({ index }) => index + 1)
}
