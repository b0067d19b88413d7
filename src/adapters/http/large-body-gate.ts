import { type Cancel, type Later, later as realLater } from '../realtime.ts'

/** Releases the place; a second call does nothing. */
export type Release = () => void

/** A body that has the place, or waits for it. */
export interface LargeBody {
  /** Bytes received so far. */
  received(): number
  /** Called when the place goes to another because too few bytes come. */
  onStalled(): void
}

/** While others wait, the holder must receive {@link MIN_BYTES} within this many real milliseconds. */
const PATIENCE = 2_000

/** A slow network carries this much in that time; a client that only sends a byte now and then does not reach it. */
const MIN_BYTES = 64 * 1024

interface Entry {
  readonly holder: LargeBody
  readonly resolve: (release: Release) => void
}

/**
 * One place for large bodies, given in the order of the calls. It bounds the memory of large bodies: a body that waits here is
 * not read any further. The holder keeps the place as long as bytes arrive; a stalled body loses it as soon as others wait.
 */
export class Gate {
  readonly #waiting: Entry[] = []
  readonly #later: Later
  #holder: LargeBody | undefined
  #cancel: Cancel | undefined

  /** @param later calls back after this many real milliseconds; for tests */
  constructor(later: Later = realLater) {
    this.#later = later
  }

  /** Resolves when the caller has the place. The caller must call the release when done, in a `finally`. */
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
      // Bytes that arrived while this process was busy are read first.
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

/** A body with more bytes than this (8 MiB) is read and parsed alone in this process. */
export const LARGE_BODY_BYTES = 8 * 1024 * 1024

/** The gate of this process for bodies over {@link LARGE_BODY_BYTES}; memory is shared by all servers in it. */
export const largeBodyGate = new Gate()
