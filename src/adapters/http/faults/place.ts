import type { BodyPlace } from '../../../core/faults/actions.ts'

const LF = 0x0a
const CR = 0x0d

/**
 * The offset of a place in a body, between 0 and its length. A line ends with LF, CR LF or CR; a place behind more lines
 * than there are is the end, and a fraction is rounded down.
 */
export function offsetOf(place: BodyPlace, body: Buffer): number {
  const { bytes, fraction, line, plus_bytes = 0 } = place
  let offset = bytes ?? 0
  if (line !== undefined) offset = endOfLine(line, body)
  else if (fraction !== undefined) offset = Math.floor(fraction * body.length)
  return Math.max(0, Math.min(body.length, offset + plus_bytes))
}

function endOfLine(count: number, body: Buffer): number {
  let lines = 0
  for (let at = 0; at < body.length && lines < count; at++) {
    const ends = body[at] === LF || (body[at] === CR && body[at + 1] !== LF)
    if (ends && ++lines === count) return at + 1
  }
  return count === 0 ? 0 : body.length
}
