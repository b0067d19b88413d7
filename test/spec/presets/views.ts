import type { ClientView } from '../../support/wire-client.ts'

/** The parts of a response that tests of limits compare. */
export function limitView({ status, headers, body }: ClientView) {
  const { error, title } = JSON.parse(body ?? '{}')
  return {
    status,
    retry_after: headers['retry-after'] ?? null,
    remaining: headers['x-ratelimit-remaining'] ?? null,
    error: error ?? title ?? null,
  }
}

/** The outcome of a request, equal for all clients: connection errors have a different name in each client. */
export function outcome({ status, body, error }: ClientView) {
  if (error !== undefined)
    return { status: status ?? null, broke: error === 'timeout' ? 'timeout' : 'broken' }
  return { status: status ?? null, bytes: Buffer.byteLength(body ?? '') > 0 ? 'some' : 'none' }
}

/** Status and machine-readable code of a response, standard or problem. */
export function answered({ status, body, error }: ClientView) {
  if (error !== undefined)
    return { status: status ?? null, broke: error === 'timeout' ? 'timeout' : 'broken' }
  const parsed = parse(body)
  return { status, code: parsed?.error ?? parsed?.title ?? null }
}

/** The text as JSON, or undefined if it is invalid. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape.
export function parse(text: string | undefined): any {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/** The head and the body of a raw response, the body as on the wire. */
export function split(text: string): { readonly head: string; readonly body: string } {
  const at = text.indexOf('\r\n\r\n')
  return at === -1 ? { head: text, body: '' } : { head: text.slice(0, at), body: text.slice(at + 4) }
}

/** The payload and chunks of a chunked body, as far as whole chunks have arrived, and whether the last chunk has. */
export function dechunk(body: string): {
  readonly payload: string
  readonly ended: boolean
  readonly chunks: readonly string[]
} {
  let rest = body
  const chunks: string[] = []
  for (;;) {
    const payload = chunks.join('')
    const line = rest.indexOf('\r\n')
    const size = line === -1 ? Number.NaN : Number.parseInt(rest.slice(0, line), 16)
    if (Number.isNaN(size)) return { payload, ended: false, chunks }
    if (size === 0) return { payload, ended: true, chunks }
    chunks.push(rest.slice(line + 2, line + 2 + size))
    rest = rest.slice(line + 2 + size + 2)
  }
}
