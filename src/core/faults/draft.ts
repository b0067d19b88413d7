import type { Action } from './actions.ts'
import type { FaultMatch, When } from './rule.ts'

/** A rule as users write it: a composition of their own, or a preset and what is to be different about it. */
export interface FaultDraft {
  /** Default: the name of the preset, or `fault`, with a number where that is taken. */
  readonly id?: string | undefined
  readonly preset?: string | undefined
  readonly description?: string | undefined
  readonly match?: FaultMatch | 'everything' | undefined
  readonly when?: When | undefined
  readonly do?: readonly Action[] | undefined
  readonly actions?: Readonly<Record<string, readonly Action[]>> | undefined
  readonly priority?: number | undefined
  readonly then?: 'stop' | 'continue' | undefined
  readonly times?: number | undefined
  /** Virtual duration, such as `10m`. */
  readonly ttl?: string | undefined
}
