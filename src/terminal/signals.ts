import { elapsedTime } from '../core/time/clock.ts'
import { type Cancel, later } from '../core/time/realtime.ts'

/** The signals that end a run, with the exit code that shells give each: 128 and its number. */
export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export type Signal = keyof typeof EXIT_CODES

/** Milliseconds in which a second signal counts as the first: npm repeats the signal that the terminal sends to all processes. */
export const SAME_SIGNAL = 100

/** Milliseconds between two checks that npm still runs. */
const LOOK = 250

/**
 * Listens to every signal that ends a run, instead of Node's default action.
 * @param followsParent whether npm has started this process: its shell does not forward signals, it exits, which is
 *   reported as SIGHUP
 * @returns stops listening
 */
export function onSignals(listener: (signal: Signal) => void, followsParent: boolean): Cancel {
  let stopLooking: Cancel = () => {}
  const listeners = (Object.keys(EXIT_CODES) as Signal[]).map((signal) => {
    const heard = (): void => {
      stopLooking()
      listener(signal)
    }
    process.on(signal, heard)
    return () => process.off(signal, heard)
  })
  const parent = process.ppid
  const look = (): void => {
    if (process.ppid === parent) stopLooking = later(LOOK, look)
    else listener('SIGHUP')
  }
  if (followsParent) stopLooking = later(LOOK, look)
  return () => {
    stopLooking()
    for (const stop of listeners) stop()
  }
}

/**
 * Resolves when a signal has arrived and `close` is done. A second signal ends the process at once. That loses no data: every
 * acknowledged write is in the journal on disk.
 */
export function untilStopped(close: (signal: Signal) => Promise<void>, followsParent: boolean) {
  return new Promise<void>((resolve, reject) => {
    let first: number | undefined
    onSignals((signal) => {
      if (first !== undefined) {
        const wait = Math.max(0, SAME_SIGNAL - (elapsedTime() - first))
        later(wait, () => process.exit(EXIT_CODES[signal]))
        return
      }
      first = elapsedTime()
      close(signal).then(resolve, reject)
    }, followsParent)
  })
}
