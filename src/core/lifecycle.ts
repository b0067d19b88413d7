import { refuse } from './errors.ts'

/** One transition: from a state, on an action, to a state; and whether it is in the specification or assumed. */
export interface Arrow {
  readonly from: string
  readonly on: string
  readonly to: string
  /** `spec`, or the id of the assumption that it relies on. */
  readonly because: 'spec' | `U${string}` | `T${string}`
}

/**
 * Declares a lifecycle as a table of arrows. States and actions are types: a misspelt one does not compile.
 * @example
 * const hatch = lifecycle([{ from: 'open', on: 'shut', to: 'closed', because: 'spec' }])
 * hatch.move('open', 'shut') // 'closed'
 */
export function lifecycle<const Table extends readonly Arrow[]>(arrows: Table) {
  type State = Table[number]['from'] | Table[number]['to']
  type Action = Table[number]['on']
  const next = (from: State, on: Action): State | undefined =>
    arrows.find((arrow) => arrow.from === from && arrow.on === on)?.to
  return {
    arrows,
    /** The state after the action; undefined when the table has no such arrow. */
    next,
    /** As `next`, but refuses a missing arrow with `conflict` and names the state and the possible actions. */
    move: (from: State, on: Action): State =>
      next(from, on) ?? refuse('conflict', { detail: illegal(arrows, from, on) }),
    /** Whether no arrow leads from a state to another one. */
    terminal: (state: State): boolean => !arrows.some((arrow) => arrow.from === state && arrow.to !== state),
  }
}

function illegal(arrows: readonly Arrow[], from: string, on: string): string {
  const possible = arrows.filter((arrow) => arrow.from === from && arrow.to !== from).map((arrow) => arrow.on)
  const what =
    possible.length === 0 ? 'it is terminal' : `possible from there: ${[...new Set(possible)].join(', ')}`
  return `The action "${on}" is not possible in the state "${from}"; ${what}.`
}
