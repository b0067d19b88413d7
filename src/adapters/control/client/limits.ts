import type { Ask } from './ask.ts'
import type { List } from './views/list.ts'

/** A window in which requests are counted. */
export interface LimitWindow {
  /** Teamspace and operation. */
  readonly key: string
  readonly operation: string | null
  readonly limit: number
  /** Seconds. */
  readonly window_s: number
  readonly used: number
  readonly remaining: number
  /** Virtual instant of the oldest request in it. */
  readonly oldest_at: string
  /** When a place becomes free. */
  readonly reset_at: string
}

/** An operation with a limit of its own. */
export interface LimitOverride {
  readonly operation: string
  readonly limit: number
  readonly window_s: number
}

/** The windows that hold requests, and the limits that differ from the default. */
export interface LimitList extends List<LimitWindow> {
  readonly overrides: readonly LimitOverride[]
  /** Whether a full window refuses. */
  readonly enforced: boolean
  /** Which clock the windows go by. */
  readonly clock: 'virtual' | 'wall'
}

/** A limit: 1 to 100,000 requests in 1 to 86,400 seconds (60 when left out). */
export interface LimitDraft {
  readonly limit: number
  readonly window_s?: number | undefined
}

/** How far a window is to be used up. */
export interface LimitFill {
  /** So many requests are still let through. */
  readonly remaining: number
  /** Absent: in every teamspace. */
  readonly teamspace_id?: string | undefined
}

/** Rate limits. Specification: Limits / Rate limits. */
export interface SandboxLimits {
  list(): Promise<LimitList>
  /** Gives an operation a limit of its own. @returns all that differ from the default */
  set(operation: string, limit: LimitDraft): Promise<List<LimitOverride>>
  /** Uses up the windows of an operation. @returns those that were filled */
  fill(operation: string, fill: LimitFill): Promise<List<LimitWindow>>
}

export function limitsOver(ask: Ask): SandboxLimits {
  return {
    list: () => ask('GET /limits'),
    set: (operation, limit) => ask('PUT /limits/{operation}', { params: { operation }, body: limit }),
    fill: (operation, fill) => ask('POST /limits/{operation}/fill', { params: { operation }, body: fill }),
  }
}
