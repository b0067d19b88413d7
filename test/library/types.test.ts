import { expectTypeOf, test } from 'vitest'
import type { RouteName, Routes } from '../../src/adapters/control/client/ask.ts'
import type {
  AdvanceResult,
  AgentRun,
  AssumptionView,
  BatchFailure,
  BatchPace,
  BatchPlanChange,
  BatchPrediction,
  BatchStatus,
  BatchView,
  ClockChange,
  ClockView,
  ConnectionView,
  EmulatorClient,
  FaultDraft,
  FaultList,
  HealthView,
  LimitDraft,
  LimitFill,
  LimitList,
  LimitWindow,
  List,
  Membership,
  OauthFlowDraft,
  OperationView,
  OutcomeRule,
  PresetList,
  ProblemView,
  RequestCheck,
  RequestEntry,
  RequestList,
  RequestSearch,
  RequestTrace,
  RouteIndex,
  SandboxClient,
  SandboxSummary,
  SandboxView,
  SavedSnapshot,
  ScenarioList,
  ScenarioStart,
  SettingsView,
  SnapshotView,
  StartingPoint,
  StateDocument,
  Stub,
  StubDraft,
  StubList,
  WebhookDelivery,
  WebhookDraft,
} from '../../src/adapters/control/client/public.ts'
import type { Immutable } from '../../src/core/json.ts'
import type { Delivery } from '../../src/core/webhooks/records.ts'
import type { AgentRun as AgentRunRecord } from '../../src/resources/agents/schema.ts'
import type { PlanChange } from '../../src/resources/batch-predictions/controls.ts'
import type { Pace } from '../../src/resources/batch-predictions/pace.ts'
import type {
  Batch,
  Failure,
  OutcomeRule as OutcomeRuleRecord,
  ShownBatch,
} from '../../src/resources/batch-predictions/schema.ts'
import type { BatchStatus as Status } from '../../src/resources/batch-predictions/states.ts'
import type { Connection } from '../../src/resources/connections.ts'
import type { Membership as MembershipRecord } from '../../src/resources/teamspaces/schema.ts'

// The compiler checks these: `npm run types` covers this folder. The tests only give them names.

declare const sandbox: SandboxClient
declare const client: EmulatorClient

/** Whether each of two types can stand for the other. */
type Same<A, B> = [A, B] extends [B, A] ? true : false

type Answer<K extends RouteName> = Immutable<Routes[K]['answer']>

test('bodies of the interface are those that the routes take, no more and no less', () => {
  expectTypeOf<Same<ClockChange, Routes['PATCH /clock']['body']>>().toEqualTypeOf<true>()
  expectTypeOf<
    Same<FaultDraft | readonly FaultDraft[], Routes['POST /faults']['body']>
  >().toEqualTypeOf<true>()
  expectTypeOf<Same<StubDraft | readonly StubDraft[], Routes['POST /stubs']['body']>>().toEqualTypeOf<true>()
  expectTypeOf<Same<RequestSearch, Routes['POST /requests/verify']['body']['match']>>().toEqualTypeOf<true>()
  expectTypeOf<Same<RequestSearch, Routes['POST /requests/wait']['body']['match']>>().toEqualTypeOf<true>()
  expectTypeOf<Same<LimitDraft, Routes['PUT /limits/{operation}']['body']>>().toEqualTypeOf<true>()
  expectTypeOf<Same<LimitFill, Routes['POST /limits/{operation}/fill']['body']>>().toEqualTypeOf<true>()
  expectTypeOf<
    Same<ScenarioStart | undefined, Routes['POST /scenarios/{name}/start']['body']>
  >().toEqualTypeOf<true>()
  expectTypeOf<keyof StartingPoint>().toEqualTypeOf<keyof NonNullable<Routes['POST /reset']['body']>>()
})

