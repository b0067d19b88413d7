import type { SavedWindow } from '../../core/request/rate-limiter.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { countRecords } from '../../core/state/state.ts'
import { elapsedTime, hostTime } from '../../core/time/clock.ts'
import type { Later } from '../realtime.ts'
import { errorMessage } from './files.ts'
import { shortList } from './notice.ts'

/** Milliseconds between a change and its checkpoint: changes that come together share one. */
const QUIET = 50
/** The pause after a checkpoint, as a multiple of its duration: checkpoints take at most a twentieth of the time. */
const REST = 19
/** Milliseconds between a failed checkpoint and the next try. The wait doubles with each failure in a row. */
const FIRST_RETRY = 1000
/** The longest wait before a retry, in milliseconds. */
const LAST_RETRY = 60_000
/** Bytes that a checkpoint is expected to write in a millisecond, until one has been measured. */
const EXPECTED_SPEED = 100_000

interface CheckpointerOptions {
  /** Writes one checkpoint of the present state. Resolves with the milliseconds that it took. */
  readonly write: () => Promise<number>
  readonly later: Later
  /** Called for the first failure in a row. */
  readonly onFailure: (reason: string) => void
  /** Called for the first success after a failure. */
  readonly onRecovery: () => void
  /** Size of the state file at the start, in bytes. */
  readonly size: number
}

/** Decides when checkpoints are written: soon after a change, one at a time, with pauses in which requests are fast. */
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

  /** Milliseconds that the last checkpoint took, or that the first one is expected to take. */
  get busy(): number {
    return this.#busy
  }

  /** Call it after a change of the state. A checkpoint follows. */
  changed(): void {
    this.#dirty = true
    if (this.#running === undefined && this.#cancel === undefined && !this.#stopped) this.#schedule()
  }

  /** Begins a checkpoint now. If one is in progress, another one follows after the usual pause. */
  urge(): void {
    if (this.#running !== undefined || this.#stopped) this.#dirty = true
    else this.#run().catch(() => {})
  }

  /** Writes a checkpoint that contains all changes so far. Rejects when it fails; it is then tried again later. */
  now(): Promise<void> {
    if (this.#running === undefined) return this.#run()
    // The checkpoint in progress may have copied the state before the last change.
    this.#next ??= this.#running.catch(() => {}).then(() => this.#running ?? this.#run())
    return this.#next
  }

  /** Begins no more checkpoints. Resolves when the one in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unschedule()
    await this.#running?.catch(() => {})
  }

  #schedule(): void {
    this.#cancel = this.#options.later(this.#delay(), () => {
      this.#cancel = undefined
      // The failure has been reported, and the next try is planned.
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
    // In a later microtask, so that #running is set before it begins.
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
      if (this.#failures === 1) this.#options.onFailure(errorMessage(error))
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

/** Maximum milliseconds for the last checkpoints of a process together. */
const EXIT_TIME = 1_000

/** The time that one file may take. */
interface ExitShare {
  /** Milliseconds after which the checkpoint must be given up. */
  readonly ms: number
  end(isGivenUp: boolean): void
}

/**
 * Distributes the time for the last checkpoints of a process. A sandbox that gets no time keeps its present checkpoint and
 * journal: together they contain all changes.
 */
export class ExitBudget {
  readonly #now: () => number
  readonly #ms: number
  #began: number | undefined
  #underWay = 0
  readonly #left: string[] = []

  /** @param now monotonic milliseconds; tests set both parameters */
  constructor(now: () => number = elapsedTime, ms = EXIT_TIME) {
    this.#now = now
    this.#ms = ms
  }

  /**
   * Reserves time for a file. The first call starts the clock. The expected times of all checkpoints in progress are added up,
   * because large checkpoints share one processor.
   * @param expected milliseconds
   * @returns undefined when there is no time
   */
  take(file: string, expected: number): ExitShare | undefined {
    this.#began ??= this.#now()
    const ms = this.#ms - (this.#now() - this.#began)
    if (this.#underWay + expected > ms) {
      this.#left.push(file)
      return undefined
    }
    this.#underWay += expected
    return {
      ms,
      end: (isGivenUp) => {
        this.#underWay -= expected
        if (isGivenUp) this.#left.push(file)
      },
    }
  }

  /** A message with the files that got too little time; undefined when there are none. */
  get message(): string | undefined {
    if (this.#left.length === 0) return undefined
    return `${shortList(this.#left, ', ')}: no last checkpoint was written, because that would have taken more than ${EXIT_TIME / 1000} s in total. Nothing is lost: each file and the journal next to it together contain everything, and the next start reads both.`
  }
}

/** Compared with an earlier mark, shows whether a sandbox has changed: by commits, or by requests, which are in no journal. */
export interface ChangeMark {
  readonly revision: number
  readonly requests: number
  readonly limits: readonly SavedWindow[]
  readonly records: number
}

export function changeMarkOf({ store, log, limiter, service }: Sandbox): ChangeMark {
  return {
    revision: store.revision,
    requests: log.requests,
    limits: limiter.save(),
    records: countRecords(store, service.collections.keys()),
  }
}

/** New records, which the last checkpoint lacked, that a checkpoint is expected to write in a millisecond. */
const SPEED = 400

/** Milliseconds that a checkpoint is expected to take. @param busy duration of the last one, with the records of `before` */
export function expectedTime(sandbox: Sandbox, busy: number, before: ChangeMark): number {
  const { records } = changeMarkOf(sandbox)
  return records > before.records
    ? busy + (records - before.records) / SPEED
    : (busy * records) / Math.max(1, before.records)
}
