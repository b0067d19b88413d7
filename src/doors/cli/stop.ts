import { hostTime } from '../../kernel/time/clock.ts'
import { later } from '../realtime.ts'
import type { Logger } from './logger.ts'

// 128 and the number of the signal, as shells have it.
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Milliseconds in which a second signal is taken for the first: npm repeats what the terminal has sent to all. */
const SAME_SIGNAL = 100

/** How often it is looked whether npm is still there. */
const LOOK = 250

/** What a signal ends. */
export interface Stoppable {
  readonly logger: Logger
  /** Lets requests in flight finish, within bounds, and saves. */
  close(): Promise<void>
  exit(code: number): void
  /** Whether npm has started this process: its shell does not hand signals on, it just goes. */
  readonly followsParent: boolean
}

/**
 * Resolves when a signal has come and everything is closed. The first signal closes in order; a second one ends the
 * process at once, which loses nothing either: every acknowledged write is in the log on disk.
 */
export function untilStopped({ logger, close, exit, followsParent }: Stoppable): Promise<void> {
  return new Promise((resolve, reject) => {
    let first: number | undefined
    const onSignal = (signal: keyof typeof EXIT_CODES): void => {
      if (first !== undefined) {
        later(Math.max(0, SAME_SIGNAL - (hostTime() - first)), () => exit(EXIT_CODES[signal]))
        return
      }
      first = hostTime()
      logger.info(`${signal}: finishing requests in flight; once more to stop at once`)
      close().then(resolve, reject)
    }
    for (const signal of Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[]) {
      process.on(signal, () => onSignal(signal))
    }
    const parent = process.ppid
    const look = (): void => {
      if (first !== undefined) return
      if (process.ppid === parent) later(LOOK, look)
      else onSignal('SIGHUP')
    }
    if (followsParent) later(LOOK, look)
  })
}