test('of answers, no member is left out', () => {
  expectTypeOf<keyof ClockView>().toEqualTypeOf<keyof Answer<'GET /clock'>>()
  expectTypeOf<Same<AdvanceResult, Answer<'POST /clock/advance'>>>().toEqualTypeOf<true>()
  expectTypeOf<keyof FaultList>().toEqualTypeOf<keyof Answer<'GET /faults'>>()
  expectTypeOf<keyof PresetList>().toEqualTypeOf<keyof Answer<'GET /faults/presets'>>()
  expectTypeOf<keyof StubList>().toEqualTypeOf<keyof Answer<'GET /stubs'>>()
  expectTypeOf<Same<Stub, Answer<'GET /stubs/{id}'>>>().toEqualTypeOf<true>()
  expectTypeOf<keyof RequestList>().toEqualTypeOf<keyof Answer<'GET /requests'>>()
  expectTypeOf<keyof RequestEntry>().toEqualTypeOf<keyof Answer<'GET /requests'>['data'][number]>()
  expectTypeOf<Same<RequestCheck, Answer<'POST /requests/verify'>>>().toEqualTypeOf<true>()
  expectTypeOf<Same<RequestTrace, Answer<'GET /explain/{request_id}'>>>().toEqualTypeOf<true>()
  expectTypeOf<keyof RequestTrace>().toEqualTypeOf<keyof Answer<'GET /explain/{request_id}'>>()
  expectTypeOf<keyof LimitList>().toEqualTypeOf<keyof Answer<'GET /limits'>>()
  expectTypeOf<keyof LimitWindow>().toEqualTypeOf<keyof Answer<'GET /limits'>['data'][number]>()
  expectTypeOf<keyof SettingsView>().toEqualTypeOf<keyof Answer<'GET /settings'>>()
  expectTypeOf<keyof AssumptionView>().toEqualTypeOf<keyof Answer<'GET /assumptions'>['data'][number]>()
  expectTypeOf<keyof ScenarioList>().toEqualTypeOf<keyof Answer<'GET /scenarios'>>()
  expectTypeOf<keyof SnapshotView>().toEqualTypeOf<keyof Answer<'GET /snapshots'>['data'][number]>()
  expectTypeOf<keyof SavedSnapshot>().toEqualTypeOf<keyof Answer<'POST /snapshots'>>()
  expectTypeOf<keyof SandboxSummary>().toEqualTypeOf<keyof Answer<'POST /reset'>>()
  expectTypeOf<keyof StateDocument>().toEqualTypeOf<keyof Answer<'GET /state'>>()
  expectTypeOf<keyof SandboxView>().toEqualTypeOf<keyof Answer<'GET /sandboxes/{name}'>>()
  expectTypeOf<keyof OperationView>().toEqualTypeOf<keyof Answer<'GET /operations'>['data'][number]>()
  expectTypeOf<keyof ProblemView>().toEqualTypeOf<keyof Answer<'GET /problems/{code}'>>()
  expectTypeOf<keyof HealthView>().toEqualTypeOf<keyof Answer<'GET /health'>>()
  expectTypeOf<keyof RouteIndex>().toEqualTypeOf<keyof Answer<'GET /'>>()
  expectTypeOf<keyof List<unknown>>().toEqualTypeOf<keyof Answer<'GET /clock/horizon'>>()
})

