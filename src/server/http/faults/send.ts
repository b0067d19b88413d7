import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import type { Wire } from '../../../core/faults/faulted-request.ts'
import type { Sent } from '../../../core/log/request-log.ts'
import type { ApiResponse } from '../../../core/request/response.ts'
import { connectionOf } from '../connections.ts'
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
    res.on('close', () => response.pauses?.stop())
    await sendMessage(res, { message, pace, stop, timeout, closing, report, response })
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
  /** Before its faults. */
  readonly response: ApiResponse
  readonly timeout: ExchangeTimeout
  /** Ends the waiting for a client that does not close its side. */
  readonly closing: AbortSignal
  /** Called once, with how much of the response was sent. */
  readonly report: (sent: Sent) => void
}

/** Sends one response, stage by stage, until it is complete or stopped. */
async function sendMessage(res: ServerResponse, plan: SendPlan): Promise<void> {
  const { message, pace, stop, timeout, closing } = plan
  const { socket } = res.req
  const writer = message.raw ? socketWriter(socket, message) : responseWriter(res, message)
  const start = socket.bytesWritten
  let stage = 'after-handler'
  const report = (end: Sent['end']): void => {
    plan.report({ stage, bytes: socket.bytesWritten - start, end })
  }
  const stopsAt = (place: ResponseStop['stage']): boolean => stop?.stage === place
  const stopHere = async (): Promise<void> => {
    if (stop === undefined) return
    stage = stageName(stop.stop.at)
    const wrote = socket.bytesWritten > start
    await stopExchange(stop.stop.how, { socket, timeout, closing, wrote, report })
  }
  if (stopsAt('before')) return stopHere()
  for (const interim of message.head?.interim ?? []) socket.write(headBytes(interim))
  const wait = pace.before_head_ms
  if (wait !== undefined && !(await timeout.sleep(wait))) return report(lost(timeout))
  if (stopsAt('before-head')) return stopHere()
  stage = 'before-head'
  writer.head()
  const body = stopsAt('body') ? message.body.subarray(0, stop?.offset) : message.body
  if (stopsAt('after-head') || (stopsAt('body') && body.length === 0)) writer.flush()
  if (stopsAt('after-head')) return stopHere()
  stage = 'after-head'
  let at = 0
  for (const part of plan.response.stream?.parts ?? []) {
    let goesOn = true
    const next = plan.response.pauses?.next(part.after).then((each) => {
      goesOn = each
    })
    if (!(await timeout.until(next))) return report(lost(timeout))
    if (!goesOn) break
    const bytes = body.subarray(at, at + part.bytes.length)
    at += bytes.length
    if (!(await sendPieces(writer, bytes, pace, timeout))) return report(lost(timeout))
  }
  if (!(await sendPieces(writer, body.subarray(at), pace, timeout))) return report(lost(timeout))
  if (stopsAt('body')) return stopHere()
  writer.end()
  const isOut = await timeout.until(message.raw ? flushed(socket) : finished(res).catch(() => {}))
  // The socket may be closed already: a response with `Connection: close` closes it.
  if (!isOut && !res.writableFinished) return report(lost(timeout))
  if (stopsAt('end')) return stopHere()
  stage = 'end'
  if (stopsAt('idle') && (await becomesIdle(socket, timeout))) return stopHere()
  if (message.raw) endConnection(socket, 'fin', closing)
  report('whole')
}

/** Sends a body in its pieces. When the limit is spent, the rest is sent at once. @returns whether the exchange goes on */
async function sendPieces(
  writer: Writer,
  body: Buffer,
  pace: AskedPace,
  timeout: ExchangeTimeout,
): Promise<boolean> {
  let gap = 0
  let sent = 0
  for (const piece of piecesOf(body, pace)) {
    if (gap > 0 && !(await timeout.sleep(gap))) return false
    if (timeout.spent) break
    writer.piece(piece)
    sent += piece.length
    gap = gapAfter(piece, pace)
  }
  if (sent < body.length) writer.piece(body.subarray(sent))
  return true
}

// A client may send its next request before the connection has become idle: that one has to finish first.
async function becomesIdle(socket: Socket, timeout: ExchangeTimeout): Promise<boolean> {
  do {
    if (!(await timeout.drained(SETTLE))) return false
  } while (connectionOf.get(socket)?.pending.length !== 0)
  return true
}
