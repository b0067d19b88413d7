import type { Refusal } from '../errors.ts'
import type { RanEvent } from '../time/scheduler.ts'

/** The listeners of a sandbox. Each `on` function returns one that removes the listener. */
export class Listeners {
  readonly #ofEvents = new Set<(event: RanEvent) => void>()
  readonly #ofReplacements = new Set<() => void>()
  readonly #ofClosing = new Set<() => void>()
  #replacements = 0
  #closedReason: Refusal | undefined

  /** Grows with each replacement of the state. Work that began before a replacement belongs to the earlier state. */
  get replacements(): number {
    return this.#replacements
  }

  /** Why the sandbox is closed; undefined while it is in use. */
  get closedReason(): Refusal | undefined {
    return this.#closedReason
  }

  /** Every event that runs, and every delivery. */
  onEvent(listener: (event: RanEvent) => void): () => void {
    return added(this.#ofEvents, listener)
  }

  /** After the whole state was replaced. */
  onReplaced(listener: () => void): () => void {
    return added(this.#ofReplacements, listener)
  }

  onClosed(listener: () => void): () => void {
    return added(this.#ofClosing, listener)
  }

  event(event: RanEvent): void {
    for (const listener of this.#ofEvents) listener(event)
  }

  replaced(): void {
    this.#replacements += 1
    for (const listener of this.#ofReplacements) listener()
  }

  closed(reason: Refusal): void {
    this.#closedReason = reason
    for (const listener of this.#ofClosing) listener()
  }
}

function added<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
