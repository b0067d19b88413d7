import type { Ask } from './ask.ts'
import type { AgentRuns, ProviderEventDraft, ProviderEventResult } from './views/agents.ts'

/** What makes agents run, and the history of it. */
export interface SandboxAgents {
  /** Lets a provider emit an event: every trigger that it concerns fires, or is named with the reason why not. */
  emit(event: ProviderEventDraft): Promise<ProviderEventResult>
  /** Every run, in the order in which they were queued. */
  runs(): Promise<AgentRuns>
}

export function agentsOver(ask: Ask): SandboxAgents {
  return {
    emit: (event) => ask('POST /provider-events', { body: event }),
    runs: () => ask('GET /agent-runs'),
  }
}
