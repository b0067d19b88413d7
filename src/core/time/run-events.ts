import { isStorageFailure, refuse } from '../errors.ts'
import { idOf } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { ScriptFault } from '../scenarios/source.ts'
import { runStep, STEP } from '../scenarios/timeline.ts'
import { type Commit, type Row, transitionOf } from '../state/commit.ts'
import { FAILED_EVENTS, SANDBOX_TABLE } from '../state/state.ts'
import type { ClockChanges } from './clock.ts'
import { formatDuration, formatInstant } from './instant.ts'
import {
  type AdvanceResult,
  byDue,
  eventId,
  type RanEvent,
  SCHEDULE,
  type ScheduledEvent,
} from './scheduler.ts'
import { Turn } from './turn.ts'

/**
 * Runs the events that are due up to an instant, in the order (due, seq). The clock moves to the instant of each event before
 * its handler runs, so that no handler ever sees the target. Then the clock moves to the target. Stops after
 * {@link AT_ONCE} events.
 * @param pause called after each event: `true` stops the run; the clock does not move on, and the remaining events stay due
 * @returns the events that ran, and their number. Not `reached`: due events are left, and the clock is at the last one that ran;
 * if none ran, no more may run at this instant
 */
export function runEvents(sandbox: Sandbox, target: number, pause = () => false) {
  const { clock } = sandbox
  const { instantLimit } = sandbox.advances
  const events: RanEvent[] = []
  const failed: RanEvent[] = []
  const result = (reached: boolean) => ({ events, failed, reached, ran: events.length + failed.length })
  for (;;) {
    const event = sandbox.scheduler.peek()
    if (event === undefined || Date.parse(event.due_at) > target) break
    const due = Math.max(clock.now, Date.parse(event.due_at))
    if (events.length + failed.length >= AT_ONCE || instantLimit.isFull(due)) return result(false)
    clock.moveTo(due)
    instantLimit.add(due, event)
    const happened = run(sandbox, event)
    if (happened.error === undefined) events.push(happened)
    else failed.push(happened)
    sandbox.listeners.event(happened)
    if (pause()) return result(false)
  }
  clock.moveTo(target)
  return result(true)
}

/** Maximum number of events that run without a yield to the event loop. A request never yields. They take some 15 milliseconds. */
const AT_ONCE = 500

/**
 * Runs the events that are due now, before a request. When more than {@link AT_ONCE} are due, it leaves the others for later
 * and is served at the time reached. While an advance or a backlog runs, it does not move the clock.
 */
export function runDueEvents(sandbox: Sandbox) {
  followHost(sandbox)
  const { clock } = sandbox
  const { running } = sandbox.advances
  const result = runEvents(sandbox, running === undefined ? clock.due() : clock.now)
  if (running !== 'advance') sandbox.recording.read()
  return result
}

/**
 * Advances to an instant at once, for a request, and makes the clock's new instant durable. Refuses with `conflict` when more
 * than {@link AT_ONCE} events are due, since other requests would have to wait.
 * @param what the cause of the advance, as the subject of a sentence
 */
export function advanceTo(sandbox: Sandbox, instant: number, what = 'An advance'): AdvanceResult {
  const from = formatInstant(sandbox.clock.now)
  const { reached, events, failed } = runEvents(sandbox, instant)
  setClock(sandbox)
  if (reached) return { from, to: formatInstant(sandbox.clock.now), events, failed }
  const to = formatInstant(instant)
  return refuse('conflict', {
    detail: `${what} may run ${AT_ONCE} events at once, and more are due up to ${to}. The clock is at ${formatInstant(sandbox.clock.now)}.`,
    mitigation: `"workspace-emulator clock advance --to ${to}" goes there, and serves other requests in between.`,
  })
}

/** Changes how time passes from now on, and makes the current instant of the clock durable. */
export function setClock({ clock, store }: Sandbox, changes: ClockChanges = {}): void {
  store.transaction(formatInstant(clock.now), (tx) => tx.put(SANDBOX_TABLE, clock.rowWith(changes)))
}

