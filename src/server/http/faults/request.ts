import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../../../core/errors.ts'
import type { Decision } from '../../../core/faults/decision.ts'
import { FaultedRequest } from '../../../core/faults/faulted-request.ts'
import { decide } from '../../../core/faults/hooks.ts'
import type { Evidence } from '../../../core/log/evidence.ts'
import type { Sent } from '../../../core/log/request-log.ts'
import type { Call, CallBody } from '../../../core/request/exchange.ts'
import { cutOff } from '../../../core/request/pipeline.ts'
import type { ApiResponse } from '../../../core/request/response.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { awaitsContinue, withholdContinue } from '../body.ts'
import { noteEnd, silence } from '../connections.ts'
import type { HeaderPair } from '../guard.ts'
import { faultsOfHeader } from './header.ts'
import { paceOf, stopsOf } from './primitives.ts'
import { sendFaulted } from './send.ts'
import { MAX_HOLD_MS, type Stage, type Stop, stageName } from './stage.ts'
import { endConnection, lost, stopExchange } from './stop.ts'
import { ExchangeTimeout, type Waits } from './timeout.ts'

/**
 * Reads the body of a request, and calls `received` with the number of bytes so far. Undefined when that returns false, or when
 * the client has left.
 */
type ReadBody = (received: (bytes: number) => boolean) => Promise<CallBody | undefined>

type FaultedCall = Call & { readonly hooks: FaultedRequest }

/** The faults of one request, from its head to the last byte of its response. */
export class RequestFaults {
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #evidence: Evidence
  readonly #sandbox: Sandbox
  readonly #waits: Waits
  readonly #replacements: number

  constructor(req: IncomingMessage, res: ServerResponse, evidence: Evidence, sandbox: Sandbox, waits: Waits) {
    this.#req = req
    this.#res = res
    this.#evidence = evidence
    this.#sandbox = sandbox
    this.#waits = waits
    this.#replacements = sandbox.listeners.replacements
  }

