import { type Action, type CutFault, only, type Stage } from './actions.ts'

/** Where an exchange stops, and how: cut, or stalled for a time that is bounded. */
export interface Stop {
  readonly at: Stage
  readonly how: CutFault['how'] | 'stall'
}

/** Every stop that some actions name: the cuts in their order, then the stalls. */
export function stopsOf(actions: readonly Action[]): Stop[] {
  const cuts = only(actions, 'cut')
  const stalls = only(actions, 'pace').flatMap(({ stall_at }) => (stall_at === undefined ? [] : [stall_at]))
  return [...cuts, ...stalls.map((at) => ({ at, how: 'stall' }) as const)]
}
