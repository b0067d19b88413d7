import type { Settings } from '../assumptions.ts'
import { DEFAULT_LIMIT, limitClock, limitOverrides, limitsEnforced } from '../core-assumptions.ts'
import { SECOND } from '../time/instant.ts'

/** How many requests a window admits, and how long the window is. */
export interface Limit {
  readonly limit: number
  /** Length of the window in milliseconds. */
  readonly window: number
}

/** The decision of the limiter about one request; the source of the rate-limit headers. */
export interface Admission {
  readonly admitted: boolean
  readonly limit: number
  /** Requests that the window still admits after this one; never negative. */
  readonly remaining: number
  /** Unix epoch second, rounded up, at which the next place becomes free. */
  readonly reset: number
  /** Seconds until the next place becomes free, rounded up: from 1 to the length of the window. */
  readonly wait: number
  /** `wait` when nothing remains, otherwise undefined. */
  readonly retryAfter?: number | undefined
}

/**
 * The two forms of an instant that headers have (T05). Each is rounded up by itself: a client that waits until either one has
 * waited long enough. So `reset` may be a second later than `now` and `wait` together.
 */
export function roundedUp(instant: number, now: number): Pick<Admission, 'reset' | 'wait'> {
  return {
    reset: Math.ceil(instant / SECOND),
    wait: Math.max(1, Math.ceil((instant - now) / SECOND)),
  }
}

/** The decision about a request that tried to take a place. `free`: places that were free before it; never negative. */
export interface Admitted extends Admission {
  readonly free: number
}

/** One window as it is saved and shown. Instants are milliseconds since the Unix epoch, oldest first. */
export interface SavedWindow {
  readonly id: string
  readonly hits: readonly number[]
}

/** One policy as the RateLimit fields describe it. Times are in seconds; counts are not negative. */
export interface PolicyState {
  readonly policy: string
  readonly limit: number
  readonly remaining: number
  /** Seconds until more is admitted. */
  readonly wait: number
  /** Seconds of the window, where the policy has one. */
  readonly window?: number | undefined
  /** What the quota counts; requests when absent. */
  readonly unit?: string | undefined
}

// With this number of windows or more, expired ones are dropped before another is created.
const MANY = 10_000

/**
 * Exact sliding windows: a request is admitted when fewer than `limit` requests were admitted in the `window` before it.
 * A refused request is not recorded (T04), so the next place that frees is that of the oldest admitted request, and
 * `retryAfter` is the shortest wait that is enough (T05). Callers pass the time as `now`, in milliseconds.
 */
export class RateLimiter {
  readonly #windows = new Map<string, number[]>()

  /**
   * Takes a place, or refuses when none is free. With `enforce` off it counts, but never refuses: `remaining` is at least 1
   * and there is no `retryAfter`, because clients would wait for it.
   */
  admit(key: string, { limit, window }: Limit, now: number, enforce = true): Admitted {
    const hits = this.#live(key, window, now)
    const free = Math.max(0, limit - hits.length)
    if (free > 0 || !enforce) {
      if (free === 0) hits.shift()
      hits.push(now)
    }
    return { free, ...admission(free > 0 || !enforce, limit, hits, window, now, enforce ? 0 : 1) }
  }

  /** Gives back a place that was taken at an instant. */
  release(key: string, taken: number): void {
    const hits = this.#windows.get(key) ?? []
    const index = hits.lastIndexOf(taken)
    if (index !== -1) hits.splice(index, 1)
  }

  /** The decision about a request at this instant, without taking a place. */
  peek(key: string, { limit, window }: Limit, now: number): Admission {
    const hits = this.#live(key, window, now)
    return admission(hits.length < limit, limit, hits, window, now)
  }

  /** Leaves exactly `remaining` places: removes the oldest requests, or adds requests at this instant. */
  fill(key: string, { limit, window }: Limit, now: number, remaining: number): void {
    const hits = this.#live(key, window, now)
    hits.splice(0, Math.max(0, hits.length - (limit - remaining)))
    while (hits.length < limit - remaining) hits.push(now)
  }

  /** Every window with hits, as data. */
  save(): SavedWindow[] {
    return [...this.#windows]
      .filter(([, hits]) => hits.length > 0)
      .map(([id, hits]) => ({ id, hits: [...hits] }))
  }

  /** Replaces all windows by saved ones. */
  load(windows: Iterable<SavedWindow>): void {
    this.#windows.clear()
    for (const { id, hits } of windows) this.#windows.set(id, [...hits])
  }

  // Callers choose the keys freely: without this, expired windows could fill the memory.
  #prune(window: number, now: number): void {
    for (const [key, hits] of this.#windows) {
      if ((hits.at(-1) ?? 0) + window <= now) this.#windows.delete(key)
    }
  }

