import { errorMessage } from '../adapters/storage/files.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import { CLOCK, SANDBOX_TABLE } from '../core/state/state.ts'
import { type Cancel, later } from '../core/time/realtime.ts'
import { lagMessage, runBacklog } from '../core/time/run-events.ts'

/** Milliseconds before the next try after a failure, or while an advance is in progress. */
const RETRY = 1_000

/** Maximum milliseconds between two reads of the host's clock while an event is pending: the machine may have slept. */
const LOOK = 60_000

/**
 * Runs the due events of a sandbox in real time, as long as its clock runs: a timer is set for the next event.
 * @returns a function that stops it
 */
export function keepAwake(sandbox: Sandbox): Cancel {
  const stopped = new AbortController()
  let cancel: Cancel = () => {}
  let armedFor: number | undefined
  let isWorking = false
  let hasWarned = false
  let reported: unknown
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
    if (hasWarned) return
    hasWarned = true
    sandbox.options.onWarning(lagMessage(sandbox))
  }
  const wake = (): void => {
    armedFor = undefined
    // An advance runs the due events itself, and changes the clock at its end.
    if (sandbox.advances.running === 'advance') cancel = later(RETRY, wake)
    else {
      isWorking = true
      runBacklog(sandbox, { signal: stopped.signal, onBehind }).then(done, failed)
    }
  }
  const done = (): void => {
    isWorking = false
    reported = undefined
    // A closed sandbox runs no more events.
    if (sandbox.listeners.closedReason === undefined) arm()
  }
  const failed = (error: unknown): void => {
    isWorking = false
    if (stopped.signal.aborted) return
    // The run is repeated every second, but the same message is reported only once.
    if (errorMessage(error) !== reported) sandbox.options.onDefect(error)
    reported = errorMessage(error)
    cancel = later(RETRY, wake)
  }
  const stopHearing = sandbox.store.onCommit(({ changes }) => {
    // A change of the clock moves every wake-up, even for the instant that the timer is already set for.
    if (changes.some(({ table, id }) => table === SANDBOX_TABLE && id === CLOCK)) {
      armedFor = undefined
      hasWarned = false
    }
    arm()
  })
  sandbox.scheduler.onWake = arm
  arm()
  return () => {
    // A later commit must not set the timer again.
    stopHearing()
    stopped.abort()
    cancel()
  }
}
