import { type CallControl, type CallsOf, dataOf } from './control-client/ask.ts'
import type { ClockOf, TargetOf } from './control-client/clock.ts'
import { type ConnectOptions, connectTo } from './control-client/connect.ts'
import type { EmulatorOf } from './control-client/emulator.ts'
import type { SandboxOf } from './control-client/sandbox.ts'
import type { Delivery } from './core/webhooks/records.ts'
import type { EmulatorOptions } from './emulator/options.ts'
import { type RunningOf, startWith } from './emulator/start-emulator.ts'
import type { emitEvent, ProviderEventDraft, ProviderEventResult } from './service/agents/provider-events.ts'
import type { AgentRuns, listRuns } from './service/agents/runs.ts'
import type { AgentRun } from './service/agents/schema.ts'
import type {
  BatchFailure,
  BatchPlanChange,
  BatchView,
  batchControls,
} from './service/batch-predictions/controls.ts'
import type { BatchGoal } from './service/batch-predictions/milestone.ts'
import type {
  BatchSummary,
  batchOverviews,
  PlannedResult,
  WebhookTrigger,
} from './service/batch-predictions/overview.ts'
import type { ConnectionView, showConnection } from './service/connections.ts'
import type { OauthFlow, OauthFlowDraft, startFlow } from './service/mcp-servers/oauth.ts'
import type { joinTeamspace } from './service/teamspaces/access.ts'
import type { Membership } from './service/teamspaces/schema.ts'

/** The calls that the resources of this service declare. */
type ServiceCalls = CallsOf<
  | (typeof batchControls)[number]
  | (typeof batchOverviews)[number]
  | typeof emitEvent
  | typeof listRuns
  | typeof startFlow
  | typeof joinTeamspace
  | typeof showConnection
>

/** Control of batch predictions that the API does not offer. Changes reject with `conflict` if the batch has the wrong state. */
export type SandboxBatches = SandboxClient['batches']

/** Provider events, which start agent runs, and the history of the runs. */
export type SandboxAgents = SandboxClient['agents']

/** Control of MCP servers that the API does not offer. */
export type SandboxMcpServers = SandboxClient['mcpServers']

/** Control of teamspaces that the API does not offer. */
export type SandboxTeamspaces = SandboxClient['teamspaces']

/** Connections that clients have requested. */
export type SandboxConnections = SandboxClient['connections']

/** The virtual clock of a sandbox. */
export type SandboxClock = ClockOf<BatchGoal>

/** How far the clock is advanced. */
export type ClockTarget = TargetOf<BatchGoal>

/**
 * One sandbox: a separate emulated service with its own state, clock, limits, faults, request log, webhooks and scenario.
 * Every method rejects with an `EmulatorError` when the emulator refuses or does not respond.
 */
export interface SandboxClient extends SandboxOf<BatchGoal>, Readonly<ReturnType<typeof extend>> {}

/** An emulator, in this process or elsewhere. */
export type EmulatorClient = EmulatorOf<SandboxClient>

/** An emulator that runs in this process. Disposing of it closes it. */
export type Emulator = RunningOf<SandboxClient>

