import { type Action, allOf, type CutFault, type Stage } from './actions.ts'

/** Where an exchange stops, and how: cut, or stalled for a time that is bounded. */
export interface Stop {
  readonly at: Stage
  readonly how: CutFault['how'] | 'stall'
}

/** Every stop that some actions name: the cuts in their order, then the stalls. */
export function stopsOf(actions: readonly Action[]): Stop[] {
  const cuts = allOf(actions, 'cut')
  const stalls = allOf(actions, 'pace').flatMap(({ stall_at }) => (stall_at === undefined ? [] : [stall_at]))
  return [...cuts, ...stalls.map((at) => ({ at, how: 'stall' }) as const)]
}
