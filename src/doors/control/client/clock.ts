import type { Receipt } from '../../../kernel/time/receipt.ts'
import type { Ask } from './ask.ts'
import type { ClockChange, ClockTarget, ClockView, FutureEvent } from './views/clock.ts'
import type { List } from './views/list.ts'

/** The virtual clock of a world. */
export interface WorldClock {
  show(): Promise<ClockView>
  /**
   * Lets time pass and resolves when everything that falls due has happened, webhooks included.
   * @param target a duration (`'24h'`), or a {@link ClockTarget}
   */
  advance(target: string | ClockTarget): Promise<Receipt>
  /** Changes how time passes, or moves the clock forward. Rejects with `conflict` for an instant that is over. */
  set(change: ClockChange): Promise<ClockView>
  /** Every future event, in the order in which they will happen. */
  horizon(): Promise<List<FutureEvent>>
}

export function clockOver(ask: Ask): WorldClock {
  return {
    show: () => ask('GET /clock'),
    advance: (target) =>
      ask('POST /clock/advance', { body: typeof target === 'string' ? { by: target } : target }),
    set: (change) => ask('PATCH /clock', { body: change }),
    horizon: () => ask('GET /clock/horizon'),
  }
}
