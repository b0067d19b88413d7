import type { Action } from './actions.ts'
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

/** What became of one rule. */
export interface Verdict {
  readonly rule: string
  readonly fired: boolean
  /** A sentence for anyone who asks why. */
  readonly description: string
  /** The rule itself, where it has not fired. */
  readonly about?: FaultRule
  /** The counter of a match that did not fire. */
  readonly counter?: Pick<Fired, 'n' | 'key'> | undefined
}

/** When a rule is decided: as soon as the earliest of its stages needs it. */
export type Phase = 'accept' | 'head' | 'call' | 'webhook'

/** What the rules of a sandbox have decided about one request, and what an adapter did about it. */
export class Decision {
  readonly fired: readonly Fired[]
  /** Of those that fired, and of the first hundred others of each phase: a log of all would be gigabytes. */
  readonly verdicts: readonly Verdict[]
  /** How far the exchange came, once an adapter has told. */
  sent: Sent | undefined

  constructor(fired: readonly Fired[], verdicts: readonly Verdict[]) {
    this.fired = fired
    this.verdicts = verdicts
  }

  /** Every action of what fired, in order. */
  get actions(): readonly Action[] {
    return this.fired.flatMap(({ actions }) => actions)
  }
}

/** How far an exchange came that a fault was done to. */
export interface Sent {
  /** The last stage that was reached. */
  readonly stage: string
  /** Bytes of the answer, its head included, that were handed to the connection. */
  readonly bytes: number
  /** `whole`; `cut` by the fault; `held` open and silent; `left` by the client. */
  readonly end: 'whole' | 'cut' | 'held' | 'left'
}
