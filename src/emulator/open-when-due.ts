import type { Sandboxes } from '../core/sandboxes/sandboxes.ts'
import type { HostTime } from '../core/time/clock.ts'
import { nextTurn } from '../core/time/real.ts'
import type { Cancel, Later } from '../core/time/realtime.ts'

/** Milliseconds between the opening of a sandbox and its next event, because opening takes time. */
const AHEAD = 60_000

/** Maximum number of sandboxes whose files are read in one turn of the event loop. */
const AT_ONCE = 20

export interface OpeningOptions {
  readonly sandboxes: Sandboxes
  /** When the next event of a saved sandbox is due. Throws when it cannot be opened. */
  readonly wakeTime: (name: string) => number | 'never' | 'unknown'
  /** Called for a sandbox that cannot be opened. */
  readonly onProblem: (name: string, error: unknown) => void
  readonly later: Later
  readonly host: HostTime
}

/**
 * Opens saved sandboxes one after the other, before their next event is due, so that it runs in time. Sandboxes with an
 * unknown due time come first. Sandboxes that only wait for requests stay closed.
 * @returns a function that stops opening
 */
export function openWhenDue({ sandboxes, wakeTime, onProblem, later, host }: OpeningOptions): Cancel {
  let isStopped = false
  let wake: Cancel = () => {}
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = later(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })
  const look = async (): Promise<{ name: string; due: number }[]> => {
    const found: { name: string; due: number }[] = []
    for (const [n, { name }] of sandboxes.saved().entries()) {
      if (n % AT_ONCE === 0) await nextTurn()
      if (isStopped) return []
      try {
        const due = wakeTime(name)
        if (due !== 'never') found.push({ name, due: due === 'unknown' ? 0 : due })
      } catch (error) {
        onProblem(name, error)
      }
    }
    return found.sort((a, b) => a.due - b.due)
  }
  const run = async (): Promise<void> => {
    for (const { name, due } of await look()) {
      for (let wait = due - AHEAD - host(); wait > 0 && !isStopped; wait = due - AHEAD - host())
        await pause(wait)
      if (isStopped) return
      const began = host()
      await sandboxes.openSaved(name).catch((error) => onProblem(name, error))
      // The pause is as long as the opening took, so that requests get at least half of the time.
      await pause(Math.max(0, host() - began))
    }
  }
  void run()
  return () => {
    isStopped = true
    wake()
  }
}
