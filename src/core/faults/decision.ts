import type { FaultReport, Sent } from '../log/request-log.ts'
import type { Step } from '../request/steps.ts'
import type { Commit } from '../state/commit.ts'
import { formatInstant } from '../time/instant.ts'
import type { HeldAtGate } from '../time/scheduler.ts'
import { counted } from '../words.ts'
import { type Action, type PrimitiveMap, type PrimitiveName, type Primitives, usesOf } from './primitive.ts'
import type { FaultRule } from './rule.ts'

/** A rule that has fired on a request. */
export interface Fired {
  readonly rule: FaultRule
  readonly actions: readonly Action[]
  /** Name of the action list in its sequence; undefined without a sequence. */
  readonly step: string | undefined
  /** The value of the counter, from 1; `key` is null for the counter of the rule itself. */
  readonly n: number
  readonly key: string | null
}

/** The decision about one rule. */
export interface RuleDecision {
  readonly rule: FaultRule
  /** A sentence: why it fired, or why not. */
  readonly description: string
  /** Present when it fired. */
  readonly fired?: Fired
  /** The counter of a match that did not fire. */
  readonly counter?: Pick<Fired, 'n' | 'key'>
}

/** The parameters of one action that has fired. */
export interface FiredAction<P> {
  readonly parameters: P
  readonly rule: FaultRule
  /** Number of the match, from 1. */
  readonly n: number
}

/** The changes by the `state` actions of one stage. */
interface Moved {
  readonly step: Extract<Step, 'faultsBefore' | 'faultsAfter'>
  readonly commit: Commit
}

/** How a request waited at a gate. Instants are virtual, in milliseconds. */
interface Gated {
  readonly gate: string
  readonly at: HeldAtGate['at']
  readonly from: number
  until: number
  /** `full`: so many waited that it passed. */
  end: 'waiting' | 'released' | 'aborted' | 'left' | 'full'
}

/** The decision of the fault rules about one request, and the report of the adapter that carried it out. */
export class Decision implements FaultReport {
  readonly fired: readonly Fired[]
  /** For rules that fired, and the first hundred others of each phase: a log with all of them would be gigabytes. */
  readonly decisions: readonly RuleDecision[]
  /** How far the exchange came, once an adapter has reported it. */
  sent: Sent | undefined
  /** Its last wait at a gate. */
  gated: Gated | undefined
  readonly #primitives: PrimitiveMap
  /** The changes by faults on the request, in order, without those of the request itself. */
  readonly moved: Moved[] = []

  constructor(decisions: readonly RuleDecision[], primitives: PrimitiveMap) {
    this.fired = decisions.flatMap(({ fired }) => fired ?? [])
    this.decisions = decisions
    this.#primitives = primitives
  }

  /** Every action of the rules that fired, in order. */
  get actions(): readonly Action[] {
    return this.fired.flatMap(({ actions }) => actions)
  }

  /** Every action of one primitive, in order. */
  given<N extends PrimitiveName>(name: N): readonly FiredAction<Primitives[N]>[] {
    return this.fired.flatMap(({ rule, actions, n }) =>
      actions.flatMap((action) =>
        name in action ? [{ rule, n, parameters: (action as Record<N, Primitives[N]>)[name] }] : [],
      ),
    )
  }

  /** Actions with their primitives; default: all of them. */
  uses(actions = this.actions) {
    return usesOf(actions, this.#primitives)
  }

  /** Whether the handler must not run, so that the request does not change the sandbox. */
  get replacesHandler(): boolean {
    return [...this.#primitives.values()].some(({ name, replacesHandler }) => {
      const all = this.given(name as PrimitiveName).map(({ parameters }) => parameters)
      return all.length > 0 && replacesHandler?.(all) === true
    })
  }

  get setsQuota(): boolean {
    return this.given('quota').length > 0
  }

  get isProxy(): boolean {
    return this.given('respond')[0]?.parameters.proxy === true
  }

  partIn(step: Step): string {
    return this.fired
      .flatMap(({ rule, actions }) => {
        const here = this.uses(actions).filter(({ primitive, parameters }) => {
          return (primitive.step?.(parameters) ?? 'log') === step
        })
        const names = here.map(({ primitive }) => primitive.name)
        return here.length === 0 ? [] : [`The fault rule ${rule.id} took part: ${names.join(', ')}.`]
      })
      .join(' ')
  }

  wayOf(): string {
    const gate = this.gated === undefined ? '' : `${gateText(this.gated)} `
    if (!this.isOnWire() || this.sent === undefined) return gate.trim()
    const { stage, bytes, end } = this.sent
    return `${gate}The exchange reached the stage ${stage}, with ${counted(bytes, 'byte')} sent: ${ENDS[end]}.`
  }

  get end(): FaultReport['end'] {
    const { end = 'whole' } = this.sent ?? {}
    if (end === 'whole') return null
    if (end !== 'cut') return end === 'held' ? 'stalled' : 'left'
    const ends = this.uses().flatMap(({ primitive, parameters }) => primitive.ends?.(parameters) ?? [])
    if (this.gated?.end === 'aborted') return 'closed'
    // No action ends connections: the maximum duration of a fault has ended this one.
    return ends[0] ?? 'timed out'
  }

  /** Whether one of the actions acts on the connection; default: all actions. */
  isOnWire(actions = this.actions): boolean {
    return this.uses(actions).some(({ primitive }) => primitive.kind === 'wire')
  }
}

function gateText({ gate, at, from, until, end }: Gated): string {
  if (end === 'full') return `It passed the gate ${gate}, at which too many requests waited already.`
  const how = {
    released: 'it was released',
    aborted: 'its connection was cut',
    left: 'the client left',
    waiting: 'it still waits',
  }
  const place = at === 'before-handler' ? 'before its handler' : 'after its handler'
  return `It waited ${place} at the gate ${gate} from ${formatInstant(from)} to ${formatInstant(until)}: ${how[end]}.`
}

const ENDS: Readonly<Record<Sent['end'], string>> = {
  whole: 'the response was sent completely',
  cut: 'the fault cut it off',
  held: 'the fault kept the connection open and silent',
  left: 'the client left',
}
