/** The decision of a window about one request. Times are in seconds: of the Unix epoch, and from now. */
export interface Verdict {
  readonly admitted: boolean
  readonly remaining: number
  readonly reset: number
  readonly retryAfter: number | undefined
}

/** A sliding window by its definition: it keeps all admitted requests and counts them again each time. */
export class ReferenceWindow {
  readonly admitted: number[] = []
  readonly #limit: number
  readonly #window: number

  constructor(limit: number, window: number) {
    this.#limit = limit
    this.#window = window
  }

  ask(now: number): Verdict {
    const admitted = this.#inside(now).length < this.#limit
    if (admitted) this.admitted.push(now)
    const inside = this.#inside(now)
    // The instant at which an admitted request has left the window; there is always one, at least the present request.
    const frees = Math.min(...inside.map((each) => each + this.#window))
    const reset = Math.ceil(frees / 1000)
    const remaining = this.#limit - inside.length
    const retryAfter = remaining > 0 ? undefined : Math.max(1, Math.ceil((frees - now) / 1000))
    return { admitted, remaining, reset, retryAfter }
  }

  #inside(now: number): readonly number[] {
    return this.admitted.filter((each) => each > now - this.#window && each <= now)
  }
}

/** The largest number of requests admitted in any span as long as the window; `admitted` is in order. */
export function mostInAnySpan(admitted: readonly number[], window: number): number {
  let most = 0
  let first = 0
  for (const [n, at] of admitted.entries()) {
    while ((admitted[first] ?? at) <= at - window) first += 1
    most = Math.max(most, n - first + 1)
  }
  return most
}
