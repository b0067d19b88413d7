import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { CLOCK, SANDBOX_TABLE } from '../core/state/state.ts'
import { behindMessage, runBacklog } from '../core/time/run-events.ts'

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

/** How often at least the host's clock is looked at while something is due later: the machine may have slept. */
const LOOK = 60_000

/**
 * Wakes a sandbox when its next event is due by the host's clock, as long as its clock runs, and has it run what is due.
 * @returns stops waking
 */
export function keepAwake(sandbox: Sandbox): Cancel {
  const stopped = new AbortController()
  let cancel: Cancel = () => {}
  let armedFor: number | undefined
  let isWorking = false
  let isToldBehind = false
  let told: unknown
  const arm = (): void => {
    if (isWorking || stopped.signal.aborted) return
    const due = sandbox.scheduler.peek()
    const instant = due === undefined ? undefined : Date.parse(due.due_at)
    const wait = instant === undefined ? undefined : sandbox.clock.realUntil(instant)
    if (wait === undefined) {
      cancel()
      armedFor = undefined
    } else if (instant !== armedFor) {
      cancel()
      armedFor = instant
      cancel = later(Math.min(Math.ceil(wait), LOOK), wake)
    }
  }
  const onBehind = (): void => {
    if (isToldBehind) return
    isToldBehind = true
    sandbox.options.onWarning(behindMessage(sandbox))
  }
  const wake = (): void => {
    armedFor = undefined
    // An advance runs what is due itself, and changes the clock at its end.
    if (sandbox.running === 'advance') cancel = later(RETRY, wake)
    else {
      isWorking = true
      runBacklog(sandbox, { signal: stopped.signal, onBehind }).then(done, failed)
    }
  }
  const done = (): void => {
    isWorking = false
    told = undefined
    // Of a sandbox that is retired the rest does not run; it is let go of in a moment.
    if (sandbox.closedReason === undefined) arm()
  }
  const failed = (error: unknown): void => {
    isWorking = false
    if (stopped.signal.aborted) return
    // Tried again every second, what has not changed is not said again.
    if (messageOf(error) !== told) sandbox.options.onDefect(error)
    told = messageOf(error)
    cancel = later(RETRY, wake)
  }
  const stopHearing = sandbox.store.onCommit(({ changes }) => {
    // A change of the clock moves every wake-up, also one for an instant that is armed already.
    if (changes.some(({ table, id }) => table === SANDBOX_TABLE && id === CLOCK)) {
      armedFor = undefined
      isToldBehind = false
    }
    arm()
  })
  arm()
  return () => {
    // A commit that comes later still must not wake anybody again.
    stopHearing()
    stopped.abort()
    cancel()
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
