import { hostTime } from '../../kernel/time/clock.ts'
import { later } from '../realtime.ts'
import type { Logger } from './logger.ts'
import { EXIT_CODES, onSignals, SAME_SIGNAL } from './signals.ts'

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
    onSignals((signal) => {
      if (first !== undefined) {
        later(Math.max(0, SAME_SIGNAL - (hostTime() - first)), () => exit(EXIT_CODES[signal]))
        return
      }
      first = hostTime()
      logger.info(`${signal}: finishing requests in flight; once more to stop at once`)
      close().then(resolve, reject)
    }, followsParent)
  })
}
