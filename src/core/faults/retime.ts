import type { When } from './rule.ts'

/** The parts of `when` by which matches are told that fire from those that do not. */
export const TIMINGS = ['nth', 'first', 'after', 'every', 'probability'] as const

type Timing = Pick<When, (typeof TIMINGS)[number]>

/** What of its timing somebody wants otherwise of a ready-made rule. */
export interface Retiming extends Timing, Pick<When, 'by'> {}

/**
 * The timing of a preset with what is wanted otherwise. Of two timings the wanted one stands alone: every second match that
 * is also the first would never come. What it counts by stays unless that is wanted otherwise, too.
 * @param isLimited whether it is said how often the rule may fire in all; then a preset that fires once fires as often as that
 */
export function retimed(own: When, wanted: Retiming, isLimited = false): When {
  const { nth, first, after, every, probability, by: ownBy, ...others } = own
  const timing = timingIn(wanted)
  const by = wanted.by ?? ownBy
  const counted = by === undefined ? {} : { by }
  if (Object.keys(timing).length > 0) return { ...others, ...timing, ...counted }
  return isLimited && firesOnce(own) ? { ...others, ...counted } : { ...own, ...counted }
}

/** Whether all that a timing says is that one match fires. */
function firesOnce(when: When): boolean {
  const { nth, ...others } = timingIn(when)
  return nth === 1 && when.by === undefined && Object.keys(others).length === 0
}

/** Whether a rule says which matches fire, or what they are counted by. */
export function isTimed(when: When): boolean {
  return when.by !== undefined || Object.keys(timingIn(when)).length > 0
}

function timingIn(when: Timing): Timing {
  return Object.fromEntries(TIMINGS.flatMap((name) => (when[name] === undefined ? [] : [[name, when[name]]])))
}
