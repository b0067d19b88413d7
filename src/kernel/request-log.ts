import type { Caller } from './auth.ts'
import type { Commit } from './commit.ts'
import type { Admission } from './rate-limiter.ts'

/** What happened to one API request, in order: the raw material of every explanation. */
export interface LogEntry {
  readonly id: string
  /** Virtual instant. */
  readonly at: string
  readonly method: string
  readonly path: string
  /** Name of the operation; undefined when no route matched. */
  readonly operation: string | undefined
  readonly status: number
  /** The step that decided the answer: `handle` when it succeeded. */
  readonly decided: string
  readonly caller: Caller | undefined
  readonly admission: Admission
  readonly idempotency: 'none' | 'fresh' | 'replay' | 'conflict'
  readonly error: { readonly code: string; readonly detail: string } | undefined
  /** Every ledger item that the answer rests on, the universal ones too. */
  readonly assumed: readonly string[]
  /** What the request changed; references to the records, never copies. */
  readonly commit: Commit | undefined
}

/** The newest entries, oldest first; older ones are dropped and counted. */
export class RequestLog {
  readonly capacity: number
  #entries: LogEntry[] = []
  #first = 0
  #dropped = 0

  constructor(capacity = 1_000) {
    this.capacity = capacity
  }

  get dropped(): number {
    return this.#dropped
  }

  add(entry: LogEntry): void {
    if (this.#entries.length < this.capacity) {
      this.#entries.push(entry)
      return
    }
    this.#entries[this.#first] = entry
    this.#first = (this.#first + 1) % this.capacity
    this.#dropped += 1
  }

  /** Oldest first. */
  entries(): LogEntry[] {
    return [...this.#entries.slice(this.#first), ...this.#entries.slice(0, this.#first)]
  }

  clear(): void {
    this.#entries = []
    this.#first = 0
    this.#dropped = 0
  }
}
