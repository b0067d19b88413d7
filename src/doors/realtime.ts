import { CLOCK, WORLD } from '../kernel/state/state.ts'
import type { Sandbox } from '../kernel/worlds/sandbox.ts'

/** Takes a planned call back; harmless once it has run. */
export type Cancel = () => void

/** Calls back after so many real milliseconds. */
export type Later = (ms: number, call: () => void) => Cancel

// A timer of more than 2^31 ms fires at once, so that a longer wait is made of shorter ones.
const LONGEST = 3_600_000

/** How long to wait before writing is tried again after it has failed. */
const RETRY = 1_000

/** Calls back after some real time. The only timers of the emulator are made here. */
export function later(ms: number, call: () => void): Cancel {
  const timer = setTimeout(call, Math.min(ms, LONGEST))
  return () => clearTimeout(timer)
}

/**
 * Wakes a sandbox when its next event is due by the host's clock, as long as its clock runs.
 * @returns stops waking
 */
export function keepAwake(sandbox: Sandbox): Cancel {
  let cancel: Cancel = () => {}
  let armedFor: number | undefined
  const arm = (): void => {
    const due = sandbox.scheduler.peek()
    const instant = due === undefined ? undefined : Date.parse(due.due_at)
    const wait = instant === undefined ? undefined : sandbox.clock.realUntil(instant)
    if (wait === undefined) {
      cancel()
      armedFor = undefined
    } else if (instant !== armedFor) {
      cancel()
      armedFor = instant
      cancel = later(Math.ceil(wait), wake)
    }
  }
  const wake = (): void => {
    armedFor = undefined
    try {
      sandbox.catchUp()
      arm()
    } catch (error) {
      sandbox.options.onSurprise(error)
      cancel = later(RETRY, wake)
    }
  }
  const stopHearing = sandbox.store.onCommit(({ changes }) => {
    // A change of the clock moves every wake-up, also one for an instant that is armed already.
    if (changes.some(({ table, id }) => table === WORLD && id === CLOCK)) armedFor = undefined
    arm()
  })
  arm()
  return () => {
    // A commit that comes later still must not wake anybody again.
    stopHearing()
    cancel()
  }
}
