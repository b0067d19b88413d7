/** Gives the place back; a second call does nothing. */
export type Release = () => void

/**
 * One place, handed on in the order in which it was asked for. It keeps the memory of large bodies bounded: who
 * waits here has not read its body yet.
 */
export class Gate {
  readonly #waiting: Array<(release: Release) => void> = []
  #taken = false

  /** Resolves when the place is the caller's, who must call the release exactly when done, in a `finally`. */
  acquire(): Promise<Release> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#handOn()
    })
  }

  #handOn(): void {
    if (this.#taken) return
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#taken = true
    next(this.#releaseOnce())
  }

  #releaseOnce(): Release {
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#taken = false
      this.#handOn()
    }
  }
}

/** From this many bytes on (8 MiB, exclusive), a body is read and parsed alone in this process. */
export const LARGE_BODY_BYTES = 8 * 1024 * 1024

/** The gate of this process for bodies over {@link LARGE_BODY_BYTES}; memory is shared by all servers in it. */
export const largeBodyGate = new Gate()
