import type { FaultReport, Sent } from '../log/request-log.ts'
import type { Step } from '../request/steps.ts'
import type { Commit } from '../state/commit.ts'
import { counted } from '../words.ts'
import {
  type Action,
  allOf,
  type PrimitiveMap,
  type PrimitiveName,
  type Primitives,
  usesOf,
} from './primitive.ts'
import type { FaultRule } from './rule.ts'

/** A rule that has fired on a request. */
export interface Fired {
  readonly rule: FaultRule
  readonly actions: readonly Action[]
  /** The name in its sequence; undefined without one. */
  readonly step: string | undefined
  /** The value of the counter, from 1, and what it is kept by. */
  readonly n: number
  readonly key: string | null
}

/** What was decided about one rule. */
export interface Verdict {
  readonly rule: string
  readonly fired: boolean
  /** A sentence: why it fired, or why not. */
  readonly description: string
  /** The rule itself, where it has not fired. */
  readonly about?: FaultRule
  /** The counter of a match that did not fire. */
  readonly counter?: Pick<Fired, 'n' | 'key'> | undefined
}

/** The parameters of one action that has fired. */
export interface FiredAction<P> {
  readonly parameters: P
  readonly rule: FaultRule
  /** Number of the match, from 1. */
  readonly n: number
}

/** What the `state` actions of one stage changed. */
export interface Moved {
  readonly step: Extract<Step, 'faultsBefore' | 'faultsAfter'>
  readonly commit: Commit
}

const NOTHING: readonly Moved[] = []

/** What the rules of a sandbox have decided about one request, and what an adapter did about it. */
export class Decision implements FaultReport {
  readonly fired: readonly Fired[]
  /** Of those that fired, and of the first hundred others of each phase: a log of all would be gigabytes. */
  readonly verdicts: readonly Verdict[]
  /** How far the exchange came, once an adapter has reported it. */
  sent: Sent | undefined
  readonly #primitives: PrimitiveMap
  #moved: readonly Moved[] = NOTHING

  constructor(fired: readonly Fired[], verdicts: readonly Verdict[], primitives: PrimitiveMap) {
    this.fired = fired
    this.verdicts = verdicts
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

  /** Whether the handler must not run, so that the request leaves the sandbox as it is. */
  get replacesHandler(): boolean {
    return [...this.#primitives.values()].some(({ name, replacesHandler }) => {
      const all = allOf(this.actions, name as PrimitiveName)
      return all.length > 0 && replacesHandler?.(all) === true
    })
  }

  get tellsQuota(): boolean {
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
    if (!this.isOnWire() || this.sent === undefined) return ''
    const { stage, bytes, end } = this.sent
    return `On the wire it came as far as ${stage}, with ${counted(bytes, 'byte')}: ${ENDS[end]}.`
  }

  get end(): FaultReport['end'] {
    const { end = 'whole' } = this.sent ?? {}
    if (end === 'whole') return null
    if (end !== 'cut') return end === 'held' ? 'stalled' : 'left'
    const ends = this.uses().flatMap(({ primitive, parameters }) => primitive.ends?.(parameters) ?? [])
    // Without one, it was the longest time of a fault that has ended it.
    return ends[0] ?? 'timed out'
  }

  /** Whether one of some actions acts on the connection; default: of all. */
  isOnWire(actions = this.actions): boolean {
    return this.uses(actions).some(({ primitive }) => primitive.kind === 'wire')
  }

  /** The changes that faults have made because of the request, in order; the request's own are not among them. */
  get moved(): readonly Moved[] {
    return this.#moved
  }

  addMoved(moved: Moved): void {
    this.#moved = [...this.#moved, moved]
  }
}

const ENDS: Readonly<Record<Sent['end'], string>> = {
  whole: 'it was sent to its end',
  cut: 'the fault cut it off',
  held: 'the fault kept the connection open and silent',
  left: 'the client left',
}
