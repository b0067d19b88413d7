import { keptOf, maskedWordsOf } from '../log/log-entry.ts'
import type { KeptBody, Sent } from '../log/request-log.ts'
import type { Call, Content, Exchange, Hooks, RequestHooks, ResponseHead } from '../request/exchange.ts'
import { withHeaders } from '../request/headers.ts'
import { contentOf, quotaHeaders } from '../request/response.ts'
import type { Step } from '../request/steps.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { formatInstant } from '../time/instant.ts'
import type { tomorrowChoice } from '../tomorrow.ts'
import { type AuthFault, auth } from './auth.ts'
import { type ClockFault, clock } from './clock.ts'
import { Decision } from './decision.ts'
import { type DeliverFault, deliver } from './deliver.ts'
import { type GateFault, gate, type Passage, passage } from './gate.ts'
import { type IdemFault, idem } from './idem.ts'
import type { RequestSubject } from './match.ts'
import type { Action, AnyPrimitive, ParametersOf, Primitives } from './primitive.ts'
import { type QuotaFault, quota } from './quota.ts'
import { type Respond, respond } from './respond.ts'
import type { FaultRule } from './rule.ts'
import { type StateFault, state } from './state.ts'
import type { Fault, StateHooks } from './state-primitive.ts'
import { tomorrowFault } from './tomorrow.ts'

declare module './primitive.ts' {
  interface Primitives {
    readonly respond: Respond
    readonly quota: QuotaFault
    readonly idem: IdemFault
    readonly state: StateFault
    readonly auth: AuthFault
    readonly clock: ClockFault
    readonly deliver: DeliverFault
    readonly gate: GateFault
    readonly tomorrow: ParametersOf<typeof tomorrowChoice>
  }
}

/** The primitives that act on the sandbox. */
export const statePrimitives: readonly AnyPrimitive[] = [
  respond,
  quota,
  idem,
  state,
  auth,
  clock,
  deliver,
  gate,
  tomorrowFault,
]

/** Lets the fault rules of a sandbox act on its requests and webhooks. */
export function faultHooks(sandbox: Sandbox): Hooks {
  const { faults, options, service } = sandbox
  // Operations whose requests may contain reserved values, which act without a rule.
  const magic = new Set(options.strict ? [] : service.magic.map(({ operation }) => operation))
  return {
    begin: (call) => {
      if (faults.isEmpty && (!magic.has(call.operation.name) || magicOf(sandbox, call).length === 0))
        return undefined
      const decision = decide(sandbox, call, 'call', decide(sandbox, call, 'head'))
      return decision && new FaultedRequest(sandbox, decision)
    },
    treatmentOf: (type, url, resource) => {
      if (faults.isEmpty) return undefined
      const decision = faults.decide('webhook', { kind: 'webhook', type, url, resource })
      if (decision === undefined || decision.fired.length === 0) return undefined
      return effectsOf(sandbox, decision, 'webhook')[0]?.act(decision)
    },
  }
}

/**
 * Decides which rules of a phase fire on a request. In the phase `call`, the reserved values of its body act as well.
 * @param earlier the decision of the earlier phase
 */
export function decide(
  sandbox: Sandbox,
  call: Call,
  phase: 'head' | 'call',
  earlier?: Decision,
): Decision | undefined {
  const decision = sandbox.faults.decide(phase, subjectOf(sandbox, call), call.armed, earlier)
  return phase === 'head' ? decision : withMagic(sandbox, call, decision)
}

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
    const waits = effectsOf(this.#sandbox, decision, 'waitsForWebhooks').some(({ act }) => act(decision))
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
    return effectsOf(sandbox, decision, hook).map(({ act, name }) => {
      const fault: Fault<never> = { sandbox, exchange, decision, given: decision.given(name) as never }
      return (...more: MoreOf<H>) => (act as unknown as Bindable<H>)(fault, ...more)
    })
  }
}

type AnyHooks = StateHooks<never>
type DecisionHook = 'webhook' | 'waitsForWebhooks'
type ExchangeHook = Exclude<keyof AnyHooks, DecisionHook>
type PlainHook = { [H in ExchangeHook]: ReturnType<AnyHooks[H]> extends void ? H : never }[ExchangeHook]
type MoreOf<H extends ExchangeHook> = Parameters<AnyHooks[H]> extends [unknown, ...infer More] ? More : []
type Bindable<H extends ExchangeHook> = (fault: Fault<never>, ...more: MoreOf<H>) => ReturnType<AnyHooks[H]>

/** The functions of the fired primitives for one hook. */
function effectsOf<H extends keyof AnyHooks>(sandbox: Sandbox, decision: Decision, hook: H) {
  return [...sandbox.service.primitives.values()].flatMap(({ name, kind, effect }) => {
    const act = kind === 'state' ? (effect as Partial<AnyHooks>)[hook] : undefined
    const isFired = decision.actions.some((action) => name in action)
    return act === undefined || !isFired ? [] : [{ name: name as keyof Primitives, act: act as AnyHooks[H] }]
  })
}

// Ids are visible ASCII, except those from reserved values of a request. A comma would split an id in two.
function idsOf({ fired }: Decision): string {
  return fired.map(({ rule }) => rule.id.replaceAll(/[^!-+\--~]/g, '_')).join(', ')
}

function subjectOf(sandbox: Sandbox, call: Call): RequestSubject {
  const { operation, method, path, pathPrefix, query, headers, body, evidence, params } = call
  return {
    kind: 'request',
    operation: operation.name === '' ? undefined : operation.name,
    method,
    path,
    pathPrefix,
    query,
    headers,
    // The whole body, however large: a rule may match a part that the log leaves out.
    body: body.kind === 'json' ? { kind: 'json', value: body.value, bytes: body.bytes?.length } : UNREAD,
    caller: sandbox.authenticator.guessCall(call, sandbox.settings),
    connection: evidence && { id: evidence.connection.id, index: evidence.requests_before + 1 },
    resource: Object.values(params).at(-1) ?? null,
    kept: () => keptOf(call, maskedWordsOf(call, sandbox, sandbox.settings)),
  }
}

const UNREAD: KeptBody = { kind: 'none' }

/** The actions that reserved values in the body of a call request. */
function magicOf({ options, service }: Sandbox, { operation, body }: Call) {
  if (options.strict || body.kind !== 'json') return []
  return service.magic
    .filter((each) => each.operation === operation.name)
    .flatMap(({ actionsOf }) => actionsOf?.(body.value) ?? [])
}

function withMagic(sandbox: Sandbox, call: Call, decision: Decision | undefined): Decision | undefined {
  const asked = magicOf(sandbox, call)
  if (asked.length === 0) return decision
  const decisions = asked.map(({ value, actions }) => {
    // It has the form of every other rule, but exists for one request only and is not in the table.
    const rule: FaultRule = {
      id: `magic:${value}`,
      source: 'magic',
      preset: null,
      description: null,
      match: { operation: call.operation.name },
      when: {},
      do: actions,
      actions: {},
      priority: 0,
      then: 'continue',
      times: null,
      ttl: null,
      armed_at: formatInstant(sandbox.clock.now),
    }
    return { rule, description: MAGIC, fired: { rule, actions, step: undefined, n: 1, key: null } }
  })
  return new Decision([...(decision?.decisions ?? []), ...decisions], sandbox.service.primitives)
}

const MAGIC = 'The request itself triggers it with a reserved value.'
