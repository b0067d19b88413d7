import type { JsonObject } from '../../kernel/json.ts'
import type { Control, Scope } from '../../kernel/operation.ts'
import { type Emission, emission, takeIn } from './provider-events.ts'
import { type AgentRun, agentRuns } from './schema.ts'

/** What the control API offers about agents: events that fire their triggers, and the runs that come of it. */
export const agentControls: readonly Control[] = [
  {
    name: 'provider-event',
    method: 'POST',
    path: '/provider-events',
    summary:
      'Let a provider emit an event: every trigger of every teamspace that it concerns fires, or says why not',
    body: emission,
    handle: (scope, { body }) => takeIn(scope, body as Emission),
  },
  {
    name: 'runs',
    method: 'GET',
    path: '/agent-runs',
    summary: 'List the runs of agents in the order in which they were queued, and their threads',
    handle: (scope) => listRuns(scope),
  },
]

function listRuns({ tx }: Scope): JsonObject {
  const data = [...tx.in(agentRuns)].sort((a, b) => Date.parse(a.queued_at) - Date.parse(b.queued_at))
  return { object: 'list', data, threads: threadsOf(data) } as unknown as JsonObject
}

function threadsOf(runs: readonly AgentRun[]): { thread_id: string; runs: string[] }[] {
  const threads = new Map<string, string[]>()
  for (const { id, thread_id } of runs) {
    if (thread_id === null) continue
    const own = threads.get(thread_id)
    if (own === undefined) threads.set(thread_id, [id])
    else own.push(id)
  }
  return [...threads].map(([thread_id, ids]) => ({ thread_id, runs: ids }))
}
