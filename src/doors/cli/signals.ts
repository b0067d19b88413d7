import { type Cancel, later } from '../realtime.ts'

/** The signals that end a run, with the exit code that shells give to each: 128 and its number. */
export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export type Signal = keyof typeof EXIT_CODES

/** Milliseconds in which a second signal is taken for the first: npm repeats what the terminal has sent to all. */
export const SAME_SIGNAL = 100

/** How often it is looked whether npm is still there, in milliseconds. */
const LOOK = 250

/**
 * Hears every signal that ends a run, instead of what Node does about it.
 * @param followsParent whether npm has started this process: its shell does not hand signals on, it just goes, which is
 *   heard as SIGHUP
 * @returns stops hearing
 */
export function onSignals(hear: (signal: Signal) => void, followsParent: boolean): Cancel {
  let stopLooking: Cancel = () => {}
  const listeners = (Object.keys(EXIT_CODES) as Signal[]).map((signal) => {
    const listener = (): void => {
      stopLooking()
      hear(signal)
    }
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  const parent = process.ppid
  const look = (): void => {
    if (process.ppid === parent) stopLooking = later(LOOK, look)
    else hear('SIGHUP')
  }
  if (followsParent) stopLooking = later(LOOK, look)
  return () => {
    stopLooking()
    for (const stop of listeners) stop()
  }
}
