import type { AdvanceResult, RanEvent } from './scheduler.ts'

/** Default maximum of events for one request to advance. A running clock may catch up with as many first. */
export const MAX_EVENTS = 100_000

/** Maximum number of events in each list of a result, to bound the size of the response. */
export const MAX_LISTED = 1_000

/** Collects events into the lists of a result; those beyond the maximum are only counted. */
export class EventTally {
  readonly #events: RanEvent[] = []
  readonly #failed: RanEvent[] = []
  readonly #omitted = new Map<string, number>()

  add(event: RanEvent): void {
    const list = event.error === undefined ? this.#events : this.#failed
    if (list.length < MAX_LISTED) list.push(event)
    else this.#omit(event.kind, 1)
  }

  /** Adds the result of a later advance. */
  addAll({ events, failed, omitted = {} }: AdvanceResult): void {
    for (const event of [...events, ...failed]) this.add(event)
    for (const [kind, count] of Object.entries(omitted)) this.#omit(kind, count)
  }

  result(facts: Pick<AdvanceResult, 'from' | 'to' | 'stopped' | 'held'>): AdvanceResult {
    return {
      ...facts,
      events: this.#events,
      failed: this.#failed,
      ...(this.#omitted.size > 0 && { omitted: Object.fromEntries(this.#omitted) }),
    }
  }

  #omit(kind: string, count: number): void {
    this.#omitted.set(kind, (this.#omitted.get(kind) ?? 0) + count)
  }
}
