import { z } from 'zod'
import { setting } from '../../core/assumptions.ts'
import { durationUpTo, intBetween, list, listOf, type ShapeOf } from '../../core/fields.ts'
import {
  control,
  type EventHandler,
  idOf,
  type RecordEvent,
  refOf,
  type Scope,
} from '../../core/operation.ts'
import type { Transaction } from '../../core/state/transaction.ts'
import { parseDuration } from '../../core/time/instant.ts'
import { eventId, SCHEDULE, type ScheduledEvent } from '../../core/time/scheduler.ts'
import {
  type AgentRun,
  agentRuns,
  automations,
  eventTriggers,
  runRecord,
  runsBySource,
  sourceOf,
} from './schema.ts'

const EXECUTE = 'agent-run.execute'

export const queueTime = setting({
  key: 'agent_runs.queue_time',
  item: 'T35',
  description: 'Decides how long a run of an agent is queued before it executes, at most 3650d.',
  schema: () => durationUpTo('3650d'),
  default: '1s',
})

export const keptRuns = setting({
  key: 'agent_runs.keep',
  item: 'U075',
  description:
    'Decides how many runs of each automation, and of each event trigger, are kept; a queued run is never dropped.',
  schema: () => intBetween(1, 1_000_000),
  default: 1_000,
})

/** The cause of a run, for its record. */
export type Reason = Pick<AgentRun, 'agent_id' | 'cause'> & Partial<Omit<AgentRun, 'id' | 'status'>>

/** Queues a run, which executes after the setting `agent_runs.queue_time`. */
export function queueRun(scope: Scope, reason: Reason): AgentRun {
  const { tx, newId, at } = scope
  const { agent_id, cause, ...others } = reason
  // In the order of the schema, so that an exported and imported document has the same text.
  const run = tx.in(agentRuns).insert({
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
  dropOldest(scope, run)
  return run
}

// Without a bound on the history, a clock that runs for a year would fill the memory. Runs leave the queue in the order in
// which they entered it, so no run after a queued one can be dropped.
function dropOldest({ tx, settings }: Scope, run: AgentRun): void {
  const runs = tx.in(agentRuns)
  const source = sourceOf(run)
  const excess = runs.count(runsBySource, source) - settings.get(keptRuns)
  if (excess <= 0) return
  const old: AgentRun[] = []
  for (const each of runs.having(runsBySource, source)) {
    if (old.length === excess || each.status === 'queued') break
    old.push(each)
  }
  for (const { id } of old) runs.delete(id)
  if (old.length > 0) countDropped(tx, run, old.length)
}

function countDropped(tx: Transaction, { automation_id, trigger_id }: AgentRun, count: number): void {
  const automation = automation_id === null ? undefined : tx.in(automations).get(automation_id)
  const trigger = trigger_id === null ? undefined : tx.in(eventTriggers).get(trigger_id)
  const counted = <T extends { readonly runs_dropped?: number | undefined }>(facts: T): T => {
    return { ...facts, runs_dropped: (facts.runs_dropped ?? 0) + count }
  }
  if (automation !== undefined)
    tx.in(automations).put({ ...automation, _emulator: counted(automation._emulator) })
  if (trigger !== undefined) tx.in(eventTriggers).put({ ...trigger, _emulator: counted(trigger._emulator) })
}

/** Schedules the execution of a queued run after its time in the queue, or at once if that is over. Other runs get no event. */
export function armRun(scope: Scope, run: AgentRun): void {
  const ref = refOf(agentRuns, run)
  if (run.status !== 'queued') {
    scope.unschedule(ref, [EXECUTE])
    return
  }
  const wait = parseDuration(scope.settings.get(queueTime)) ?? 0
  const due = Math.max(scope.now, Date.parse(run.queued_at) + wait)
  const present = scope.tx.get(SCHEDULE, eventId(EXECUTE, ref)) as ScheduledEvent | undefined
  if (present !== undefined && Date.parse(present.due_at) === due) return
  scope.schedule({
    kind: EXECUTE,
    ref,
    due,
    urgency: 'work',
    description: 'A run leaves the queue: its agent runs.',
  })
}

/** Drops the chosen runs that are queued: they never execute, but stay in the history. */
export function dropQueued(scope: Scope, chosen: (run: AgentRun) => boolean): void {
  const runs = scope.tx.in(agentRuns)
  for (const run of runs.filter((each) => each.status === 'queued' && chosen(each))) {
    armRun(scope, runs.put({ ...run, status: 'dropped' }))
  }
}

export const executeRun: EventHandler = {
  kind: EXECUTE,
  description: 'A run of an agent leaves the queue and is executed.',
  // A record that was deleted, or edited by hand, since the event was scheduled stays unchanged.
  handle: ({ tx, at }, { ref }) => {
    const run = tx.in(agentRuns).get(idOf(ref))
    if (run?.status === 'queued') tx.in(agentRuns).put({ ...run, status: 'executed', executed_at: at })
  },
}

/** The runs of agents, and the threads that they share. */
const runList = () =>
  listOf(runRecord()).extend({
    /** The number of older runs that are no longer kept. */
    dropped: z.int(),
    threads: z.array(z.strictObject({ thread_id: z.string(), runs: z.array(z.string()) })),
  })

export type AgentRuns = ShapeOf<typeof runList>

export const listRuns = control({
  name: 'runs',
  method: 'GET',
  path: '/agent-runs',
  summary:
    'List the runs of agents in the order in which they were queued, their threads, and how many runs were dropped',
  output: runList,
  handle: ({ tx }) => {
    const data = [...tx.in(agentRuns)].sort((a, b) => Date.parse(a.queued_at) - Date.parse(b.queued_at))
    const sources = [...tx.in(automations), ...tx.in(eventTriggers)]
    const dropped = sources.reduce((sum, { _emulator }) => sum + (_emulator.runs_dropped ?? 0), 0)
    return { ...list(data), dropped, threads: threadsOf(data) }
  },
})

function threadsOf(runs: readonly AgentRun[]): { thread_id: string; runs: string[] }[] {
  const threads = new Map<string, string[]>()
  for (const { id, thread_id } of runs)
    if (thread_id !== null) threads.set(thread_id, [...(threads.get(thread_id) ?? []), id])
  return [...threads].map(([thread_id, ids]) => ({ thread_id, runs: ids }))
}

/** Events for hooks of scenarios. */
export const runRecordEvents: readonly RecordEvent[] = [
  { name: 'agent-run.queued', description: 'A run of an agent has been queued.', status: null },
  { name: 'agent-run.executed', description: 'An agent has run.', status: 'executed' },
  { name: 'agent-run.dropped', description: 'A queued run was dropped.', status: 'dropped' },
].map((event) => ({ ...event, table: agentRuns.name }))
