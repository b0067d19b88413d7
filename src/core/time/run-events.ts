import { Refusal, refuse } from '../errors.ts'
import { idOf } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { ScriptFault } from '../scenarios/source.ts'
import { runStep, STEP } from '../scenarios/timeline.ts'
import { type Commit, type Row, transitionOf } from '../state/commit.ts'
import { FAILED_EVENTS } from '../state/state.ts'
import { formatInstant } from './instant.ts'
import {
  type AdvanceResult,
  byDue,
  eventId,
  type RanEvent,
  SCHEDULE,
  type ScheduledEvent,
} from './scheduler.ts'
import { Turn } from './turn.ts'

/** The events that ran, and whether the clock has reached its target. */
export interface RunResult extends AdvanceResult {
  /** False: due events are left, and the clock is at the last one that ran, or at one that waits for its preparation. */
  readonly reached: boolean
  /** Number of events that ran. 0 with neither `reached` nor `waits`: no more may run at this instant. */
  readonly ran: number
  /** The next event waits for its preparation. */
  readonly waits: boolean
}

/**
 * Runs the events that are due up to an instant, in the order (due, seq). The clock moves to the instant of each event before
 * its handler runs, so that no handler ever sees the target. Then the clock moves to the target. Stops at the maximum number
 * of events of one turn.
 * @param pause called after each event: `true` stops the run; the clock does not move on, and the remaining events stay due
 */
export function runEvents(sandbox: Sandbox, target: number, pause: () => boolean = doNotPause): RunResult {
  const { clock, instantLimit, options } = sandbox
  const from = clock.now
  const events: RanEvent[] = []
  const failed: RanEvent[] = []
  const result = (reached: boolean, waits = false): RunResult => {
    const ran = events.length + failed.length
    return { from: formatInstant(from), to: formatInstant(clock.now), events, failed, reached, ran, waits }
  }
  for (;;) {
    const event = sandbox.scheduler.peek()
    if (event === undefined || Date.parse(event.due_at) > target) break
    const due = Math.max(clock.now, Date.parse(event.due_at))
    if (events.length + failed.length >= options.turn.events || instantLimit.isFull(due)) return result(false)
    clock.moveTo(due)
    if (sandbox.preparations.delay(event)) return result(false, true)
    instantLimit.add(due, event)
    const happened = run(sandbox, event)
    if (happened.error === undefined) events.push(happened)
    else failed.push(happened)
    sandbox.reportEvent(happened)
    if (pause()) return result(false)
  }
  clock.moveTo(target)
  return result(true)
}

const doNotPause = (): boolean => false

/**
 * Runs the events that are due now, before a request. A request cannot yield in between, so it leaves the events beyond one
 * turn for later and is served at the time reached. While an advance or a backlog runs, it does not move the clock.
 */
export function runDueEvents(sandbox: Sandbox): RunResult {
  sandbox.followHost()
  if (sandbox.running !== undefined) return runEvents(sandbox, sandbox.clock.now)
  const turn = new Turn(sandbox.options.turn, () => sandbox.clock.elapsed)
  let ran = 0
  return runEvents(sandbox, sandbox.clock.due(), () => ++ran >= AT_ONCE && turn.isOver)
}

/** Events that run before a request however long they take: on a slow machine, too, a request sees their effects. */
const AT_ONCE = 50

/**
 * Advances to an instant at once, for a request, and makes the clock's new instant durable. Refuses with `conflict` when the
 * events take more than one turn, since other requests would have to wait, and when one is still being prepared.
 * @param what the cause of the advance, as the subject of a sentence
 */
export function advanceTo(sandbox: Sandbox, instant: number, what = 'An advance'): AdvanceResult {
  const { reached, waits, ran: _, ...result } = runEvents(sandbox, instant)
  sandbox.setClock()
  if (reached) return result
  if (waits) {
    return refuse('conflict', {
      detail: `${what} has reached an event that is still being prepared. The clock is at ${formatInstant(sandbox.clock.now)}.`,
      mitigation: 'Send the request again in a moment.',
    })
  }
  const to = formatInstant(instant)
  return refuse('conflict', {
    detail: `${what} may run ${sandbox.options.turn.events} events at once, and more are due up to ${to}. The clock is at ${formatInstant(sandbox.clock.now)}.`,
    mitigation: `POST /__emulator/clock/advance {"to": "${to}"} goes there, and serves other requests in between.`,
  })
}