test('what the resources declare is what the client says by hand', () => {
  expectTypeOf<Same<BatchStatus, Status>>().toEqualTypeOf<true>()
  expectTypeOf<PlanChange>().toExtend<BatchPlanChange>()
  expectTypeOf<keyof BatchPlanChange>().toEqualTypeOf<keyof PlanChange>()
  expectTypeOf<Same<BatchFailure, Failure>>().toEqualTypeOf<true>()
  expectTypeOf<Same<BatchPace, Pace>>().toEqualTypeOf<true>()
  expectTypeOf<Same<OutcomeRule, OutcomeRuleRecord>>().toEqualTypeOf<true>()
  expectTypeOf<Same<BatchPrediction, ShownBatch>>().toEqualTypeOf<true>()
  expectTypeOf<Batch['_emulator']['plan']>().toExtend<BatchView['plan']>()
  expectTypeOf<keyof BatchView['plan']>().toEqualTypeOf<keyof Batch['_emulator']['plan']>()
  expectTypeOf<Same<BatchView['ended'], Batch['_emulator']['ended']>>().toEqualTypeOf<true>()
  expectTypeOf<keyof BatchView['progress']>().toEqualTypeOf<
    keyof Batch['_emulator']['progress'] | 'finished' | 'all_finished_at'
  >()
  expectTypeOf<keyof BatchView['request']>().toEqualTypeOf<keyof Batch['_emulator']['request']>()
  expectTypeOf<Same<WebhookDelivery, Delivery>>().toEqualTypeOf<true>()
  expectTypeOf<keyof AgentRun>().toEqualTypeOf<keyof AgentRunRecord>()
  expectTypeOf<AgentRun['status']>().toEqualTypeOf<AgentRunRecord['status']>()
  expectTypeOf<MembershipRecord>().toExtend<Membership>()
  expectTypeOf<keyof Membership>().toEqualTypeOf<keyof MembershipRecord>()
  expectTypeOf<Connection & { message: string }>().toExtend<ConnectionView>()
  expectTypeOf<keyof ConnectionView>().toEqualTypeOf<keyof Connection | 'message'>()
  expectTypeOf<Required<WebhookDraft>>().toEqualTypeOf<Required<Routes['POST /webhooks']['body']>>()
  expectTypeOf<OauthFlowDraft>().toEqualTypeOf<Routes['POST /mcp-oauth-flows']['body']>()
})

test('wrong calls do not compile', () => {
  const never = (): unknown => [
    // @ts-expect-error two targets at once
    sandbox.clock.advance({ by: '1h', too: '2026-01-01T00:00:00Z' }),
    // @ts-expect-error a number of what?
    sandbox.clock.advance(5),
    // @ts-expect-error a status that batches do not have
    sandbox.clock.advance({ until: { batch: 'b', status: 'done' } }),
    // @ts-expect-error no such action
    sandbox.faults.arm({ match: 'everything', do: [{ explode: {} }] }),
    // @ts-expect-error an action has parameters of its own
    sandbox.faults.arm({ match: 'everything', do: [{ respond: { code: 503 } }] }),
    // @ts-expect-error a preset is named once
    sandbox.faults.preset('rate-limited', { preset: 'another' }),
    // @ts-expect-error the id of a rule cannot be changed
    sandbox.faults.get('f').then((fault) => fault.change({ id: 'g' })),
    // @ts-expect-error no such criterion
    sandbox.requests.verify({ operatoin: 'pages.create' }),
    // @ts-expect-error how many is an object
    sandbox.requests.verify({ operation: 'pages.create' }, 1),
    // @ts-expect-error options are in camelCase
    sandbox.requests.wait({ operation: 'pages.create' }, { timeout_ms: 1 }),
    // @ts-expect-error a record has an id
    sandbox.state.put('pages', { name: 'x' }),
    // @ts-expect-error a stub has a path
    sandbox.stubs.create({ method: 'GET' }),
    // @ts-expect-error a receiver has a URL
    sandbox.webhooks.create({}),
    // @ts-expect-error no such shipped data
    sandbox.reset({ fixtures: 'demos' }),
    // @ts-expect-error no such type
    sandbox.events({ types: ['requests'] }),
    // @ts-expect-error options of a sandbox are in camelCase
    client.sandbox('w', { from_snapshot: 's' }),
    // @ts-expect-error no such document
    client.openapi('both'),
  ]
  expectTypeOf(never).returns.toBeUnknown()
})

test('an event is known by its type', () => {
  const look = async () => {
    for await (const event of sandbox.events()) {
      if (event.type === 'request') expectTypeOf(event.data.status).toBeNumber()
      if (event.type === 'hello') expectTypeOf(event.data.version).toBeString()
      // @ts-expect-error a request has no reason
      if (event.type === 'request') event.data.reason
    }
  }
  expectTypeOf(look).returns.resolves.toBeVoid()
})
