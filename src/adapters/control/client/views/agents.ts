import type { JsonObject } from '../../../../core/json.ts'
import type { List } from './list.ts'

/** What a provider emits. */
export interface ProviderEventDraft {
  /** One of the names of the setting `names.trigger_sources`. */
  readonly source: string
  readonly event: string
  /** What the provider tells beside: at most 65,536 characters of JSON. */
  readonly payload?: Record<string, unknown> | undefined
}

/** What became of a provider event. */
export interface ProviderEventResult {
  readonly object: 'provider_event'
  readonly id: string
  readonly source: string
  readonly event: string
  /** Triggers that made their agent run. */
  readonly fired: readonly {
    readonly trigger_id: string
    readonly agent_id: string
    readonly run_id: string
    readonly thread_id: string | null
  }[]
  /** Triggers that the event concerns and that did nothing, each with the reason. */
  readonly not_fired: readonly {
    readonly trigger_id: string
    readonly agent_id: string
    readonly because: string
  }[]
}

/** One run of an agent. */
export interface AgentRun {
  readonly id: string
  readonly agent_id: string
  readonly automation_id: string | null
  readonly trigger_id: string | null
  readonly thread_id: string | null
  readonly status: 'queued' | 'executed' | 'dropped'
  /** Virtual instant. */
  readonly queued_at: string
  readonly executed_at: string | null
  /** In words. */
  readonly cause: string
  readonly event_id: string | null
  readonly payload: JsonObject | null
}

/** The runs of agents, and the threads that they share. */
export interface AgentRuns extends List<AgentRun> {
  /** How many older runs are no longer kept. */
  readonly dropped: number
  readonly threads: readonly { readonly thread_id: string; readonly runs: readonly string[] }[]
}