/** The earliest future event about a record (`collection/id`). */
export function nextEventOf(sandbox: Sandbox, ref: string): ScheduledEvent | undefined {
  const events = [...sandbox.service.events.keys()]
    .map((kind) => sandbox.store.get(SCHEDULE, eventId(kind, ref)) as ScheduledEvent | undefined)
    .filter((event) => event !== undefined)
  return events.sort(byDue)[0]
}

// Runs one event at the clock's instant. If its handler fails, only its own changes are undone.
function run(sandbox: Sandbox, event: ScheduledEvent): RanEvent {
  try {
    return happened(event, sandbox.clock.now, handle(sandbox, event))
  } catch (error) {
    // The disk has failed, not the handler: the event stays scheduled and runs when writing works again.
    if (error instanceof Refusal && error.code === 'storage_unavailable') throw error
    if (sandbox.closedReason !== undefined) throw sandbox.closedReason
    return markFailed(sandbox, event, error)
  }
}

function handle(sandbox: Sandbox, event: ScheduledEvent): Commit | undefined {
  const scope = sandbox.scope(event.id)
  // Removed first, so that the handler may schedule the same kind about the same record again.
  scope.tx.delete(SCHEDULE, event.id)
  if (event.kind === STEP) runStep(sandbox, scope, event)
  else {
    const kind = sandbox.service.events.get(event.kind)
    if (kind === undefined) throw new Error(`there is no handler for events of the kind "${event.kind}"`)
    kind.handle(scope, event)
  }
  return sandbox.commit(scope)
}

function happened(event: ScheduledEvent, now: number, commit: Commit | undefined): RanEvent {
  const { kind, ref, description, caused_by } = event
  const id = idOf(ref)
  const change = commit?.changes.find((each) => each.id === id && ref === `${each.table}/${id}`)
  return {
    at: formatInstant(now),
    kind,
    ref,
    description,
    caused_by,
    ...(change && transitionOf(change)),
  }
}

function markFailed(sandbox: Sandbox, event: ScheduledEvent, error: unknown): RanEvent {
  const message = error instanceof Error ? error.message : String(error)
  const at = formatInstant(sandbox.clock.now)
  if (!(error instanceof ScriptFault)) sandbox.options.onDefect(error)
  sandbox.store.transaction(at, (tx) => {
    tx.delete(SCHEDULE, event.id)
    tx.put(FAILED_EVENTS, { ...event, error: message } as Row)
  })
  const { kind, ref, description, caused_by } = event
  return { at, kind, ref, description, caused_by, error: message }
}

/** Number of events after which a clock that has not caught up is reported as late. */
export const MAX_CATCH_UP = 10_000

/**
 * Runs the events that are due by the host's clock, in turns, until none is left. Requests are served between turns, at the
 * time reached. Does nothing while an advance runs events, and ends when one begins.
 */
export async function runBacklog(
  sandbox: Sandbox,
  { signal, onBehind }: { readonly signal: AbortSignal; readonly onBehind: () => void },
): Promise<void> {
  if (sandbox.running !== undefined) return
  sandbox.followHost()
  sandbox.running = 'backlog'
  try {
    const { turn: limit } = sandbox.options
    const turn = new Turn(limit, () => sandbox.clock.elapsed)
    for (let total = 0; ; ) {
      const { ran, reached, waits } = runEvents(sandbox, sandbox.clock.due(), () => turn.count())
      if (reached) return
      if (waits) await sandbox.preparations.whenIdle()
      else if (ran === 0) throw sandbox.instantLimit.refusal()
      total += ran
      if (total > MAX_CATCH_UP) onBehind()
      await turn.next()
      if (signal.aborted || sandbox.closedReason !== undefined || sandbox.running !== 'backlog') return
    }
  } finally {
    if (sandbox.running === 'backlog') sandbox.running = undefined
  }
}

/** The message for a late clock, with ways to fix it. */
export function lagMessage({ name, clock, lag }: Sandbox): string {
  return `The clock of the sandbox ${name} cannot keep up: events fall due faster than they run. It is at ${formatInstant(clock.now)}, ${Math.round(lag / 1000)} s late. Events run one after the other, and requests are served at the time reached. PATCH /__emulator/clock {"rate": 1} slows it down, {"rate": 0} stops it there; GET /__emulator/clock shows its lag_ms.`
}
