import type { AdvanceResult } from '../../../core/time/scheduler.ts'
import { advanceToTarget } from './advance.ts'
import type { Ask } from './ask.ts'
import { refuseUnknownOptions } from './known-options.ts'
import type { ClockChange, ClockTarget, ClockView, FutureEvent } from './views/clock.ts'
import type { List } from './views/list.ts'

/** How an advance can be ended. */
export interface AdvanceOptions {
  /** Ends the advance where time has come to; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The virtual clock of a sandbox. */
export interface SandboxClock {
  show(): Promise<ClockView>
  /**
   * Lets time pass and resolves when everything that falls due has happened, webhooks included. However much that is, it goes
   * on to the target, unless `max_events` says where to stop. Rejects with `conflict` while another advance is under way.
   * @param target a duration (`'24h'`), or a {@link ClockTarget}
   */
  advance(target: string | ClockTarget, options?: AdvanceOptions): Promise<AdvanceResult>
  /** Changes how time passes, or moves the clock forward. Rejects with `conflict` for an instant that is over. */
  set(change: ClockChange): Promise<ClockView>
  /** Every future event, in the order in which they will happen. */
  horizon(): Promise<List<FutureEvent>>
}

export function clockOver(ask: Ask): SandboxClock {
  return {
    show: () => ask('GET /clock'),
    advance: async (target, options = {}) => {
      refuseUnknownOptions('clock.advance()', options, ['signal'])
      const { signal } = options
      const call = (body: ClockTarget) => ask('POST /clock/advance', { body, signal })
      return advanceToTarget(call, typeof target === 'string' ? { by: target } : target)
    },
    set: (change) => ask('PATCH /clock', { body: change }),
    horizon: () => ask('GET /clock/horizon'),
  }
}
