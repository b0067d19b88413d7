/** Cancels a planned call. Does nothing if the call has already run. */
export type Cancel = () => void

/** Plans a call after `ms` real milliseconds. @returns a function that cancels it */
export type Later = (ms: number, call: () => void) => Cancel

// Node fires a timer of more than 2^31 ms at once. A longer wait must consist of several shorter ones.
const MAX_DELAY = 3_600_000

/** Calls back after `ms` real milliseconds, but at most one hour. All timers of the emulator process are created here. */
export function later(ms: number, call: () => void): Cancel {
  const timer = setTimeout(call, Math.min(ms, MAX_DELAY))
  return () => clearTimeout(timer)
}

// Bound when this module is loaded, because a test may replace the timers with fake ones later.
const [startInterval, stopInterval] = [setInterval, clearInterval]

/** Calls back every `ms` real milliseconds, also while timers are faked. Does not keep the process alive. */
export function repeatEvery(ms: number, call: () => void): Cancel {
  const timer = startInterval(call, ms).unref()
  return () => stopInterval(timer)
}

/** Calls back in the next turn of the event loop, also while timers are faked. */
export const inNextTurn: (call: () => void) => void = setImmediate
