import { STATUS_CODES } from 'node:http'
import type { ApiResponse } from '../../../core/request/response.ts'
import { Turn } from '../../../core/time/turn.ts'
import type { HeaderPair } from '../guard.ts'

/** A response that faults can still change: complete, but without a header for its length. */
export interface Draft {
  readonly status: number
  readonly headers: readonly HeaderPair[]
  /** Undefined for a response without a body, which differs from an empty body. */
  readonly body: Buffer | undefined
  /** Whether the body is a sequence of JSON texts, one per line, that is sent without a length. */
  readonly ndjson: boolean
}

/** Creates the draft of a response. Reads all lines of a stream first, because faults act at places in the whole body. */
export async function draftOf(
  { status, headers, text, lines, bytes, stream }: ApiResponse,
  extra: readonly HeaderPair[],
): Promise<Draft> {
  const whole = lines === undefined ? text : await joined(lines)
  const inParts = stream && Buffer.concat(stream.parts.map((part) => part.bytes))
  const body = inParts ?? bytes ?? (whole === undefined ? undefined : Buffer.from(whole))
  return {
    status,
    headers: [...headers, ...extra],
    body,
    ndjson: lines !== undefined || stream !== undefined,
  }
}

async function joined(lines: Iterable<string>): Promise<string> {
  const turn = new Turn()
  let whole = ''
  for (const line of lines) {
    whole += line
    if (turn.isOver) await turn.next()
  }
  return whole
}

/** Sets a header: at the place of the first one with the same name (case-insensitive), otherwise at the end. */
export function withHeader(headers: readonly HeaderPair[], name: string, value: string): HeaderPair[] {
  const at = headers.findIndex(([other]) => sameName(other, name))
  const rest = withoutHeader(headers, name)
  rest.splice(at === -1 ? rest.length : at, 0, [name, value])
  return rest
}

/** Removes every header with this name (case-insensitive). */
export function withoutHeader(headers: readonly HeaderPair[], name: string): HeaderPair[] {
  return headers.filter(([other]) => !sameName(other, name))
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/** The status line and the headers of a message. */
export interface Head {
  readonly status: number
  readonly reason: string
  readonly version: '1.0' | '1.1'
  readonly headers: readonly HeaderPair[]
  /** Heads of the informational responses before it. */
  readonly interim: readonly Pick<Head, 'status' | 'headers'>[]
}

/** Encodes a head: in Latin-1, or in UTF-8 if it has other characters. No header may contain those, but faults can set them. */
export function headBytes({
  status,
  reason = STATUS_CODES[status] ?? '',
  version = '1.1',
  headers,
}: Head['interim'][number] & Partial<Head>): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const text = `HTTP/${version} ${status} ${reason}\r\n${lines}\r\n`
  return Buffer.from(text, /[\u0100-\uffff]/.test(text) ? 'utf8' : 'latin1')
}
