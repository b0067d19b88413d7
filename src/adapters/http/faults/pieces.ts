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
  if (chunks === 'inside-multibyte') return everyOffset(body, isContinuation)
  if (chunks === 'between-cr-lf') return everyOffset(body, isBetweenCrLf)
  if (chunks !== undefined) return chunks.toSorted((a, b) => a - b)
  if (bytes !== undefined) return each(bytes, body.length)
  if (kbps !== undefined) return each((kbps / 8) * Math.max(gap_ms, BEAT), body.length)
  return []
}

function* each(size: number, length: number): Generator<number> {
  const step = Math.max(1, Math.floor(size))
  for (let offset = step; offset < length; offset += step) yield offset
}

function everyOffset(body: Buffer, splitsAt: (body: Buffer, at: number) => boolean): number[] {
  const offsets: number[] = []
  for (let at = 1; at < body.length && offsets.length < MAX_SPLITS; at++) {
    if (splitsAt(body, at)) offsets.push(at)
  }
  return offsets
}

// Splits only after the first byte of a character: the other bytes stay in one piece.
function isContinuation(body: Buffer, at: number): boolean {
  return ((body[at] ?? 0) & 0xc0) === 0x80 && ((body[at - 1] ?? 0) & 0xc0) === 0xc0
}

function isBetweenCrLf(body: Buffer, at: number): boolean {
  return body[at] === 0x0a && body[at - 1] === 0x0d
}
