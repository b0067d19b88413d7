import type { Draft } from './valid.ts'

export interface Sent {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer | undefined
}

/** Creates the request of a draft, addressed to 127.0.0.1. */
export function toSent(draft: Draft, port: number): Sent {
  const query = new URLSearchParams(draft.query).toString()
  const path = `${draft.prefix}${draft.base}${draft.segments.join('/')}`
  const target = `${path.startsWith('/') ? path : `/${path}`}${query === '' ? '' : `?${query}`}${draft.tail}`
  const body = draft.raw ?? (draft.json === undefined ? undefined : Buffer.from(JSON.stringify(draft.json)))
  const has = (name: string) => draft.headers.some(([each]) => each === name)
  const headers: (readonly [string, string])[] = [...draft.headers]
  if (!has('Host')) headers.unshift(['Host', `127.0.0.1:${port}`])
  if (body !== undefined) {
    if (!has('Content-Type')) headers.push(['Content-Type', 'application/json'])
    headers.push(['Content-Length', String(body.length)])
  }
  return { method: draft.method, target, headers, body }
}

export function toBytes({ method, target, headers, body }: Sent): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1')
  return body === undefined ? head : Buffer.concat([head, body])
}

/** A request as text for a report: enough to send it again by hand. */
export function inWords({ method, target, headers, body }: Sent): string {
  const shown = headers.map(([name, value]) => `${name}: ${cut(value, 80)}`).join(' | ')
  return `${method} ${cut(target, 200)} [${shown}] ${body === undefined ? '' : cut(body.toString(), 600)}`
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}... (${text.length})`
}
