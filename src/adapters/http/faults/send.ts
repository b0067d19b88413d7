import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Wire } from '../../../core/faults/hooks.ts'
import type { Sent } from '../../../core/log/request-log.ts'
import type { ApiResponse } from '../../../core/request/response.ts'
import { isIdle } from '../connections.ts'
import { checkSentHead } from '../cors.ts'
import type { HeaderPair } from '../guard.ts'
import { headBytes } from './draft.ts'
import { messageOf, type ResponseMessage } from './message.ts'
import { gapAfter, piecesOf } from './pieces.ts'
import { paceOf, stopsOf } from './primitives.ts'
import { stageName } from './stage.ts'
import { endConnection, firstStop, flushed, lost, type ResponseStop, SETTLE, stopExchange } from './stop.ts'
import { ExchangeTimeout, type Waits } from './timeout.ts'
import type { AskedPace } from './wire-primitive.ts'
import { responseWriter, socketWriter, type Writer } from './writers.ts'

/**
 * Sends a response with its faults, and reports how much of it was sent. Resolves when the exchange is over. An exchange that
 * is held open is over when the client leaves, `closing` or one of the `releases` is aborted, or the maximum time of the fault ends.
 */
export async function sendFaulted(
  req: IncomingMessage,
  res: ServerResponse,
  response: ApiResponse,
  wire: Wire,
  extra: readonly HeaderPair[],
  withBody: boolean,
  { closing, later }: Waits,
): Promise<void> {
  const pace = paceOf(wire.actions)
  // The wait before the handler is part of the limit.
  const left = Math.max(0, pace.max_ms - (pace.before_handler_ms ?? 0))
  const timeout = new ExchangeTimeout(req.socket, [...wire.releases, closing], left, later)
  let sent: Sent | undefined
  const report = (each: Sent): void => {
    sent = each
    wire.report(each)
  }
  try {
    const goesOn = await timeout.until(wire.hold?.())
    if (!goesOn) return report({ stage: 'after-handler', bytes: 0, end: lost(timeout) })
    const http10 = req.httpVersion === '1.0'
    const whole = await messageOf(response, wire.actions, extra, {
      withBody,
      http10,
      keepAlive: res.shouldKeepAlive,
    })
    const { head, body } = whole
    if (response.cors !== undefined && head !== undefined) checkSentHead(response.cors, head.headers)
    response.kept?.replace(head?.status ?? response.status, head?.headers ?? [], body)
    const stop = firstStop(stopsOf(wire.actions), body, whole.framing.mode === 'chunked')
    // After a finished ServerResponse, Node would serve the next request or close the connection: write to the socket instead.
    const message = stop?.stage === 'end' ? { ...whole, raw: true } : whole
    await new ResponseSender(res, { message, pace, stop, timeout, closing, report }).run()
  } finally {
    timeout.end()
    // An error while the response waited is thrown to the caller; the log still gets an entry.
    if (sent === undefined) report({ stage: 'after-handler', bytes: 0, end: 'cut' })
  }
}

interface SendPlan {
  readonly message: ResponseMessage
  readonly pace: AskedPace
  readonly stop: ResponseStop | undefined
  readonly timeout: ExchangeTimeout
  /** Ends the waiting for a client that does not close its side. */
  readonly closing: AbortSignal
  /** Called once, with how much of the response was sent. */
  readonly report: (sent: Sent) => void
}

/** Sends one response, stage by stage, until it is complete or stopped. */
class ResponseSender {
  readonly #plan: SendPlan
  readonly #res: ServerResponse
  readonly #socket: Socket
  readonly #writer: Writer
  readonly #start: number
  #stage = 'after-handler'

  constructor(res: ServerResponse, plan: SendPlan) {
    this.#plan = plan
    this.#res = res
    this.#socket = res.req.socket
    const { message } = plan
    this.#writer = message.raw ? socketWriter(this.#socket, message) : responseWriter(res, message)
    this.#start = this.#socket.bytesWritten
  }

  async run(): Promise<void> {
    const { message, pace, timeout } = this.#plan
    if (this.#stopsAt('before')) return this.#stopHere()
    for (const interim of message.head?.interim ?? []) this.#socket.write(headBytes(interim))
    const wait = pace.before_head_ms
    if (wait !== undefined && !(await timeout.sleep(wait))) return this.#report(lost(timeout))
    if (this.#stopsAt('before-head')) return this.#stopHere()
    this.#stage = 'before-head'
    this.#writer.head()
    if (this.#stopsAt('after-head')) {
      this.#writer.flush()
      return this.#stopHere()
    }
    this.#stage = 'after-head'
    if (!(await this.#sendBody())) return this.#report(lost(timeout))
    if (this.#stopsAt('body')) return this.#stopHere()
    this.#writer.end()
    return this.#finish()
  }

  async #sendBody(): Promise<boolean> {
    const { message, pace, stop, timeout } = this.#plan
    const body = this.#stopsAt('body') ? message.body.subarray(0, stop?.offset) : message.body
    if (body.length === 0 && this.#stopsAt('body')) this.#writer.flush()
    let gap = 0
    let sent = 0
    for (const piece of piecesOf(body, pace)) {
      if (gap > 0 && !(await timeout.sleep(gap))) return false
      if (timeout.spent) break
      this.#writer.piece(piece)
      sent += piece.length
      gap = gapAfter(piece, pace)
    }
    if (sent < body.length) this.#writer.piece(body.subarray(sent))
    return true
  }

  async #finish(): Promise<void> {
    const { message, timeout, closing } = this.#plan
    const isOut = await timeout.until(message.raw ? flushed(this.#socket) : ended(this.#res))
    // The socket may be closed already: a response with `Connection: close` closes it.
    if (!isOut && !this.#res.writableFinished) return this.#report(lost(timeout))
    if (this.#stopsAt('end')) return this.#stopHere()
    this.#stage = 'end'
    if (this.#stopsAt('idle') && (await this.#isIdle())) return this.#stopHere()
    if (message.raw) endConnection(this.#socket, 'fin', closing)
    this.#report('whole')
  }

  // A client may send its next request before the connection has become idle: that one has to finish first.
  async #isIdle(): Promise<boolean> {
    do {
      if (!(await this.#plan.timeout.drained(SETTLE))) return false
    } while (!isIdle(this.#socket))
    return true
  }

  #stopHere(): Promise<void> {
    const { stop, timeout, closing } = this.#plan
    if (stop === undefined) return Promise.resolve()
    this.#stage = stageName(stop.stop.at)
    const report = (end: Sent['end']): void => this.#report(end)
    return stopExchange(stop.stop.how, {
      socket: this.#socket,
      timeout,
      closing,
      wrote: this.#bytes > 0,
      report,
    })
  }

  #stopsAt(stage: ResponseStop['stage']): boolean {
    return this.#plan.stop?.stage === stage
  }

  get #bytes(): number {
    return this.#socket.bytesWritten - this.#start
  }

  #report(end: Sent['end']): void {
    this.#plan.report({ stage: this.#stage, bytes: this.#bytes, end })
  }
}

function ended(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (res.writableFinished || res.destroyed) return resolve()
    res.once('finish', resolve)
    res.once('close', resolve)
  })
}