/** Virtual milliseconds that the clock is late, because due events have not run yet. */
export function lagOf({ clock, scheduler }: Sandbox): number {
  const due = clock.due()
  const next = scheduler.peek()
  return next !== undefined && Date.parse(next.due_at) <= due ? due - clock.now : 0
}

/** Detects that the host's clock was set or the machine slept, and warns what that means for the virtual clock. */
export function followHost({ clock, store, options, name }: Sandbox): void {
  const jump = clock.compareWithHost()
  if (jump === undefined) return
  const by = formatDuration(Math.abs(Math.round(jump / 1000)) * 1000)
  options.onWarning(
    jump < 0
      ? `The clock of this machine was set back by ${by}. The virtual clock of the sandbox ${name} is not set back: it continues with the real time that passes.`
      : `The clock of this machine is ${by} ahead of the time that has passed in this process: the machine slept, or its clock was set. The virtual clock of the sandbox ${name} was moved forward with it. To go back, reset it ("workspace-emulator reset") or restore a snapshot.`,
  )
  // The next process starts from the instant of the host's clock in this record.
  store.transaction(formatInstant(clock.now), (tx) => tx.put(SANDBOX_TABLE, clock.toRow()))
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
    if (sandbox.scheduler.runWake(event)) return happened(sandbox, event, undefined)
    return happened(sandbox, event, handle(sandbox, event))
  } catch (error) {
    // The disk has failed, not the handler: the event stays scheduled and runs when writing works again.
    if (isStorageFailure(error)) throw error
    const { closedReason } = sandbox.listeners
    if (closedReason !== undefined) throw closedReason
    return markFailed(sandbox, event, error)
  }
}

function handle(sandbox: Sandbox, event: ScheduledEvent): Commit | undefined {
  const scope = sandbox.scope(event.id)
  scope.traceparent = event.traceparent
  scope.isOfEvent = true
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

function happened({ clock, service }: Sandbox, event: ScheduledEvent, commit: Commit | undefined): RanEvent {
  const { kind, ref, description, caused_by } = event
  const id = idOf(ref)
  const change = commit?.changes.find((each) => each.id === id && ref === `${each.table}/${id}`)
  return {
    at: formatInstant(clock.now),
    kind,
    ref,
    description: (change && service.events.get(kind)?.outcome) ?? description,
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
const MAX_CATCH_UP = 10_000

/**
 * Runs the events that are due by the host's clock, in turns, until none is left. Requests are served between turns, at the
 * time reached. Does nothing while an advance runs events, and ends when one begins.
 */
export async function runBacklog(
  sandbox: Sandbox,
  { signal, onBehind }: { readonly signal: AbortSignal; readonly onBehind: () => void },
): Promise<void> {
  if (sandbox.advances.running !== undefined) return
  followHost(sandbox)
  const end = sandbox.advances.begin('backlog')
  try {
    const turn = new Turn(() => sandbox.clock.elapsed)
    for (let total = 0; ; ) {
      const { ran, reached } = runEvents(sandbox, sandbox.clock.due(), () => turn.isOver)
      sandbox.recording.read()
      if (reached) return
      if (ran === 0) throw sandbox.advances.instantLimit.refusal()
      total += ran
      if (total > MAX_CATCH_UP) onBehind()
      await turn.next()
      const isReplaced = sandbox.advances.running !== 'backlog'
      if (signal.aborted || sandbox.listeners.closedReason !== undefined || isReplaced) return
    }
  } finally {
    end()
  }
}

/** The message for a late clock, with ways to fix it. */
export function lagMessage(sandbox: Sandbox): string {
  const { name, clock } = sandbox
  return `The clock of the sandbox ${name} cannot keep up: events fall due faster than they run. It is at ${formatInstant(clock.now)}, ${Math.round(lagOf(sandbox) / 1000)} s late. Events run one after the other, and requests are served at the time reached. "workspace-emulator clock rate 1" slows it down, "workspace-emulator clock rate 0" stops it there; "workspace-emulator clock" shows its lag_ms.`
}
