import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { PaceFault } from '../../../core/faults/actions.ts'
import type { Sent } from '../../../core/faults/decision.ts'
import { isIdle } from '../connections.ts'
import { cut, flushed, SETTLE } from './cut.ts'
import { halt, lost } from './halt.ts'
import { interimBytes } from './head.ts'
import type { Message } from './message.ts'
import { gapBehind, piecesOf } from './pace.ts'
import { type Pen, ResponsePen, SocketPen } from './pens.ts'
import { type AnswerStop, stageName } from './stop.ts'
import type { Vigil } from './vigil.ts'

export interface DeliveryPlan {
  readonly message: Message
  readonly pace: PaceFault
  readonly stop: AnswerStop | undefined
  readonly vigil: Vigil
  /** Ends the waiting for a client that does not close its side. */
  readonly closing: AbortSignal
  /** Told once how far the answer came. */
  readonly report: (sent: Sent) => void
}

/** One answer on its way to the client, stage by stage, until it is out or stopped. */
export class Delivery {
  readonly #plan: DeliveryPlan
  readonly #res: ServerResponse
  readonly #socket: Socket
  readonly #pen: Pen
  readonly #start: number
  #stage = 'after-handler'

  constructor(res: ServerResponse, plan: DeliveryPlan) {
    this.#plan = plan
    this.#res = res
    this.#socket = res.req.socket
    const { message } = plan
    this.#pen = message.raw ? new SocketPen(this.#socket, message) : new ResponsePen(res, message)
    this.#start = this.#socket.bytesWritten
  }

  async run(): Promise<void> {
    const { message, pace, vigil } = this.#plan
    if (this.#stopsAt('before')) return this.#halt()
    for (const interim of message.head?.interim ?? []) this.#socket.write(interimBytes(interim))
    const wait = pace.before_head_ms
    if (wait !== undefined && !(await vigil.sleep(wait))) return this.#tell(lost(vigil))
    if (this.#stopsAt('before-head')) return this.#halt()
    this.#stage = 'before-head'
    this.#pen.head()
    if (this.#stopsAt('after-head')) {
      this.#pen.flush()
      return this.#halt()
    }
    this.#stage = 'after-head'
    if (!(await this.#sendBody())) return this.#tell(lost(vigil))
    if (this.#stopsAt('body')) return this.#halt()
    this.#pen.end()
    return this.#finish()
  }

  async #sendBody(): Promise<boolean> {
    const { message, pace, stop, vigil } = this.#plan
    const body = this.#stopsAt('body') ? message.body.subarray(0, stop?.offset) : message.body
    if (body.length === 0 && this.#stopsAt('body')) this.#pen.flush()
    let gap = 0
    let sent = 0
    for (const piece of piecesOf(body, pace)) {
      if (gap > 0 && !(await vigil.sleep(gap))) return false
      if (vigil.spent) break
      this.#pen.piece(piece)
      sent += piece.length
      gap = gapBehind(piece, pace)
    }
    if (sent < body.length) this.#pen.piece(body.subarray(sent))
    return true
  }

  async #finish(): Promise<void> {
    const { message, vigil, closing } = this.#plan
    const isOut = await vigil.until(message.raw ? flushed(this.#socket) : ended(this.#res))
    // A response whose connection was to end has ended it itself.
    if (!isOut && !this.#res.writableFinished) return this.#tell(lost(vigil))
    if (this.#stopsAt('end')) return this.#halt()
    this.#stage = 'end'
    if (this.#stopsAt('idle') && (await this.#isIdle())) return this.#halt()
    if (message.raw) cut(this.#socket, 'fin', closing)
    this.#tell('whole')
  }

  // A client that sends its next request at once does so before the connection has come to rest.
  async #isIdle(): Promise<boolean> {
    do {
      if (!(await this.#plan.vigil.drained(SETTLE))) return false
    } while (!isIdle(this.#socket))
    return true
  }

  #halt(): Promise<void> {
    const { stop, vigil, closing } = this.#plan
    if (stop === undefined) return Promise.resolve()
    this.#stage = stageName(stop.stop.at)
    const tell = (end: Sent['end']): void => this.#tell(end)
    return halt(stop.stop.how, { socket: this.#socket, vigil, closing, wrote: this.#bytes > 0, tell })
  }

  #stopsAt(stage: AnswerStop['stage']): boolean {
    return this.#plan.stop?.stage === stage
  }

  get #bytes(): number {
    return this.#socket.bytesWritten - this.#start
  }

  #tell(end: Sent['end']): void {
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
