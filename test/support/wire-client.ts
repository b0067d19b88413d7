import { Agent, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type Cancel, later } from '../../src/adapters/realtime.ts'

/** What a raw socket saw of one connection. */
export interface WireView {
  /** Everything that arrived, as latin1 so that every byte is one character. */
  readonly text: string
  /** The pieces in which it arrived. */
  readonly pieces: readonly Buffer[]
  /** How it ended; `open` when nothing had ended it within the time. */
  readonly end: 'fin' | 'rst' | 'open'
}

export interface RawRequest {
  readonly method?: string
  /** Below the origin: `/v1/pages`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Bytes of a request as a client would send it; the headers have to name the Host. `Connection: close` unless they say otherwise. */
export function requestBytes({ method = 'GET', path, headers = {}, body }: RawRequest): string {
  const all: Record<string, string> = { Connection: 'close', ...headers }
  if (body !== undefined) {
    all['Content-Type'] ??= 'application/json'
    all['Content-Length'] = String(Buffer.byteLength(body))
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/** Real milliseconds that nothing but a connection that hangs takes. */
const PATIENCE = 60_000

/** How often it is looked whether enough has come, in real milliseconds, and how often that has to be so. */
const LOOK = 5
const LOOKS = 3

/** Calls back when something holds, and what is on its way in this process has arrived. @returns stops looking */
function whenHolds(holds: () => boolean, call: () => void): Cancel {
  let count = 0
  let cancel: Cancel = () => {}
  const look = (): void => {
    count = holds() ? count + 1 : 0
    if (count === LOOKS) call()
    else cancel = later(LOOK, look)
  }
  look()
  return () => cancel()
}

/**
 * Sends bytes over a connection of its own and collects what comes, until it ends or enough has come. Where nothing more is
 * to come, say by which event of the server that is known, not how many milliseconds it takes.
 */
export function overSocket(
  port: number,
  bytes: string | readonly string[],
  isEnough?: (text: string) => boolean,
): Promise<WireView> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let end: WireView['end'] = 'open'
    const done = (how: WireView['end']): void => {
      end = how
      cancel()
      socket.destroy()
      resolve({ text: Buffer.concat(pieces).toString('latin1'), pieces, end })
    }
    const cancel =
      isEnough === undefined
        ? later(PATIENCE, () => done('open'))
        : whenHolds(
            () => isEnough(Buffer.concat(pieces).toString('latin1')),
            () => done('open'),
          )
    socket.on('data', (piece) => pieces.push(piece))
    socket.on('end', () => done('fin'))
    socket.on('error', () => end === 'open' && done('rst'))
    for (const each of typeof bytes === 'string' ? [bytes] : bytes) socket.write(each)
  })
}

/** What a client made of an exchange: the response, or the code of its error. */
export interface ClientView {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Such as `ECONNRESET`; undefined when the whole response came. */
  readonly error: string | undefined
}

export interface ClientCall {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The client gives up when this holds, with the error `timeout`. */
  readonly givesUp?: () => boolean
}

/** A client of the tests: `fetch` or `node:http`, with the same view of what came. */
export type Client = (url: string, call?: ClientCall) => Promise<ClientView>

export const viaFetch: Client = async (
  url,
  { method = 'GET', headers = {}, body, givesUp = () => false } = {},
) => {
  const patience = new AbortController()
  const timeout = new DOMException('The client has given up.', 'TimeoutError')
  const cancel = whenHolds(givesUp, () => patience.abort(timeout))
  let status: number | undefined
  let seen: Record<string, string> = {}
  try {
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      signal: patience.signal,
      ...(body === undefined ? {} : { body }),
    })
    status = response.status
    seen = Object.fromEntries(response.headers)
    return { status, headers: seen, body: await response.text(), error: undefined }
  } catch (error) {
    return { status, headers: seen, body: undefined, error: codeOf(error) }
  } finally {
    cancel()
  }
}

/** `agent`: connections to be used again; default: one of its own for each request. */
export function viaHttp(agent: Agent = new Agent({ keepAlive: false })): Client {
  return (url, { method = 'GET', headers = {}, body, givesUp = () => false } = {}) =>
    new Promise((resolve) => {
      let status: number | undefined
      let seen: Record<string, string> = {}
      const give = (view: Pick<ClientView, 'body' | 'error'>): void => {
        cancel()
        resolve({ status, headers: seen, ...view })
      }
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const req = httpRequest(url, { method, agent, headers: { ...type, ...length, ...headers } })
      const cancel = whenHolds(givesUp, () => {
        give({ body: undefined, error: 'timeout' })
        req.destroy()
      })
      req.on('error', (error) => give({ body: undefined, error: codeOf(error) }))
      req.on('response', (res) => {
        status = res.statusCode
        seen = Object.fromEntries(Object.entries(res.headers).map(([name, value]) => [name, String(value)]))
        const pieces: Buffer[] = []
        res.on('data', (piece: Buffer) => pieces.push(piece))
        res.on('end', () => give({ body: Buffer.concat(pieces).toString(), error: undefined }))
        res.on('error', (error) => give({ body: undefined, error: codeOf(error) }))
      })
      req.end(body)
    })
}

// fetch hides the reason of a failure in a chain of causes.
function codeOf(error: unknown): string {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each.name === 'TimeoutError') return 'timeout'
    const { code } = each as NodeJS.ErrnoException
    if (code !== undefined) return String(code)
  }
  return error instanceof Error ? error.message : String(error)
}

/** The header that authenticates a request of the base sandbox. */
export function bearer(token: string): { readonly Authorization: string } {
  return { Authorization: `Bearer ${token}` }
}
