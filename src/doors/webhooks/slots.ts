/** How many requests of one process may be under way at the same time, shared by the couriers of all its worlds. */
export class Slots {
  #free: number
  /** Who found none free, in order. */
  readonly #waiting = new Set<() => void>()

  constructor(count = 20) {
    this.#free = count
  }

  /** Takes a slot, or has `wake` called, once, when one is free again; it takes part anew then. */
  take(wake: () => void): boolean {
    if (this.#free === 0) {
      this.#waiting.add(wake)
      return false
    }
    this.#free -= 1
    return true
  }

  give(): void {
    this.#free += 1
    this.pass()
  }

  /** Wakes the next one who waits. To be called, too, by whoever was woken and has no use for the slot. */
  pass(): void {
    if (this.#free === 0) return
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }

  /** Somebody waits no longer. */
  forget(wake: () => void): void {
    this.#waiting.delete(wake)
    this.pass()
  }
}