const extend = (ask: CallControl<ServiceCalls>) => ({
  batches: {
    /** Every batch with its progress, and when its next phases are expected. */
    list: (): Promise<readonly BatchSummary[]> => dataOf(ask('GET /batches')),
    /**
     * Results of a batch in the order of its items. Before the batch is terminal they are the results that its plan predicts.
     * @param page `limit`: default 1,000, at most 10,000; `offset`: default 0
     */
    results: (
      id: string,
      { limit, offset }: { readonly limit?: number; readonly offset?: number } = {},
    ): Promise<readonly PlannedResult[]> =>
      dataOf(
        ask('GET /batches/{id}/results', {
          params: { id },
          query: { limit: limit?.toString(), offset: offset?.toString() },
        }),
      ),
    /** The plan of a batch, its counts now, and its future events. */
    show: (id: string): Promise<BatchView> => ask('GET /batches/{id}', { params: { id } }),
    /** Changes the pace or the outcomes of unfinished items, holds the batch or releases it. */
    change: (id: string, plan: BatchPlanChange): Promise<BatchView> =>
      ask('PATCH /batches/{id}', { params: { id }, body: plan }),
    /** Fails a batch that is validating or in progress. */
    fail: (id: string, failure?: BatchFailure): Promise<BatchView> =>
      ask('POST /batches/{id}/fail', { params: { id }, body: failure }),
    /** Completes a batch at once, through its remaining phases. The batch fails if its items do not validate. */
    complete: (id: string): Promise<BatchView> => ask('POST /batches/{id}/complete', { params: { id } }),
    /** Ends the completion window of a batch that is validating or in progress. */
    expire: (id: string): Promise<BatchView> => ask('POST /batches/{id}/expire', { params: { id } }),
    /** Sends a webhook about a batch, the newest one by default, to its subscribers. The batch itself does not change. */
    triggerWebhook: (webhook: WebhookTrigger): Promise<readonly Delivery[]> =>
      dataOf(ask('POST /webhooks/trigger', { body: webhook })),
    /** Removes the results of a terminal batch, at any age. */
    cleanup: (id: string): Promise<BatchView> => ask('POST /batches/{id}/cleanup', { params: { id } }),
  },
  agents: {
    /** Emits an event of a provider. The result has the triggers that fired, and those that did not, with the reason. */
    emit: (event: ProviderEventDraft): Promise<ProviderEventResult> =>
      ask('POST /provider-events', { body: event }),
    /** Every run, in the order in which they were queued. */
    runs: (): Promise<readonly AgentRun[]> => dataOf(ask('GET /agent-runs')),
    /** The threads that runs share, and the runs of each. */
    threads: async (): Promise<AgentRuns['threads']> => (await ask('GET /agent-runs')).threads,
  },
  mcpServers: {
    /** Starts an OAuth flow, which the API then completes. */
    startOauth: (flow: OauthFlowDraft): Promise<OauthFlow> => ask('POST /mcp-oauth-flows', { body: flow }),
  },
  teamspaces: {
    /**
     * Lets a user of the organization join an open teamspace without approval. Rejects with `conflict` for a closed one.
     * @param role default `member`
     */
    join: (teamspaceId: string, userId: string, role?: string): Promise<Membership> =>
      ask('POST /teamspaces/{teamspace_id}/join', {
        params: { teamspace_id: teamspaceId },
        body: { user_id: userId, role },
      }),
  },
  connections: {
    /** A connection, with the result of its consent page. */
    show: (id: string): Promise<ConnectionView> => ask('GET /connections/{id}', { params: { id } }),
  },
})

/**
 * Starts an emulator in this process and resolves when it accepts requests. Rejects when the fixtures (`FixturesError`), another
 * option or the scenario (`EmulatorError`) is invalid, or the port or the state file is in use. A `controlToken` is required when
 * other machines can reach the `host`.
 * @example
 * await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
 * const response = await emulator.defaultSandbox.fetch('/organization/mcp-servers')
 */
export function startEmulator(options?: EmulatorOptions): Promise<Emulator> {
  return startWith<SandboxClient>(extend, options)
}

/**
 * A client of an emulator that runs elsewhere: in another process, or in a container. Nothing is sent before it is used.
 * @param url of the emulator, as it prints it: its origin, its base URL or its control URL. One that names a sandbox
 *   (`http://127.0.0.1:4010/@w1`) makes that one the `defaultSandbox` of the client.
 * @throws TypeError when `url` is not the address of an emulator, or an option is unknown
 * @example
 * const emulator = connect('http://127.0.0.1:4010')
 * await emulator.ready()
 * await emulator.defaultSandbox.clock.advance('24h')
 */
export function connect(url: string, options?: ConnectOptions): EmulatorClient {
  return connectTo<SandboxClient>(extend, url, options)
}

