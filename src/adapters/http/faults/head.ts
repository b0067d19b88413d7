import { STATUS_CODES } from 'node:http'
import type { HeadFault } from '../../../core/faults/actions.ts'
import type { HeaderPair } from '../guard.ts'
import { withHeader, withoutHeader } from './draft.ts'

/** The head of a message, with everything that will be in it. */
export interface Head {
  readonly status: number
  readonly reason: string
  readonly version: '1.0' | '1.1'
  readonly headers: readonly HeaderPair[]
  /** Heads of the informational answers before it. */
  readonly interim: readonly Interim[]
}

export interface Interim {
  readonly status: number
  readonly headers: readonly HeaderPair[]
}

/** The head of an answer as it is without faults. */
export function plainHead(status: number, headers: readonly HeaderPair[]): Head {
  return { status, reason: STATUS_CODES[status] ?? '', version: '1.1', headers, interim: [] }
}

/** Changes a head. The letter case is that of our own names alone: what the fault itself names stays as it is given. */
export function withHead(head: Head, fault: HeadFault): Head {
  const {
    status = head.status,
    version = head.version,
    remove = [],
    set = {},
    raw = [],
    interim = [],
  } = fault
  let headers = head.headers.map(([name, value]): HeaderPair => [inCase(name, fault.case), value])
  for (const name of remove) headers = withoutHeader(headers, name)
  for (const [name, value] of Object.entries(set)) headers = withHeader(headers, name, value)
  const added = interim.map((each) => ({ status: each.status, headers: Object.entries(each.headers ?? {}) }))
  return {
    status,
    reason: fault.reason ?? (status === head.status ? head.reason : (STATUS_CODES[status] ?? '')),
    version,
    headers: [...headers, ...raw],
    interim: [...head.interim, ...added],
  }
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

function inCase(name: string, wanted: HeadFault['case']): string {
  if (wanted === undefined) return name
  return wanted === 'lower' ? name.toLowerCase() : name.toUpperCase()
}

function fitsLatin1(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return false
  return true
}
