import { formatInstant, parseDuration } from '../../../core/time/instant.ts'
import { type AdvanceResult, EventTally, type FutureEvent, MAX_EVENTS } from '../../../core/time/scheduler.ts'
import type { ClockChange, ClockView } from '../routes/clock.ts'
import { type Ask, entriesOf, refuseUnknownOptions } from './ask.ts'

/** How far time is to pass: exactly one of the four. `Goal`: what a resource knows of its records. */
export type TargetOf<Goal> = (
  | /** A duration such as `90s`, `24h`, `29d` or `PT24H`. */ { readonly by: string }
  /** An instant, ISO 8601 with a zone. */
  | { readonly to: string }
  /** This number of events. */
  | { readonly steps: number }
  | { readonly until: Goal }
) & {
  /** Stop after this number of events, 1 to 1,000,000; the result then says `stopped: 'limit'` and how far time has come. */
  readonly max_events?: number | undefined
}

/** How an advance can be ended. */
export interface AdvanceOptions {
  /** Ends the advance at the instant that time has come to; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The virtual clock of a sandbox. */
export interface ClockOf<Goal> {
  show(): Promise<ClockView>
  /**
   * Lets time pass and resolves when all that is due has happened, webhooks included. It goes on to the target however many
   * events that takes, unless `max_events` says where to stop. Rejects with `conflict` during another advance.
   * @param target a duration (`'24h'`), or an object that says how far
   */
  advance(target: string | TargetOf<Goal>, options?: AdvanceOptions): Promise<AdvanceResult>
  /** Changes how time passes, or moves the clock forward. Rejects with `conflict` for an instant that is over. */
  set(change: ClockChange): Promise<ClockView>
  /** Every future event, in the order in which they will happen. */
  horizon(): Promise<readonly FutureEvent[]>
}

export function clockOver<Goal>(ask: Ask): ClockOf<Goal> {
  return {
    show: () => ask('GET /clock'),
    advance: async (target, options = {}) => {
      refuseUnknownOptions('clock.advance()', options, ['signal'])
      const { signal } = options
      const call = (body: TargetOf<Goal>) => ask('POST /clock/advance', { body, signal })
      return advanceToTarget(call, typeof target === 'string' ? { by: target } : target)
    },
    set: (change) => ask('PATCH /clock', { body: change }),
    horizon: () => entriesOf(ask('GET /clock/horizon')),
  }
}

/**
 * Advances to a target with as many calls as that takes, since one call runs a limited number of events, and joins their
 * results. A limit that the caller has set is kept: one call, and its result says where it stopped.
 */
export async function advanceToTarget<Goal>(
  call: (target: TargetOf<Goal>) => Promise<AdvanceResult>,
  target: TargetOf<Goal>,
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

// A call that was stopped does not say how many of its steps it has made, so none asks for more than the limit.
function piece<Goal>(target: TargetOf<Goal>): TargetOf<Goal> {
  return 'steps' in target && target.steps > MAX_EVENTS ? { steps: MAX_EVENTS } : target
}

function rest<Goal>(target: TargetOf<Goal>, { from, stopped }: AdvanceResult): TargetOf<Goal> | undefined {
  if ('steps' in target) return target.steps > MAX_EVENTS ? { steps: target.steps - MAX_EVENTS } : undefined
  if (stopped === undefined) return undefined
  // A duration counts from where the first call began.
  if ('by' in target) return { to: formatInstant(Date.parse(from) + (parseDuration(target.by) ?? 0)) }
  return target
}
