import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { Api } from '../../../src/server/http/api.ts'
import { allowHosts } from '../../../src/server/http/guard.ts'
import type { RawResponse } from './connection.ts'
import type { Sent } from './request-wire.ts'

/** Headers of which Node keeps only the first. */
const SINGLE = new Set(['authorization', 'content-type', 'content-length', 'host', 'origin', 'if-none-match'])

/** The part of an IncomingMessage that the API uses, without a socket. */
class Request extends Readable {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingHttpHeaders
  readonly headersDistinct: Record<string, string[]>
  readonly httpVersion = '1.1'
  // Not connected.
  readonly socket = new Socket()

  constructor({ method, target, headers }: Sent) {
    super()
    this.method = method
    this.url = target
    this.rawHeaders = headers.flat()
    const joined: Record<string, string> = Object.create(null)
    const distinct: Record<string, string[]> = Object.create(null)
    for (const [name, value] of headers) {
      const key = name.toLowerCase()
      const earlier = joined[key]
      if (earlier === undefined) joined[key] = value
      else if (!SINGLE.has(key)) joined[key] = `${earlier}${key === 'cookie' ? ';' : ','} ${value}`
      distinct[key] = [...(distinct[key] ?? []), value]
    }
    this.headers = joined
    this.headersDistinct = distinct
  }

  // Nothing to do: data is pushed when it arrives.
  override _read(): void {}
}

/** The part of a ServerResponse that the API uses. */
class Response {
  readonly destroyed = false
  readonly #isHead: boolean
  readonly #headers = new Map<string, string>()
  readonly #done: (response: RawResponse | 'closed') => void
  #status = 0
  #text = ''

  constructor(isHead: boolean, done: (response: RawResponse | 'closed') => void) {
    this.#isHead = isHead
    this.#done = done
  }

  writeHead(status: number, flat: readonly string[]): this {
    this.#status = status
    for (let at = 0; at < flat.length; at += 2) {
      const name = (flat[at] ?? '').toLowerCase()
      const earlier = this.#headers.get(name)
      this.#headers.set(name, earlier === undefined ? (flat[at + 1] ?? '') : `${earlier}, ${flat[at + 1]}`)
    }
    return this
  }

  write(piece: string): boolean {
    this.#text += piece
    return true
  }

  end(text = ''): this {
    const whole = this.#isHead ? '' : this.#text + text
    this.#done({ status: this.#status, headers: this.#headers, text: whole })
    return this
  }

  destroy(): this {
    this.#done('closed')
    return this
  }

  on(): this {
    return this
  }

  once(): this {
    return this
  }

  off(): this {
    return this
  }
}

/** A request whose head has arrived, but not yet its body. */
export interface Arriving {
  /** Adds the next chunk of the body; null ends it. */
  readonly feed: (piece: Buffer | null) => void
  readonly response: Promise<RawResponse | 'closed'>
}

/** Passes the head of a request to the API; `feed` of the result adds the body. */
export function beginInProcess(api: Api, sent: Sent): Arriving {
  const request = new Request(sent)
  const reply = new Promise<RawResponse | 'closed'>((resolve) => {
    const response = new Response(sent.method === 'HEAD', resolve)
    void api.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  return { feed: (piece) => void request.push(piece), response: reply }
}

/** Sends a request to the API without a socket: this skips only Node's parser and the bytes on the wire. */
export function respondInProcess(api: Api, sent: Sent): Promise<RawResponse | 'closed'> {
  const { feed, response } = beginInProcess(api, sent)
  if (sent.body !== undefined && sent.body.length > 0) feed(sent.body)
  feed(null)
  return response
}

/** The API of a running emulator on the same sandboxes, without its server. */
export function apiInProcess({ port, sandboxes }: Pick<RunningEmulator, 'port' | 'sandboxes'>): Api {
  const hosts = allowHosts('127.0.0.1')
  return new Api({
    service: workspaceService,
    sandboxes,
    hosts: () => hosts(port),
    corsOrigins: [],
    onUnreadParameter: () => {},
    closing: new AbortController().signal,
  })
}
