import { formatInstant, parseDuration } from '../../../core/time/instant.ts'
import { type AdvanceResult, EventTally, MAX_EVENTS } from '../../../core/time/scheduler.ts'
import type { ClockTarget } from './views/clock.ts'

/**
 * Advances to a target with as many calls as that takes, since one call runs a limited number of events, and joins their
 * results. A limit that the caller has set is kept: one call, and its result says where it stopped.
 */
export async function advanceToTarget(
  call: (target: ClockTarget) => Promise<AdvanceResult>,
  target: ClockTarget,
): Promise<AdvanceResult> {
  if (target.max_events !== undefined) return call(target)
  const first = await call(piece(target))
  let next = rest(target, first)
  if (next === undefined) return first
  const tally = new EventTally()
  tally.addAll(first)
  let { to } = first
  while (next !== undefined) {
    const result = await call(piece(next))
    tally.addAll(result)
    to = result.to
    next = rest(next, result)
  }
  return tally.result({ from: first.from, to })
}

// A call that was stopped does not say how many of its steps it has made, so that none asks for more than the limit.
function piece(target: ClockTarget): ClockTarget {
  return 'steps' in target && target.steps > MAX_EVENTS ? { steps: MAX_EVENTS } : target
}

function rest(target: ClockTarget, { from, stopped }: AdvanceResult): ClockTarget | undefined {
  if ('steps' in target) return target.steps > MAX_EVENTS ? { steps: target.steps - MAX_EVENTS } : undefined
  if (stopped === undefined) return undefined
  // A duration counts from where the first call began.
  if ('by' in target) return { to: formatInstant(Date.parse(from) + (parseDuration(target.by) ?? 0)) }
  return target
}
