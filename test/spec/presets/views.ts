import type { ClientView } from '../../support/wire-client.ts'

/** What a client sees, the same for all clients: `200`, `404 not_found`, `broken` or `200, then timeout`. */
export function seen({ status, body, error }: ClientView): string {
  if (error !== undefined) {
    const broke = error === 'timeout' ? 'timeout' : 'broken'
    return status === undefined ? broke : `${status}, then ${broke}`
  }
  const { error: code, title } = parse(body) ?? {}
  return [status, code ?? title].join(' ').trim()
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

/** The whole chunks of a chunked body, and whether the last chunk has arrived. */
export function dechunk(body: string): { readonly ended: boolean; readonly chunks: readonly Buffer[] } {
  const chunks: Buffer[] = []
  for (let rest = body; ; ) {
    const line = rest.indexOf('\r\n')
    const size = line === -1 ? Number.NaN : Number.parseInt(rest.slice(0, line), 16)
    if (Number.isNaN(size) || size === 0) return { ended: size === 0, chunks }
    chunks.push(Buffer.from(rest.slice(line + 2, line + 2 + size), 'latin1'))
    rest = rest.slice(line + 2 + size + 2)
  }
}