export type { FixturesDocument } from './adapters/fixtures.ts'
export * from './adapters/scenarios/define-scenario.ts'
export type { AdvanceOptions } from './control-client/clock.ts'
export type { Conduct } from './control-client/conduct.ts'
export type { ConnectOptions } from './control-client/connect.ts'
export type { EmulatorSandboxes, SandboxStart } from './control-client/emulator.ts'
export { EmulatorError, type EmulatorErrorFacts } from './control-client/emulator-error.ts'
export type { EventOptions } from './control-client/events.ts'
export type { ArmedFault, FaultPatch, SandboxFaults } from './control-client/faults.ts'
export type { Gate, GateRelease, SandboxGates } from './control-client/gates.ts'
export type {
  SandboxLimits,
  SandboxScenarios,
  SandboxSettings,
  SandboxStubs,
  SandboxWebhooks,
} from './control-client/parts.ts'
export type { RequestFilter, SandboxRequests, WaitOptions } from './control-client/requests.ts'
export type { ApiRequestInit, ContractCoverage } from './control-client/sandbox.ts'
export type {
  SandboxSnapshots,
  SandboxStateAccess,
  ShownSecrets,
  StateRecord,
} from './control-client/state.ts'
export type { Assumption } from './core/assumptions.ts'
export type { Finding } from './core/conduct/finding.ts'
export type { LimitOverride } from './core/core-assumptions.ts'
export type { StepTrace } from './core/explain/steps.ts'
export type { RequestTrace } from './core/explain/trace.ts'
export type { MagicValue, Preset } from './core/faults/preset.ts'
export type { Action } from './core/faults/primitive.ts'
export type { CountedBy, FaultDraft, FaultMatch, FaultRule, FaultSource, When } from './core/faults/rule.ts'
export type { Standing } from './core/faults/standing.ts'
export type { FaultTrace } from './core/faults/trace.ts'
export { FixturesError } from './core/fixtures-error.ts'
export type { Issue, Json, JsonObject } from './core/json.ts'
export { fitsGlob } from './core/log/glob.ts'
export type { BodyRule, PathMatch } from './core/log/request-criteria.ts'
export type { CallerMatch, Missed, RequestMatch } from './core/log/request-match.ts'
export type { Caller as RequestCaller } from './core/request/auth.ts'
export type { SandboxKeys } from './core/request/plain-keys.ts'
export type { SnapshotView } from './core/sandboxes/snapshots.ts'
export type { ScenarioEvent } from './core/scenarios/row.ts'
export type {
  ActiveScenario,
  ListedScenario,
  ScenarioFailure,
  ShownScenario,
} from './core/scenarios/source.ts'
export type { StepAction } from './core/scenarios/step-actions.ts'
export type { Stub, StubDraft, StubSource } from './core/scenarios/stub.ts'
export type { Document as StateDocument } from './core/state/state.ts'
export type { AdvanceResult, DeliveryAttempt, FutureEvent, RanEvent } from './core/time/scheduler.ts'
export type { InboxMessage } from './core/webhooks/inbox.ts'
export type {
  Attempt as WebhookAttempt,
  Delivery as WebhookDelivery,
  DeliveryFaults,
  WebhookChange,
  WebhookDraft,
} from './core/webhooks/records.ts'
export type { WebhookView } from './core/webhooks/resource.ts'
export type { EmulatorOptions, Logger } from './emulator/options.ts'
export * from './endpoints/define.ts'
export type { CoveredPoint } from './server/control/coverage/report.ts'
export type { EventType } from './server/control/event-types.ts'
export type { RequestEntry } from './server/control/request-entry.ts'
export type { Removed } from './server/control/route.ts'
export type { HealthView, RouteIndex, StorageView } from './server/control/routes/about.ts'
export type { AssumptionView, SettingsView } from './server/control/routes/assumptions.ts'
export type { ClockChange, ClockView, LatestAdvance } from './server/control/routes/clock.ts'
export type { EndpointView } from './server/control/routes/endpoints.ts'
export type { SandboxEvent } from './server/control/routes/events.ts'
export type {
  FaultView,
  PresetView,
  RemovedFaults,
} from './server/control/routes/faults.ts'
export type {
  LimitDraft,
  LimitFill,
  LimitRules,
  LimitWindow,
} from './server/control/routes/limits.ts'
export type { Collections } from './server/control/routes/records.ts'
export type { OperationView, ProblemView } from './server/control/routes/reference.ts'
export type { ConductOptions } from './server/control/routes/reports.ts'
export type {
  NearestRequest,
  RequestCheck,
  RequestCount,
  RequestSearch,
} from './server/control/routes/request-checks.ts'
export type { LogCounts } from './server/control/routes/requests.ts'
export type { SandboxView, SavedSandboxView } from './server/control/routes/sandboxes.ts'
export type { ScenarioStart } from './server/control/routes/scenarios.ts'
export type { SavedSnapshot } from './server/control/routes/state.ts'
export type { SandboxSummary } from './server/control/sandbox-summary.ts'
export type { StartingPoint } from './server/control/starting-point.ts'
export * from './service/batch-predictions/builders.ts'
export type {
  BatchSummary,
  PlannedResult,
  PlannedResults,
  WebhookTrigger,
} from './service/batch-predictions/overview.ts'
export type { ItemPace, Pace as BatchPace, PhasePace } from './service/batch-predictions/pace.ts'
export type { OutcomeRule, ShownBatch as BatchPrediction } from './service/batch-predictions/schema.ts'
export type { BatchStatus } from './service/batch-predictions/states.ts'
export * from './service/builders.ts'
export type {
  AgentRun,
  AgentRuns,
  BatchFailure,
  BatchGoal,
  BatchPlanChange,
  BatchView,
  ConnectionView,
  Membership,
  OauthFlow,
  OauthFlowDraft,
  ProviderEventDraft,
  ProviderEventResult,
}
