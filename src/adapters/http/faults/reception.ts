import type { IncomingMessage } from 'node:http'
import { allOf, type Stage } from '../../../core/faults/actions.ts'
import type { Decision, Sent } from '../../../core/faults/decision.ts'
import { type Stop, stopsOf } from '../../../core/faults/stops.ts'
import type { Call, CallBody } from '../../../core/request/exchange.ts'
import { decide } from '../../../core/request/interfere.ts'
import { cutOff } from '../../../core/request/perform.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { awaitsContinue, withholdContinue } from '../discard.ts'
import { cut } from './cut.ts'
import { halt, lost } from './halt.ts'
import { longest, MAX_MAX, paceOf } from './pace.ts'
import { stageName } from './stop.ts'
import { Vigil } from './vigil.ts'

/** Reads the body of a request, telling how many bytes of it have come so far, until told to stop; undefined then, and when the client went away. */
export type ReadBody = (received: (bytes: number) => boolean) => Promise<CallBody | undefined>

type Decided = Call & { readonly decision: Decision }

/** One request from its head to where its handler would run, with everything that faults do before that. */
export class Reception {
  readonly #req: IncomingMessage
  readonly #sandbox: Sandbox
  readonly #closing: AbortSignal

  constructor(req: IncomingMessage, sandbox: Sandbox, closing: AbortSignal) {
    this.#req = req
    this.#sandbox = sandbox
    this.#closing = closing
  }

  /**
   * The call that is to be performed; undefined when it was cut off, or the client has left.
   * @param head the call without its body
   */
  async receive(head: Call, readBody: ReadBody): Promise<Call | undefined> {
    const early = this.#decided(head, 'head')
    const body = isDecided(early) ? await this.#readUnder(early, readBody) : await readBody(() => true)
    if (body === undefined) return undefined
    const call = this.#decided({ ...early, body }, 'call')
    return isDecided(call) && !(await this.#reachesHandler(call)) ? undefined : call
  }

  #decided(call: Call, phase: 'head' | 'call'): Call {
    const decision = decide(this.#sandbox, call, phase)
    return decision === undefined ? call : { ...call, decision }
  }

  async #readUnder(call: Decided, readBody: ReadBody): Promise<CallBody | undefined> {
    const { actions, fired } = call.decision
    const stops = stopsOf(actions)
    const stop = stops.find(({ at }) => isBeforeBody(at))
    if (stop !== undefined) return this.#halt(stop, call)
    let halted: Promise<undefined> | undefined
    const unasked = this.#withhold(call)
    // A body that stays shorter than the stage asks for is none that the fault is about.
    const body = await readBody((bytes) => {
      unasked?.end()
      const reached = stops.find(({ at }) => isReached(at, bytes))
      if (reached === undefined || halted !== undefined) return halted === undefined
      this.#req.pause()
      halted = this.#halt(reached, call)
      return false
    })
    unasked?.end()
    if (halted !== undefined) return halted
    if (body === undefined && fired.length > 0)
      this.#log(call, 'after-request-head', unasked?.over === 'released' ? 'cut' : 'left')
    return body
  }

  // A client that waits to be asked for its body, and never is, may wait for ever.
  #withhold(call: Decided): Vigil | undefined {
    const isAsked = paceOf(allOf(call.decision.actions, 'pace')).no_continue !== true
    if (isAsked || !awaitsContinue(this.#req)) return undefined
    withholdContinue(this.#req)
    const vigil = this.#vigil(call)
    void vigil.hold().then((goesOn) => goesOn && cut(this.#req.socket, 'fin', this.#closing))
    return vigil
  }

  async #reachesHandler(call: Decided): Promise<boolean> {
    const { actions } = call.decision
    const { before_handler_ms } = paceOf(allOf(actions, 'pace'))
    if (before_handler_ms !== undefined && !(await this.#wait(before_handler_ms, call))) return false
    const stop = stopsOf(actions).find(({ at }) => at === 'before-handler' || isBeforeBody(at))
    if (stop !== undefined) await this.#halt(stop, call)
    return stop === undefined
  }

  async #wait(ms: number, call: Decided): Promise<boolean> {
    const vigil = this.#vigil(call)
    const goesOn = await vigil.sleep(ms)
    vigil.end()
    if (!goesOn) this.#log(call, 'before-handler', lost(vigil))
    return goesOn
  }

  async #halt({ at, how }: Stop, call: Decided): Promise<undefined> {
    // While a body is left unread, nobody hears of a client that leaves: such a pause has an end of its own.
    const isDeaf = how === 'pause' && !this.#req.complete
    const vigil = this.#vigil(call, isDeaf ? MAX_MAX : undefined)
    const tell = (end: Sent['end']): void => this.#log(call, stageName(at), end)
    const halting = { socket: this.#req.socket, vigil, closing: this.#closing, wrote: false, tell }
    if (vigil.over === undefined) await halt(isDeaf ? 'stall' : how, halting)
    else tell(lost(vigil))
    vigil.end()
  }

  #vigil({ decision }: Decided, limit = longest(paceOf(allOf(decision.actions, 'pace')))): Vigil {
    return new Vigil(this.#req.socket, [this.#sandbox.faults.releasedFor(decision), this.#closing], limit)
  }

  #log(call: Call, stage: string, end: Sent['end']): void {
    cutOff(this.#sandbox, call, { stage, bytes: 0, end })
  }
}

function isDecided(call: Call): call is Decided {
  return call.decision !== undefined
}

function isBeforeBody(at: Stage): boolean {
  return at === 'before-read' || at === 'after-request-head' || isReached(at, 0)
}

/** Whether a stage is reached when so many bytes of the body have come. */
function isReached(at: Stage, bytes: number): boolean {
  return typeof at === 'object' && 'request_bytes' in at && at.request_bytes <= bytes
}
