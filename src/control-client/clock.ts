import { EventTally, MAX_EVENTS } from '../core/time/event-tally.ts'
import { formatInstant, parseDuration } from '../core/time/instant.ts'
import type { AdvanceResult, FutureEvent } from '../core/time/scheduler.ts'
import type { ClockChange, ClockView, LatestAdvance } from '../server/control/routes/clock.ts'
import { type CallControl, dataOf, refuseUnknownOptions } from './ask.ts'

/** The target of an advance: exactly one of the four fields. `Goal`: the state of a record that a resource can wait for. */
export type TargetOf<Goal> = (
  | /** A duration such as `90s`, `24h`, `29d` or `PT24H`. */ { readonly by: string }
  /** An instant, ISO 8601 with a zone. */
  | { readonly to: string }
  /** This number of events, at least 1. */
  | { readonly steps: number }
  | { readonly until: Goal }
) & {
  /**
   * Stop after this number of events, 1 to 1,000,000. The result then has `stopped: 'limit'`, and `to` is the reached instant.
   */
  readonly max_events?: number | undefined
  /** With `until`: stop at this instant, ISO 8601 with a zone. The result then has `stopped: 'limit'`. */
  readonly max_to?: string | undefined
}

/** Options of an advance. */
export interface AdvanceOptions {
  /** Ends the advance at the instant that it has reached. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The virtual clock of a sandbox. */
export type ClockOf<Goal> = ReturnType<typeof clockOver<Goal>>

export function clockOver<Goal>(ask: CallControl) {
  return {
    show: (): Promise<ClockView> => ask('GET /clock'),
    /**
     * Advances the clock, and resolves when all due events have run, webhooks included. It runs any number of events up to the
     * target, unless `max_events` sets a limit. Rejects with `conflict` during another advance.
     * @param target a duration (`'24h'`), or an object with one target
     */
    advance: async (
      target: string | TargetOf<Goal>,
      options: AdvanceOptions = {},
    ): Promise<AdvanceResult> => {
      refuseUnknownOptions('clock.advance()', options, ['signal'])
      const { signal } = options
      const call = (body: TargetOf<Goal>) => ask('POST /clock/advance', { body, signal })
      return advanceToTarget(call, typeof target === 'string' ? { by: target } : target)
    },
    /** The running advance up to now, or the last one, whoever has requested it. */
    latestAdvance: (): Promise<LatestAdvance> => ask('GET /clock/advance'),
    /** Changes how time passes, or moves the clock forward. Rejects with `conflict` for an instant in the past. */
    set: (change: ClockChange): Promise<ClockView> => ask('PATCH /clock', { body: change }),
    /** Every future event, in the order in which they will happen. */
    horizon: (): Promise<readonly FutureEvent[]> => dataOf(ask('GET /clock/horizon')),
  }
}

/**
 * Advances to a target and joins the results of its calls: by default, one call runs at most 100,000 events. With `max_events`
 * there is one call, and its result shows where it stopped.
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
  let { to, stopped } = first
  while (next !== undefined) {
    const result = await call(piece(next))
    tally.addAll(result)
    ;({ to, stopped } = result)
    next = rest(next, result)
  }
  return tally.result({ from: first.from, to, ...(stopped && { stopped }) })
}

// The result of a stopped call does not contain the number of its steps, so no call requests more steps than the limit.
function piece<Goal>(target: TargetOf<Goal>): TargetOf<Goal> {
  return 'steps' in target && target.steps > MAX_EVENTS ? { steps: MAX_EVENTS } : target
}

function rest<Goal>(
  target: TargetOf<Goal>,
  { from, to, stopped }: AdvanceResult,
): TargetOf<Goal> | undefined {
  if ('steps' in target) return target.steps > MAX_EVENTS ? { steps: target.steps - MAX_EVENTS } : undefined
  if (stopped === undefined || isAtLimit(target, to)) return undefined
  // A duration counts from the start of the first call.
  if ('by' in target) return { to: formatInstant(Date.parse(from) + (parseDuration(target.by) ?? 0)) }
  return target
}

function isAtLimit<Goal>({ max_to }: TargetOf<Goal>, to: string): boolean {
  return max_to !== undefined && Date.parse(to) >= Date.parse(max_to)
}
