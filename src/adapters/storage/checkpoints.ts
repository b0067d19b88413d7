import { Refusal } from '../../core/errors.ts'
import { hostTime } from '../../core/time/clock.ts'
import type { Cancel, Later } from '../../core/time/realtime.ts'
import { attempt, errorMessage } from './files.ts'

/** Milliseconds between a change and its checkpoint: changes that come together share one. */
const QUIET = 50
/** The pause after a checkpoint, as a multiple of its duration: checkpoints take at most a fiftieth of the time. */
const REST = 49
/** Milliseconds between a failed checkpoint and the next try. The wait doubles with each failure in a row. */
const FIRST_RETRY = 1000
/** The longest wait before a retry, in milliseconds. */
const LAST_RETRY = 60_000

interface CheckpointsOptions {
  /** Writes one checkpoint. @returns whether it was written; false while an edit waits in the file */
  readonly write: () => boolean
  readonly later: Later
  /** Called for the first failure in a row. */
  readonly onFailure: (reason: string) => void
  /** Called for the first success after a failure. */
  readonly onRecovery: () => void
}

/** Decides when checkpoints are written: soon after a change, with pauses in which requests are fast. */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  #busy = 0
  #finished = 0
  #failures = 0
  #cancel: Cancel | undefined
  #isStopped = false

  constructor(options: CheckpointsOptions) {
    this.#options = options
  }

  /** Call it after a change of the state. A checkpoint follows. */
  changed(): void {
    if (this.#cancel !== undefined || this.#isStopped) return
    this.#cancel = this.#options.later(this.#delay(), () => {
      this.#cancel = undefined
      this.try()
    })
  }

  /** Writes a checkpoint now. Throws when it fails; it is then tried again later. */
  now(): void {
    this.#unschedule()
    const began = hostTime()
    try {
      if (!this.#options.write()) this.changed()
    } catch (error) {
      this.#failures += 1
      this.changed()
      // The loss of the lock has been reported, and the journal of this path may be that of another process.
      if (this.#failures === 1 && !(error instanceof Refusal)) this.#options.onFailure(errorMessage(error))
      throw error
    } finally {
      this.#finished = hostTime()
      this.#busy = Math.max(0, this.#finished - began)
    }
    if (this.#failures > 0) this.#options.onRecovery()
    this.#failures = 0
  }

  /** As {@link now}, but a failure is only reported. */
  try(): void {
    // It has been reported, and the next try is planned.
    attempt(() => this.now())
  }

  stop(): void {
    this.#isStopped = true
    this.#unschedule()
  }

  #delay(): number {
    if (this.#failures > 0) return Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (this.#failures - 1))
    const rested = Math.max(0, hostTime() - this.#finished)
    return Math.max(QUIET, Math.ceil(this.#busy * REST - rested))
  }

  #unschedule(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}
