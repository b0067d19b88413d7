import { type Cancel, type Later, later as realLater } from '../realtime.ts'

/** Gives the place back; a second call does nothing. */
export type Release = () => void

/** A body that has the place, or waits for it. */
export interface LargeBody {
  /** Bytes that have come so far. */
  received(): number
  /** Called when the place goes to another because too few bytes come. */
  onStalled(): void
}

/** While others wait, the holder must receive {@link MIN_BYTES} in so many real milliseconds. */
const PATIENCE = 2_000

/** Little enough for a slow line, and too much for a client that sends a byte now and then. */
const MIN_BYTES = 64 * 1024

interface Entry {
  readonly holder: LargeBody
  readonly resolve: (release: Release) => void
}

/**
 * One place, handed on in the order in which it was asked for. It keeps the memory of large bodies bounded: who
 * waits here is not read any further. Who has it keeps it as long as bytes arrive; a body that has stalled loses it as soon
 * as others wait.
 */
export class Gate {
  readonly #waiting: Entry[] = []
  readonly #later: Later
  #holder: LargeBody | undefined
  #cancel: Cancel | undefined

  /** @param later calls back after so many real milliseconds; for tests */
  constructor(later: Later = realLater) {
    this.#later = later
  }

  /** Resolves when the place is the caller's, who must call the release exactly when done, in a `finally`. */
  acquire(holder: LargeBody): Promise<Release> {
    return new Promise((resolve) => {
      this.#waiting.push({ holder, resolve })
      this.#handOn()
    })
  }

  #handOn(): void {
    if (this.#holder === undefined) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#holder = next.holder
      next.resolve(this.#releaseOf(next.holder))
    }
    if (this.#waiting.length > 0) this.#watch(this.#holder)
  }

  #releaseOf(holder: LargeBody): Release {
    return () => {
      if (this.#holder !== holder) return
      this.#holder = undefined
      this.#cancel?.()
      this.#cancel = undefined
      this.#handOn()
    }
  }

  #watch(holder: LargeBody): void {
    if (this.#cancel !== undefined) return
    const before = holder.received()
    this.#cancel = this.#later(PATIENCE, () => {
      // What has arrived while this process was busy is read first.
      setImmediate(() => {
        if (this.#holder !== holder) return
        this.#cancel = undefined
        if (holder.received() - before >= MIN_BYTES) {
          this.#watch(holder)
          return
        }
        this.#releaseOf(holder)()
        holder.onStalled()
      })
    })
  }
}

/** From this many bytes on (8 MiB, exclusive), a body is read and parsed alone in this process. */
export const LARGE_BODY_BYTES = 8 * 1024 * 1024

/** The gate of this process for bodies over {@link LARGE_BODY_BYTES}; memory is shared by all servers in it. */
export const largeBodyGate = new Gate()
