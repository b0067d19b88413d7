import { hostTime } from '../../kernel/time/clock.ts'
import type { Later } from '../realtime.ts'
import { reasonOf } from './files.ts'

/** The least time between the first change and its checkpoint, in milliseconds: changes that come together share one. */
const QUIET = 50
/** A checkpoint that took so long may come again after this many times as long: a tenth of the time at most. */
const REST = 9
const FIRST_RETRY = 1000
const LAST_RETRY = 60_000
/** How many bytes a checkpoint is expected to write in a millisecond, before the first one has been measured. */
const EXPECTED_SPEED = 100_000

export interface CheckpointerOptions {
  /** Writes one checkpoint of the present state; the milliseconds that it was busy. */
  readonly write: () => Promise<number>
  readonly later: Later
  /** Told of the first failure in a row. */
  readonly onFailure: (reason: string) => void
  /** Success after a failure. */
  readonly onRecovery: () => void
  /** Size of the state file at the start, in bytes. */
  readonly size: number
}

/** Decides when checkpoints are written: soon after a change, seldom enough not to be felt, one at a time. */
export class Checkpointer {
  readonly #options: CheckpointerOptions
  #busy: number
  #finished = hostTime()
  #failures = 0
  #dirty = false
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #stopped = false

  constructor(options: CheckpointerOptions) {
    this.#options = options
    this.#busy = options.size / EXPECTED_SPEED
  }

  /** Something has changed. */
  changed(): void {
    this.#dirty = true
    if (this.#running === undefined && this.#cancel === undefined && !this.#stopped) this.#schedule()
  }

  /** Something has changed that does not wait its turn. */
  urge(): void {
    if (this.#running !== undefined || this.#stopped) this.#dirty = true
    else this.#run().catch(() => {})
  }

  /** Writes a checkpoint that contains everything so far. Rejects when it fails; it is tried again then all the same. */
  now(): Promise<void> {
    if (this.#running === undefined) return this.#run()
    // The one under way may have copied the state before the last change.
    this.#next ??= this.#running.catch(() => {}).then(() => this.#running ?? this.#run())
    return this.#next
  }

  /** Writes none of its own accord any more; resolves when the one under way is over. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unschedule()
    await this.#running?.catch(() => {})
  }

  #schedule(): void {
    this.#cancel = this.#options.later(this.#delay(), () => {
      this.#cancel = undefined
      // Its failure has been reported, and another try is under way.
      this.#run().catch(() => {})
    })
  }

  #delay(): number {
    if (this.#failures > 0) return Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (this.#failures - 1))
    const rested = Math.max(0, hostTime() - this.#finished)
    return Math.max(QUIET, Math.ceil(this.#busy * REST - rested))
  }

  #run(): Promise<void> {
    this.#unschedule()
    this.#next = undefined
    this.#dirty = false
    // In a later microtask, so that whatever happens in it finds it under way.
    this.#running = Promise.resolve()
      .then(() => this.#write())
      .finally(() => {
        this.#running = undefined
        if (this.#dirty && !this.#stopped) this.#schedule()
      })
    return this.#running
  }

  async #write(): Promise<void> {
    try {
      this.#busy = await this.#options.write()
    } catch (error) {
      this.#failures += 1
      this.#dirty = true
      if (this.#failures === 1) this.#options.onFailure(reasonOf(error))
      throw error
    } finally {
      this.#finished = hostTime()
    }
    if (this.#failures > 0) this.#options.onRecovery()
    this.#failures = 0
  }

  #unschedule(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
