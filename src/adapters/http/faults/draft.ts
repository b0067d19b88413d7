import type { Answer } from '../../../core/request/answer.ts'
import type { HeaderPair } from '../guard.ts'
import { inPieces } from '../render.ts'

/** An answer that faults still work on: whole, and without anything that tells how long it is. */
export interface Draft {
  readonly status: number
  readonly headers: readonly HeaderPair[]
  /** Undefined: it has none, which is not the same as an empty one. */
  readonly body: Buffer | undefined
  /** The body is a sequence of JSON texts, one a line, and goes out without a length. */
  readonly ndjson: boolean
}

/** The draft of an answer. The lines of a stream are all made here: faults are about places in the whole of it. */
export async function draftOf(
  { status, headers, text, lines }: Answer,
  extra: readonly HeaderPair[],
): Promise<Draft> {
  const all = [...headers, ...extra]
  if (lines !== undefined) {
    const pieces: Buffer[] = []
    for await (const piece of inPieces(lines)) pieces.push(Buffer.from(piece))
    return { status, headers: all, body: Buffer.concat(pieces), ndjson: true }
  }
  return { status, headers: all, body: text === undefined ? undefined : Buffer.from(text), ndjson: false }
}

/** Sets a header in the place of the first of the same name, whatever its letter case, or behind the others. */
export function withHeader(headers: readonly HeaderPair[], name: string, value: string): HeaderPair[] {
  const at = headers.findIndex(([other]) => sameName(other, name))
  const rest = withoutHeader(headers, name)
  rest.splice(at === -1 ? rest.length : at, 0, [name, value])
  return rest
}

/** Leaves out every header of a name, whatever its letter case. */
export function withoutHeader(headers: readonly HeaderPair[], name: string): HeaderPair[] {
  return headers.filter(([other]) => !sameName(other, name))
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
