import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import { real } from '../../../core/time/real.ts'
import { type Cancel, type Later, later as realLater } from '../../../core/time/realtime.ts'

/** How the waits of exchanges pass. */
export interface Waits {
  /** Ends every wait: the emulator closes. */
  readonly closing: AbortSignal
  /** Absent: they pass in real time. */
  readonly later?: Later | undefined
}

/**
 * All waits of one exchange. It is over when the client leaves, or when a signal is aborted: then the connection is
 * destroyed. `end` removes the timer of the limit and all listeners.
 */
export class ExchangeTimeout {
  readonly #socket: Socket
  readonly #signals: readonly AbortSignal[]
  readonly #later: Later
  readonly #cancelLimit: Cancel
  /** The functions that end the waits, and whether the spent limit ends them, too. */
  readonly #waits = new Map<() => void, boolean>()
  /** How it ended: the client has left, or a signal was aborted (`released`). Undefined while it goes on. */
  over: 'left' | 'released' | undefined
  /** Whether the limit is spent. */
  spent = false

  /** @param limit milliseconds after which `sleep` and `hold` end at once; undefined: no limit. */
  constructor(socket: Socket, signals: readonly AbortSignal[], limit?: number, later: Later = realLater) {
    this.#socket = socket
    this.#signals = signals
    this.#later = later
    this.#cancelLimit = limit === undefined ? () => {} : later(limit, this.#onSpent)
    socket.on('close', this.#onLeft)
    for (const signal of signals) {
      // Each waiting exchange adds a listener, and Node would warn of more than ten.
      setMaxListeners(0, signal)
      signal.addEventListener('abort', this.#onReleased)
    }
    if (socket.destroyed) this.#onLeft()
    else if (signals.some(({ aborted }) => aborted)) this.#onReleased()
  }

  /** Waits this many milliseconds, or until the limit is spent. @returns whether the exchange goes on */
  async sleep(ms: number): Promise<boolean> {
    if (!this.spent) await this.#wait(true, (done) => this.#later(ms, done))
    return this.over === undefined
  }

  /** Waits this many milliseconds and a turn of the event loop, without a limit. @returns whether the exchange goes on */
  async drained(ms: number): Promise<boolean> {
    await this.#wait(false, (done) => this.#later(ms, done))
    // In a process that was blocked, due timers run before pending reads: a client in the same process gets this turn to read.
    await this.#wait(false, (done) => {
      const turn = real.setImmediate(done)
      return () => real.clearImmediate(turn)
    })
    return this.over === undefined
  }

  /** Waits for a promise, without a limit. Rejects if the promise rejects. @returns whether the exchange goes on */
  async until(promise: Promise<unknown> | undefined): Promise<boolean> {
    if (promise !== undefined) await Promise.race([promise, this.holdForever()])
    return this.over === undefined
  }

  /** Waits until the limit is spent. @returns whether the exchange goes on */
  async hold(): Promise<boolean> {
    if (!this.spent) await this.#wait(true, () => () => {})
    return this.over === undefined
  }

  /** Waits until the exchange is over. */
  holdForever(): Promise<void> {
    return this.#wait(false, () => () => {})
  }

  end(): void {
    this.#cancelLimit()
    this.#socket.off('close', this.#onLeft)
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#onReleased)
  }

  #wait(heedsLimit: boolean, start: (done: () => void) => Cancel): Promise<void> {
    return new Promise((resolve) => {
      if (this.over !== undefined) return resolve()
      const wake = (): void => {
        cancel()
        this.#waits.delete(wake)
        resolve()
      }
      this.#waits.set(wake, heedsLimit)
      const cancel = start(wake)
    })
  }

  readonly #onSpent = (): void => {
    this.spent = true
    for (const [wake, heedsLimit] of [...this.#waits]) if (heedsLimit) wake()
  }

  readonly #onLeft = (): void => {
    this.#finish('left')
  }

  readonly #onReleased = (): void => {
    this.#finish('released')
    this.#socket.destroy()
  }

  #finish(over: 'left' | 'released'): void {
    this.over ??= over
    for (const wake of [...this.#waits.keys()]) wake()
  }
}
