import { Agent, request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type Cancel, later } from '../../src/core/time/realtime.ts'

/** The data that a raw socket received on one connection. */
export interface WireView {
  /** All received bytes as latin1, so that every byte is one character. */
  readonly text: string
  /** The received chunks. */
  readonly pieces: readonly Buffer[]
  /** How the connection ended; `open` if it was still open at the timeout. */
  readonly end: 'fin' | 'rst' | 'open'
}

export interface RawRequest {
  readonly method?: string
  /** Path without the origin, such as `/v1/pages`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The bytes of a request. The headers must contain Host; Connection is `close` unless they contain another. */
export function requestBytes({ method = 'GET', path, headers = {}, body }: RawRequest): string {
  const all: Record<string, string> = { Connection: 'close', ...headers }
  if (body !== undefined) {
    all['Content-Type'] ??= 'application/json'
    all['Content-Length'] = String(Buffer.byteLength(body))
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

/** Timeout in real milliseconds; only a connection that hangs reaches it. */
const PATIENCE = 60_000

/** Interval between two checks in real milliseconds, and how often in a row a check has to hold. */
const LOOK = 5
const LOOKS = 3

/** Calls back when a condition has held for some checks, so that data in flight has arrived. @returns a function that cancels */
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
 * Sends bytes over a new connection and collects the response until it ends or `isEnough` holds. If no more data is expected,
 * let `isEnough` depend on an event of the server, not on a number of milliseconds.
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

/** The result of an exchange for a client: the response, or the code of its error. */
export interface ClientView {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Such as `ECONNRESET`; undefined if the whole response arrived. */
  readonly error: string | undefined
}

export interface ClientCall {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** When this returns true, the client aborts with the error `timeout`. */
  readonly givesUp?: () => boolean
}

/** A client of the tests: `fetch` or `node:http`, with the same result type. */
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

/** `agent`: default is a new connection for each request. */
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

// fetch wraps the reason of a failure in a chain of causes.
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
