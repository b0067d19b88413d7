import { real } from './real.ts'

/** Cancels a planned call. Does nothing if the call has already run. */
export type Cancel = () => void

/** Plans a call after `ms` real milliseconds. @returns a function that cancels it */
export type Later = (ms: number, call: () => void) => Cancel

// Node fires a timer of more than 2^31 ms at once. A longer wait must consist of several shorter ones.
const MAX_DELAY = 3_600_000

/** Calls back after `ms` real milliseconds, but at most one hour. All timers of the emulator process are created here. */
export function later(ms: number, call: () => void): Cancel {
  const timer = real.setTimeout(call, Math.min(ms, MAX_DELAY))
  return () => real.clearTimeout(timer)
}

/** Calls back every `ms` real milliseconds. Does not keep the process alive. */
export function repeatEvery(ms: number, call: () => void): Cancel {
  const timer = real.setInterval(call, ms).unref()
  return () => real.clearInterval(timer)
}

/** Calls back in the next turn of the event loop. */
export const inNextTurn: (call: () => void) => void = real.setImmediate