  // The window is half-open: a request leaves it exactly `window` milliseconds after it was admitted.
  #live(key: string, window: number, now: number): number[] {
    let hits = this.#windows.get(key)
    if (hits === undefined) {
      if (this.#windows.size >= MANY) this.#prune(window, now)
      hits = []
      this.#windows.set(key, hits)
    }
    // Requests with a later instant were counted by the other clock (limits.clock), so they do not count here.
    while ((hits.at(-1) ?? now) > now) hits.pop()
    let gone = 0
    while (gone < hits.length && (hits[gone] ?? now) + window <= now) gone += 1
    if (gone > 0) hits.splice(0, gone)
    return hits
  }
}

/** A rate window as a request found it, at an instant in milliseconds. */
export interface FoundWindow {
  readonly key: string
  readonly limit: Limit
  readonly at: number
  readonly admission: Admitted
}

/** The rate limits of a sandbox: its windows, and the settings about them. */
export class Limits {
  readonly windows = new RateLimiter()
  readonly #clock: { readonly now: number; readonly host: () => number }
  #limits: ReadonlyMap<string, Limit> = new Map()
  #isVirtual = true
  #areEnforced = true

  constructor(clock: { readonly now: number; readonly host: () => number }) {
    this.#clock = clock
  }

  /** Follows changed settings. @param enforce whether full windows refuse when no setting decides it */
  follow(settings: Settings, enforce: boolean): void {
    this.#isVirtual = settings.get(limitClock) === 'virtual'
    this.#areEnforced = settings.get(limitsEnforced) ?? enforce
    this.#limits = new Map(
      settings
        .get(limitOverrides)
        .map(({ operation, limit, window_s }) => [operation, { limit, window: window_s * SECOND }]),
    )
  }

  /** The limit of an operation. */
  of(operation: string): Limit {
    return this.#limits.get(operation) ?? DEFAULT_LIMIT
  }

  /** Whether a full rate window refuses. */
  get areEnforced(): boolean {
    return this.#areEnforced
  }

  /** The time that rate windows go by (T07). */
  get now(): number {
    return this.#isVirtual ? this.#clock.now : this.#clock.host()
  }

  /** Takes a place in a window of an operation, or refuses when none is free. */
  admit(key: string, operation: string): FoundWindow {
    const [limit, at] = [this.of(operation), this.now]
    return { key, limit, at, admission: this.windows.admit(key, limit, at, this.#areEnforced) }
  }

  /** Gives back the place of a request that another rule refuses with 429, so that it does not count (T04). */
  release({ key, limit, at, admission: { free } }: FoundWindow): FoundWindow {
    this.windows.release(key, at)
    return { key, limit, at, admission: { free, ...this.windows.peek(key, limit, at) } }
  }

  /** The decision for a request that takes no place, such as one without a known key or route, which belongs to no window (T06). */
  untouched(operation: string): Admission {
    const { limit, window } = this.of(operation)
    return admission(true, limit, [], window, this.now)
  }
}

/** `structured`: the syntax of the current draft; `draft_07`: parameters, as in the draft up to version 7. */
export type PolicySyntax = 'structured' | 'draft_07'

/**
 * The header fields RateLimit-Policy and RateLimit. By default they are structured fields (RFC 9651), as in the current IETF
 * draft on RateLimit header fields (U064). Numbers are rounded up to integers from 0 to 15 digits, the bounds of such fields.
 */
export function policyFields(state: PolicyState, syntax: PolicySyntax = 'structured'): [string, string][] {
  const { policy, limit, remaining, wait, window, unit } = state
  const name = `"${policy.replaceAll(/[\\"]/g, '\\$&')}"`
  const span = window === undefined ? '' : `;w=${integer(window)}`
  const counts = unit === undefined ? '' : `;qu="${unit}"`
  if (syntax === 'draft_07')
    return [
      ['RateLimit-Policy', `${integer(limit)}${span}`],
      ['RateLimit', `limit=${integer(limit)}, remaining=${integer(remaining)}, reset=${integer(wait)}`],
    ]
  return [
    ['RateLimit-Policy', `${name};q=${integer(limit)}${counts}${span}`],
    ['RateLimit', `${name};r=${integer(remaining)};t=${integer(wait)}`],
  ]
}

function integer(value: number): number {
  return Math.min(999_999_999_999_999, Math.max(0, Math.ceil(value)))
}

function admission(
  admitted: boolean,
  limit: number,
  hits: readonly number[],
  window: number,
  now: number,
  least = 0,
): Admission {
  const remaining = Math.max(least, limit - hits.length)
  const frees = (hits[hits.length - limit] ?? hits[0] ?? now) + window
  const { reset, wait } = roundedUp(frees, now)
  return { admitted, limit, remaining, reset, wait, retryAfter: remaining > 0 ? undefined : wait }
}
