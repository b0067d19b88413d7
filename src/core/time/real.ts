const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, queueMicrotask } =
  globalThis

/**
 * The timers and clocks of Node. Read when the library is imported, because a test may replace the global ones with fake ones
 * later: the emulator would then wait forever.
 */
export const real = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  queueMicrotask,
  /** Milliseconds since the Unix epoch. */
  now: Date.now,
  /** Milliseconds since the process started; only differences are meaningful. */
  elapsed: performance.now.bind(performance),
}

/** Milliseconds of the processor that this process has used: unlike {@link real.elapsed}, not those in which it waited for it. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Whether the timers were already fake when the library was imported. The usual libraries mark their functions with a clock. */
export const isFakeTime: boolean = [real.setTimeout, Date].some((each) => 'clock' in each)

/** Resolves after the event loop has had a round. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve))
}
