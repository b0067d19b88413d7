import type { EventHandler } from '../operation.ts'
import type { HandlerScope } from '../request/exchange.ts'
import type { ScheduledEvent } from './scheduler.ts'
import type { PendingWork, TurnLimit } from './turn.ts'

/** Number of pieces that are done at once, so that an event with little to prepare does not wait. */
const PIECES_AT_ONCE = 4

interface PreparationOptions {
  readonly events: ReadonlyMap<string, EventHandler>
  readonly turn: TurnLimit
  readonly scope: () => HandlerScope
  readonly onDefect: (error: unknown) => void
}

/** Prepares future events before they run, in pieces between turns, while the clock waits. */
export class Preparations implements PendingWork {
  readonly isRequesting = false
  readonly #options: PreparationOptions
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(options: PreparationOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#underWay.size === 0
  }

  async whenIdle(): Promise<void> {
    while (!this.isIdle) await Promise.all(this.#underWay.values())
  }

  /** True while an event has to wait for its preparation. The first call for an event begins it. */
  delay(event: ScheduledEvent): boolean {
    if (this.#underWay.has(event.id)) return true
    const { events, scope } = this.#options
    const pieces = events.get(event.kind)?.prepare?.(scope(), event)
    if (pieces === undefined) return false
    for (let done = 0; done < PIECES_AT_ONCE; done++) if (this.#isDone(pieces)) return false
    const work = this.#finish(pieces).finally(() => this.#underWay.delete(event.id))
    this.#underWay.set(event.id, work)
    return true
  }

  async #finish(pieces: Iterator<void, void>): Promise<void> {
    do await this.#options.turn.next()
    while (!this.#isDone(pieces))
  }

  // An event whose preparation fails still runs. Its handler fails, too, if it needs the preparation.
  #isDone(pieces: Iterator<void, void>): boolean {
    try {
      return pieces.next().done === true
    } catch (error) {
      this.#options.onDefect(error)
      return true
    }
  }
}
