import type { PaceFault } from '../../../core/faults/actions.ts'

/** Least milliseconds between two pieces: what is written sooner reaches a client joined to what is before it. */
const MIN_GAP = 5

const DEFAULT_MAX = 60_000
/** The longest that any fault may hold up an exchange. Milliseconds. */
export const MAX_MAX = 600_000

/** So much is sent at a time where only a rate is named. Milliseconds. */
const BEAT = 20

/** Bodies have as many characters of several bytes as they like; this many splits are enough to meet a decoder. */
const MAX_SPLITS = 100

/** All pace faults of an answer as one; of two that say the same, the later counts. */
export function paceOf(faults: readonly PaceFault[]): PaceFault {
  return Object.assign({}, ...faults)
}

/** The longest that a pace fault may take, in milliseconds. */
export function longest({ max_ms = DEFAULT_MAX }: PaceFault): number {
  return Math.min(max_ms, MAX_MAX)
}

/** The pieces in which a body is sent, made as they are asked for; one for all of it unless a fault splits it. None is empty. */
export function* piecesOf(body: Buffer, pace: PaceFault): Generator<Buffer> {
  let start = 0
  for (const offset of splits(body, pace)) {
    if (offset <= start || offset >= body.length) continue
    yield body.subarray(start, offset)
    start = offset
  }
  if (start < body.length) yield body.subarray(start)
}

/** Milliseconds between a piece and the next. */
export function gapBehind(piece: Buffer, { gap_ms = MIN_GAP, kbps }: PaceFault): number {
  const atRate = kbps === undefined ? 0 : (piece.length * 8) / kbps
  return Math.max(MIN_GAP, gap_ms, atRate)
}

/** Where a body is split, in ascending order. */
function splits(body: Buffer, { chunks, bytes, kbps, gap_ms = BEAT }: PaceFault): Iterable<number> {
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

// Behind the first byte of a character alone: the rest of it comes in one piece.
function isContinuation(body: Buffer, at: number): boolean {
  return ((body[at] ?? 0) & 0xc0) === 0x80 && ((body[at - 1] ?? 0) & 0xc0) === 0xc0
}

function isBetweenCrLf(body: Buffer, at: number): boolean {
  return body[at] === 0x0a && body[at - 1] === 0x0d
}