  /** Arms the faults that the request names in its header. Refuses names that do not exist. */
  arm(): Call['armed'] {
    return faultsOfHeader(this.#sandbox, this.#req.headers)
  }

  /**
   * Receives the body, and applies all faults that act before the handler. Resolves with the call to perform; undefined when a
   * fault has cut it off, or the client has left.
   * @param head the call without its body
   */
  async receive(head: Call, readBody: ReadBody): Promise<Call | undefined> {
    const early = this.#decideOn(head, 'head')
    const body = isFaulted(early) ? await this.#readUnder(early, readBody) : await readBody(() => true)
    if (body === undefined) return undefined
    const call = this.#decideOn({ ...early, body }, 'call')
    return isFaulted(call) ? this.#reachesHandler(call) : call
  }

  /** Sends the response under its faults; calls `write` when it has none. @param extra headers of the connection */
  send(
    response: ApiResponse,
    extra: readonly HeaderPair[],
    withBody: boolean,
    write: () => Promise<void> | undefined,
  ): Promise<void> | undefined {
    const wire = response.hooks instanceof FaultedRequest ? response.hooks.wire : undefined
    if (wire === undefined) return write()
    const report = (sent: Sent): void => {
      this.#noteEnded(sent.end)
      wire.report(sent)
    }
    const reported = { ...wire, report }
    return sendFaulted(this.#req, this.#res, response, reported, extra, withBody, this.#waits)
  }

  #decideOn(call: Call, phase: 'head' | 'call'): Call {
    const earlier = isFaulted(call) ? call.hooks.report : undefined
    const decision = decide(this.#sandbox, call, phase, earlier)
    if (decision === undefined) return call
    return { ...call, hooks: new FaultedRequest(this.#sandbox, decision) }
  }

  async #readUnder(call: FaultedCall, readBody: ReadBody): Promise<CallBody | undefined> {
    const { actions, fired } = call.hooks.report
    const stops = stopsOf(actions)
    const stop = stops.find(({ at }) => isBeforeBody(at))
    if (stop !== undefined) return this.#stopHere(stop, call)
    let stopped: Promise<undefined> | undefined
    const unasked = this.#withhold(call)
    // A fault at `request_bytes` has no effect on a shorter body.
    const body = await readBody((bytes) => {
      unasked?.end()
      const reached = stops.find(({ at }) => isReached(at, bytes))
      if (reached === undefined || stopped !== undefined) return stopped === undefined
      this.#req.pause()
      stopped = this.#stopHere(reached, call)
      return false
    })
    unasked?.end()
    if (stopped !== undefined) return stopped
    if (body === undefined && fired.length > 0)
      this.#log(call, 'after-request-head', unasked?.over === 'released' ? 'cut' : 'left')
    return body
  }

  // A client that never gets its `100 Continue` may wait forever, so this wait has a limit.
  #withhold(call: FaultedCall): ExchangeTimeout | undefined {
    const isAsked = paceOf(call.hooks.report.actions).no_continue !== true
    if (isAsked || !awaitsContinue(this.#req)) return undefined
    withholdContinue(this.#req)
    const timeout = this.#timeoutOf(call)
    void timeout
      .hold()
      .then((goesOn) => goesOn && endConnection(this.#req.socket, 'fin', this.#waits.closing))
    return timeout
  }

  async #reachesHandler(call: FaultedCall): Promise<Call | undefined> {
    const { actions } = call.hooks.report
    const { before_handler_ms } = paceOf(actions)
    if (before_handler_ms !== undefined) {
      const timeout = this.#timeoutOf(call)
      const goesOn = await timeout.sleep(before_handler_ms)
      timeout.end()
      if (!goesOn) {
        this.#log(call, 'before-handler', lost(timeout))
        return undefined
      }
    }
    const { call: next, way } = call.hooks.passage(call) ?? { call }
    if (way !== undefined) {
      const timeout = this.#timeoutOf(call, undefined, [way.aborted])
      const goesOn = await timeout.until(way.passed)
      timeout.end()
      way.leave(timeout.over === 'released')
      if (!goesOn) {
        this.#log(next, 'before-handler', lost(timeout))
        return undefined
      }
    }
    const stop = stopsOf(actions).find(({ at }) => at === 'before-handler' || isBeforeBody(at))
    if (stop === undefined) return next
    return this.#stopHere(stop, next)
  }

  async #stopHere({ at, how }: Stop, call: FaultedCall): Promise<undefined> {
    // A disconnect is not noticed while the body is unread: such a pause ends after MAX_HOLD_MS.
    const isDeaf = how === 'pause' && !this.#req.complete
    const timeout = this.#timeoutOf(call, isDeaf ? MAX_HOLD_MS : undefined)
    const report = (end: Sent['end']): void => this.#log(call, stageName(at), end)
    const { closing } = this.#waits
    const context = { socket: this.#req.socket, timeout, closing, wrote: false, report }
    if (timeout.over === undefined) await stopExchange(isDeaf ? 'stall' : how, context)
    else report(lost(timeout))
    timeout.end()
  }

  #timeoutOf(
    { hooks: { report } }: FaultedCall,
    limit = paceOf(report.actions).max_ms,
    more: readonly AbortSignal[] = [],
  ): ExchangeTimeout {
    const releases = this.#sandbox.faults.releasesOf(report)
    const { closing, later } = this.#waits
    return new ExchangeTimeout(this.#req.socket, [...releases, ...more, closing], limit, later)
  }

  #noteEnded(end: Sent['end']): void {
    noteEnd(this.#evidence, end)
    const { faults } = this.#sandbox
    if (end !== 'held') return
    faults.held += 1
    this.#req.socket.once('close', () => {
      faults.held -= 1
    })
  }

  #log(call: FaultedCall, stage: string, end: Sent['end']): void {
    this.#noteEnded(end)
    // The log is that of another state, to which the request never belonged.
    if (this.#sandbox.listeners.replacements !== this.#replacements) return
    call.hooks.report.sent = { stage, bytes: 0, end }
    cutOff(this.#sandbox, call, stage === 'before-handler')
  }
}

function isFaulted(call: Call): call is FaultedCall {
  return call.hooks instanceof FaultedRequest
}

function isBeforeBody(at: Stage): boolean {
  return at === 'before-read' || at === 'after-request-head' || isReached(at, 0)
}

/** Whether a stage is reached when this many bytes of the body have arrived. */
function isReached(at: Stage, bytes: number): boolean {
  return typeof at === 'object' && 'request_bytes' in at && at.request_bytes <= bytes
}

/**
 * Applies the fault rules of a sandbox to a new connection, before any byte of it is read.
 * @param id the id of the connection
 */
export function acceptUnderFaults(socket: Socket, id: string, sandbox: Sandbox, waits: Waits): void {
  const decision = decisionOn(id, sandbox)
  const { actions = [] } = decision ?? {}
  const stop = stopsOf(actions).find(({ at }) => at === 'accept')
  if (decision === undefined || stop === undefined) return
  silence(socket)
  const { closing, later } = waits
  const signals = [...sandbox.faults.releasesOf(decision), closing]
  const timeout = new ExchangeTimeout(socket, signals, paceOf(actions).max_ms, later)
  const report = (end: Sent['end']): void => {
    decision.sent = { stage: 'accept', bytes: 0, end }
  }
  stopExchange(stop.how, { socket, timeout, closing, wrote: false, report })
    .finally(() => timeout.end())
    .catch(sandbox.options.onDefect)
}

// No caller catches here: if counters cannot be written, the fault is skipped.
function decisionOn(id: string, { faults, options }: Sandbox): Decision | undefined {
  try {
    return faults.decide('accept', { kind: 'connection', id })
  } catch (error) {
    if (!(error instanceof Refusal)) options.onDefect(error)
    return undefined
  }
}
