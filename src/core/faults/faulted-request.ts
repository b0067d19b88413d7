import type { Sent } from '../log/request-log.ts'
import type { Call, Content, Exchange, RequestHooks, ResponseHead } from '../request/exchange.ts'
import { withHeaders } from '../request/headers.ts'
import { contentOf, quotaHeaders } from '../request/response.ts'
import type { Step } from '../request/steps.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import type { Decision } from './decision.ts'
import { type Passage, passage } from './gate.ts'
import type { Action, Primitives } from './primitive.ts'
import type { Fault, StateHooks } from './state-primitive.ts'

/** The part of a decision that an adapter carries out. */
export interface Wire {
  /** The actions of wire primitives, in order. */
  readonly actions: readonly Action[]
  /** Resolves when the response may be sent; undefined: at once. */
  readonly hold: (() => Promise<void>) | undefined
  /** One is aborted when a held connection must be released: the sandbox was reset, or a rule that holds it was removed. */
  readonly releases: readonly AbortSignal[]
  /** Reports how far the exchange came; to be called once, when it is over. */
  readonly report: (sent: Sent) => void
}

/** Carries out the decision about one request, step by step. */
export class FaultedRequest implements RequestHooks {
  readonly report: Decision
  readonly #sandbox: Sandbox
  #exchange: Exchange | undefined

  constructor(sandbox: Sandbox, decision: Decision) {
    this.#sandbox = sandbox
    this.report = decision
  }

  before(exchange: Exchange, step: Step): boolean {
    if (step === 'rateLimit' || step === 'replay') this.#act(exchange, step)
    return step === 'loadTarget' && this.#replacesHandler(exchange)
  }

  after(exchange: Exchange, step: Step): void {
    if (step === 'authenticate') this.#act(exchange, step)
    const isHandled = step === 'commit' || (step === 'replay' && exchange.idempotency === 'replay')
    if (!isHandled) return
    exchange.step = 'faultsAfter'
    this.#act(exchange, 'afterHandler')
    exchange.now = this.#sandbox.clock.now
  }

  content(exchange: Exchange): Content | undefined {
    const content = this.#effects('content', exchange)[0]?.()
    const acts = this.#effects('shown', exchange)
    if (acts.length === 0) return content
    return acts.reduce((shown, act) => act(shown), content ?? contentOf(exchange))
  }

  response(exchange: Exchange, { content, admission, own }: ResponseHead) {
    this.#exchange = exchange
    const [rated] = this.#effects('rate', exchange).flatMap((act) => act(admission) ?? [])
    const rate = rated ?? { admission, headers: quotaHeaders(admission) }
    const at = this.#effects('date', exchange).reduce((now, act) => act(now), exchange.now)
    const set: [string, string][] = [['Date', new Date(at).toUTCString()]]
    const isShown = this.#sandbox.options.revealFaults && this.report.fired.length > 0
    if (isShown) set.push(['X-Emulator-Fault', idsOf(this.report)])
    const all = withHeaders([...withHeaders(content, rate.headers), ...own], set)
    const headers = this.#effects('headers', exchange).reduce((list, act) => act(list), all)
    return { admission: rate.admission, headers }
  }

  /** The way of a call through the gates before its handler, with the id that is reserved for it; undefined without a gate. */
  passage<C extends Call>(call: C): { readonly call: C; readonly way: Passage } | undefined {
    const { log, name } = this.#sandbox
    if (!this.report.given('gate').some(({ parameters }) => parameters.at === 'before-handler'))
      return undefined
    const id = log.count(name)
    const way = passage(this.#sandbox, this.report, 'before-handler', { id, call })
    return way && { call: { ...call, id }, way }
  }

  /** The part of the decision for an adapter; undefined when there is none. */
  get wire(): Wire | undefined {
    const { report: decision } = this
    const actions = decision.actions.filter((action) => decision.isOnWire([action]))
    const waits = firedEffects(this.#sandbox, decision, 'waitsForWebhooks').some(({ act }) => act(decision))
    const way = this.#exchange && passage(this.#sandbox, decision, 'after-handler', this.#exchange)
    if (actions.length === 0 && !waits && way === undefined) return undefined
    const releases = this.#sandbox.faults.releasesOf(decision)
    const hold = async (): Promise<void> => {
      // The sender reports its own errors; the response does not depend on them.
      if (waits) await this.#sandbox.deliveries.whenIdle().catch(() => {})
      await way?.passed
    }
    return {
      actions,
      hold: waits || way !== undefined ? hold : undefined,
      releases: way === undefined ? releases : [...releases, way.aborted],
      report: (sent) => {
        way?.leave(sent.end === 'cut')
        decision.sent = sent
      },
    }
  }

  // An injected response is created at the end, in `content`: also for requests that were refused before the handler.
  #replacesHandler(exchange: Exchange): boolean {
    exchange.step = 'faultsBefore'
    this.#act(exchange, 'passTime')
    this.#act(exchange, 'beforeHandler')
    exchange.now = this.#sandbox.clock.now
    if (!this.report.replacesHandler) return false
    exchange.injected = true
    exchange.reply = { body: {} }
    return true
  }

  #act(exchange: Exchange, hook: PlainHook): void {
    for (const act of this.#effects(hook, exchange)) act()
  }

  /** The effects of one hook, each bound to the actions of its primitive. */
  #effects<H extends ExchangeHook>(hook: H, exchange: Exchange) {
    const [sandbox, decision] = [this.#sandbox, this.report]
    return firedEffects(sandbox, decision, hook).map(({ act, name }) => {
      const fault: Fault<never> = { sandbox, exchange, decision, given: decision.given(name) as never }
      return (...more: MoreOf<H>) => (act as unknown as Bindable<H>)(fault, ...more)
    })
  }
}

/** The functions of the fired primitives for one hook. */
export function firedEffects<H extends keyof AnyHooks>(sandbox: Sandbox, decision: Decision, hook: H) {
  return [...sandbox.service.primitives.values()].flatMap(({ name, kind, effect }) => {
    const act = kind === 'state' ? (effect as Partial<AnyHooks>)[hook] : undefined
    const isFired = decision.actions.some((action) => name in action)
    return act === undefined || !isFired ? [] : [{ name: name as keyof Primitives, act: act as AnyHooks[H] }]
  })
}

type AnyHooks = StateHooks<never>
type ExchangeHook = Exclude<keyof AnyHooks, 'webhook' | 'waitsForWebhooks'>
type PlainHook = {
  [H in ExchangeHook]: ReturnType<AnyHooks[H]> extends void ? H : never
}[ExchangeHook]
type MoreOf<H extends ExchangeHook> = Parameters<AnyHooks[H]> extends [unknown, ...infer More] ? More : []
type Bindable<H extends ExchangeHook> = (fault: Fault<never>, ...more: MoreOf<H>) => ReturnType<AnyHooks[H]>

// Ids are visible ASCII, except those from reserved values of a request. A comma would split an id in two.
function idsOf({ fired }: Decision): string {
  return fired.map(({ rule }) => rule.id.replaceAll(/[^!-+\--~]/g, '_')).join(', ')
}
