import { STATUS_CODES } from 'node:http'
import type { ApiResponse } from '../../../core/request/response.ts'
import type { HeaderPair } from '../guard.ts'
import { inPieces } from '../render.ts'

/** A response that faults still work on: whole, and without a header that states its length. */
export interface Draft {
  readonly status: number
  readonly headers: readonly HeaderPair[]
  /** Undefined: it has none, which is not the same as an empty one. */
  readonly body: Buffer | undefined
  /** The body is a sequence of JSON texts, one a line, and goes out without a length. */
  readonly ndjson: boolean
}

/** The draft of a response. The lines of a stream are all made here: faults are about places in the whole of it. */
export async function draftOf(
  { status, headers, text, lines }: ApiResponse,
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

/** Sets a header in the place of the first of the same name, whatever its letter case, or after the others. */
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

/** The head of a message, with everything that will be in it. */
export interface Head {
  readonly status: number
  readonly reason: string
  readonly version: '1.0' | '1.1'
  readonly headers: readonly HeaderPair[]
  /** Heads of the informational responses before it. */
  readonly interim: readonly Interim[]
}

export interface Interim {
  readonly status: number
  readonly headers: readonly HeaderPair[]
}

/** The head of a response as it is without faults. */
export function plainHead(status: number, headers: readonly HeaderPair[]): Head {
  return { status, reason: STATUS_CODES[status] ?? '', version: '1.1', headers, interim: [] }
}

/** A head as bytes. Characters that no header may have are written all the same: in UTF-8, since Latin-1 has no byte for them. */
export function headBytes({ status, reason, version, headers }: Omit<Head, 'interim'>): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const text = `HTTP/${version} ${status} ${reason}\r\n${lines}\r\n`
  return Buffer.from(text, fitsLatin1(text) ? 'latin1' : 'utf8')
}

/** An informational head as bytes. */
export function interimBytes({ status, headers }: Interim): Buffer {
  return headBytes({ status, reason: STATUS_CODES[status] ?? '', version: '1.1', headers })
}

function fitsLatin1(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return false
  return true
}
