import type * as z from 'zod'
import { type Settings, setting } from '../../kernel/assumptions.ts'
import { duration } from '../../kernel/fields.ts'
import { type EventHandler, type Happening, idOf, refOf, type Scope } from '../../kernel/operation.ts'
import { END_OF_TIME } from '../../kernel/time/clock.ts'
import { parseDuration } from '../../kernel/time/duration.ts'
import { eventId, SCHEDULE, type ScheduledEvent } from '../../kernel/time/scheduler.ts'
import { type AgentRun, agentRuns } from './schema.ts'

const EXECUTE = 'agent-run.execute'

export const queueTime = setting<string>({
  key: 'agent_runs.queue_time',
  item: 'T35',
  says: 'How long a run of an agent is queued before it executes, at most 3650d.',
  schema: queueDuration,
  default: '1s',
})

const LONGEST = parseDuration('3650d') ?? 0

function queueDuration(): z.ZodType<string> {
  return duration().refine((value) => (parseDuration(value) ?? 0) <= LONGEST, {
    error: 'must be at most 3650d',
  })
}

/** What made an agent run. */
export type Reason = Pick<AgentRun, 'agent_id' | 'cause'> & Partial<Omit<AgentRun, 'id' | 'status'>>

/** Queues a run, which executes after the setting `agent_runs.queue_time`. */
export function queueRun(scope: Scope, reason: Reason): AgentRun {
  const { tx, newId, at } = scope
  const { agent_id, cause, ...others } = reason
  // In the order of the schema, so that a document that is read again is the same text.
  const run = tx.in(agentRuns).put({
    id: newId(),
    agent_id,
    automation_id: null,
    trigger_id: null,
    thread_id: null,
    status: 'queued',
    queued_at: at,
    executed_at: null,
    cause,
    event_id: null,
    payload: null,
    ...others,
  })
  armRun(scope, run)
  return run
}

/** Brings the schedule in line with a run: one that is queued executes when its time in the queue is over, or at once if that is past. */
export function armRun(scope: Scope, run: AgentRun): void {
  const ref = refOf(agentRuns, run)
  const due = executionOf(run, scope)
  if (due === undefined) {
    scope.unschedule(ref, [EXECUTE])
    return
  }
  const present = scope.tx.get(SCHEDULE, eventId(EXECUTE, ref)) as ScheduledEvent | undefined
  if (present !== undefined && Date.parse(present.due_at) === due) return
  scope.schedule({
    kind: EXECUTE,
    ref,
    due,
    urgency: 'work',
    says: 'A run leaves the queue: its agent runs.',
  })
}

function executionOf({ status, queued_at }: AgentRun, { now, settings }: Scope): number | undefined {
  if (status !== 'queued') return undefined
  const due = Math.max(now, Date.parse(queued_at) + timeInQueue(settings))
  return due > END_OF_TIME ? undefined : due
}

function timeInQueue(settings: Settings): number {
  return parseDuration(settings.get(queueTime)) ?? 0
}

/** Drops the queued runs that are chosen: they never execute, and stay in the history. */
export function dropQueued(scope: Scope, chosen: (run: AgentRun) => boolean): void {
  const runs = scope.tx.in(agentRuns)
  for (const run of runs.filter((each) => each.status === 'queued' && chosen(each))) {
    armRun(scope, runs.put({ ...run, status: 'dropped' }))
  }
}

export const executeRun: EventHandler = {
  kind: EXECUTE,
  says: 'A run of an agent leaves the queue and is executed.',
  // A record that was deleted or edited by hand since the event was scheduled is left alone.
  handle: ({ tx, at }, { ref }) => {
    const run = tx.in(agentRuns).get(idOf(ref))
    if (run?.status === 'queued') tx.in(agentRuns).put({ ...run, status: 'executed', executed_at: at })
  },
}

/** What scenarios can have a hook on. */
export const runHappenings: readonly Happening[] = [
  {
    name: 'agent-run.queued',
    says: 'A run of an agent has been queued.',
    table: agentRuns.name,
    status: null,
  },
  { name: 'agent-run.executed', says: 'An agent has run.', table: agentRuns.name, status: 'executed' },
  { name: 'agent-run.dropped', says: 'A queued run was dropped.', table: agentRuns.name, status: 'dropped' },
]
