import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorKinds } from '../../src/core/error-kinds.ts'
import type { RequestTrace } from '../../src/core/explain/trace.ts'
import type { Json } from '../../src/core/json.ts'
import { STEPS, type Step } from '../../src/core/request/steps.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { KEYS } from '../support/base-state.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { prettyJson } from '../support/pretty-json.ts'
import { faultKinds } from './explain-fault-kinds.ts'
import { made, refusalKinds, specialKinds, successKinds } from './explain-kinds.ts'

const { assumptions } = workspaceService

const kinds = { ...successKinds, ...specialKinds, ...refusalKinds, ...faultKinds }

/** The kinds whose whole explanation is kept in a file, so that a change of its text is seen. */
const GOLDEN = readdirSync(new URL('golden/explain/', import.meta.url)).map((file) =>
  file.replace('.json', ''),
)

/** The step that decides a kind of request, and its effects. Without a row, the handler decides, and nothing changes. */
const OUTCOMES: Readonly<Record<string, readonly [decided: Step, ...effects: string[]]>> = {
  '400-bad_request-percent': ['receive'],
  '400-bad_request-sandbox-name': ['receive'],
  '400-bad_request-wire': ['receive'],
  '400-malformed_json': ['validate'],
  '400-malformed_message_id': ['checkPathIds'],
  '400-not_an_agent_message': ['loadTarget'],
  '400-validation_failed-body': ['validate'],
  '400-validation_failed-idempotency-key': ['replay'],
  '400-validation_failed-no-body': ['validate'],
  '400-validation_failed-query': ['validate'],
  '401-unauthorized-fault': ['authenticate', 'fault expired'],
  '401-unauthorized-no-key': ['authenticate'],
  '401-unauthorized-revoked': ['authenticate', 'deleted api_keys by authenticate', 'fault token-revoked'],
  '401-unauthorized-unknown-key': ['authenticate'],
  '403-forbidden-denied': ['authorize'],
  '403-forbidden-host': ['receive'],
  '403-forbidden-membership': ['authorize'],
  '403-forbidden-rights': ['loadTarget'],
  '403-mcp_oauth_requires_user_principal': ['authorize'],
  '404-not_found': ['loadTarget'],
  '404-route_not_found': ['route'],
  '404-route_not_found-outside': ['route'],
  '405-method_not_allowed': ['route'],
  '408-request_timeout': ['receive'],
  '409-idempotency_key_in_use-fault': ['replay', 'fault concurrent-same-key'],
  '409-idempotency_key_reused': ['replay'],
  '412-precondition_failed-fault': ['faultsBefore', 'fault stale'],
  '413-payload_too_large': ['validate'],
  '415-unsupported_media_type': ['validate'],
  '417-expectation_failed': ['receive'],
  '422-validation_failed-by-setting': ['validate'],
  '429-rate_limit_exceeded-fault': ['rateLimit', 'fault batch-admission-concurrency'],
  '429-rate_limit_exceeded-window': ['rateLimit'],
  '431-header_fields_too_large': ['receive'],
  '500-internal_error': ['commit'],
  '501-emulator_contract_unspecified-strict': ['loadTarget'],
  '502-bad_gateway-fault-proxy': ['faultsBefore', 'fault html-error-page'],
  '503-service_unavailable-fault': ['faultsBefore', 'fault steps'],
  '504-gateway_timeout-fault-after-the-effect': [
    'faultsAfter',
    'created batch_predictions',
    'scheduled 2',
    'fault ambiguous-gateway-5xx',
  ],
  '507-storage_unavailable': ['commit'],
  'cut-fault-before-read': ['faultsBefore', 'fault gone'],
  'ok-agents.claim': ['handle', 'changed agent_templates'],
  'ok-agents.generate': ['handle', 'created agent_templates'],
  'ok-automations.create': ['handle', 'created automations'],
  'ok-automations.delete': ['handle', 'changed automations'],
  'ok-automations.update': ['handle', 'changed automations'],
  'ok-batch-predictions.cancel': ['handle', 'changed batch_predictions', 'scheduled 1', 'unscheduled 2'],
  'ok-batch-predictions.create': ['handle', 'created batch_predictions', 'scheduled 2'],
  'ok-body-not-kept': ['handle', 'created pages'],
  'ok-connections.create': ['handle', 'created connections'],
  'ok-conversations.delete': ['handle', 'deleted conversations'],
  'ok-event-triggers.create': ['handle', 'created event_triggers'],
  'ok-event-triggers.delete': ['handle', 'deleted event_triggers'],
  'ok-event-triggers.update': ['handle', 'changed event_triggers'],
  'ok-fault-answers-instead': ['faultsBefore', 'fault none'],
  'ok-fault-cut-after-the-handler': [
    'handle',
    'created batch_predictions',
    'scheduled 2',
    'fault lost-response-after-commit',
  ],
  'ok-fault-moves-the-sandbox': [
    'handle',
    'created batch_predictions',
    'changed batch_predictions by faultsAfter',
    'scheduled 3',
    'unscheduled 2',
    'fault batch-instant-terminal',
  ],
  'ok-fault-on-the-wire': ['handle', 'fault odd-body', 'fault odd-head'],
  'ok-idempotency-first-use': ['handle', 'created batch_predictions', 'scheduled 2'],
  'ok-idempotency-replay': ['replay'],
  'ok-mcp-servers.oauth-callback': ['handle', 'changed oauth_flows', 'changed mcp_servers'],
  'ok-messages.feedback': ['handle', 'changed messages'],
  'ok-pages.create': ['handle', 'created pages'],
  'ok-poll-that-ends-a-batch-and-leaves-a-webhook': [
    'handle',
    'changed batch_predictions by poll',
    'scheduled 1',
    'webhook batch_prediction.completed',
  ],
  'ok-skills.promote': ['handle', 'changed skills'],
  'ok-teamspace-users.delete': ['handle', 'changed memberships'],
  'ok-teamspaces.create': ['handle', 'created teamspaces', 'created memberships'],
  'ok-teamspaces.update': ['handle', 'changed teamspaces'],
}

const outcomeOf = (name: string) => OUTCOMES[name] ?? (['handle'] as const)

const HIDDEN = ['claim-1', 'state-of-flow', 'secret-code', 'secret-state', '"authorization"']
const SECRETS = [...Object.values(KEYS), ...HIDDEN]

test.for(Object.entries(kinds))(
  '%s: explain names the deciding step and the effects, and shows no secret',
  { tags: ['R231'] },
  async ([name, kind]) => {
    const { emulator, id } = await made(kind)
    const { status, body } = await emulator.control('GET', `/explain/${id}?stable=true`)
    expect([name, status]).toEqual([name, 200])
    const trace: RequestTrace = body
    const [decided, ...effects] = outcomeOf(name)
    expect(decidedBy(trace)).toEqual([decided])
    expect(effectsOf(trace)).toEqual(effects)
    expect(reached(trace)).toEqual(expectedSteps(name, decided))
    expect(trace.summary).toContain(` by the step ${decided}: `)
    if (trace.error !== null) expect(name).toMatch(new RegExp(`^${trace.error.status}-${trace.error.code}`))
    else if (workspaceService.operations.has(name.slice(3))) expect(`ok-${trace.route.operation}`).toBe(name)
    expect(trace.steps.map(({ step }) => step)).toEqual(STEPS)
    expect(trace.assumptions).toEqual(trace.assumptions.map(({ id }) => assumed(emulator, id)))
    // The tests of each operation check its response.
    const { response: _, ...rest } = trace
    for (const secret of SECRETS) expect(JSON.stringify(rest).includes(secret), secret).toBe(false)
    const text = prettyJson(shortened(rest)).replaceAll(`:${emulator.emulator.port}`, ':4010')
    if (GOLDEN.includes(name)) await expect(text).toMatchFileSnapshot(`golden/explain/${name}.json`)
  },
)

/** A trace with a row for each step that it reached, and without what the catalog says of its assumptions. */
function shortened(trace: Omit<RequestTrace, 'response'>): Json {
  const rows = trace.steps.flatMap(({ step, outcome, description, ...others }) => {
    expect(others).toEqual({})
    if (outcome !== 'not reached') return [[step, outcome, description]]
    expect(description).toBe('')
    return []
  })
  return { ...trace, steps: rows, assumptions: trace.assumptions.map(({ id }) => id) } as unknown as Json
}

/** What a trace says of an assumption: its text, and the settings in force that decide it. */
function assumed({ sandbox }: TestEmulator, id: string) {
  const item = assumptions.items.get(id)
  const own = [...assumptions.settings.values()].filter((setting) => setting.item === id)
  const settings = own.map((each) => ({ key: each.key, value: sandbox.settings.get(each) }))
  return { id, open: item?.open, decision: item?.decision, settings }
}

function decidedBy({ steps }: RequestTrace): string[] {
  return steps.filter(({ outcome }) => outcome === 'decided').map(({ step }) => step)
}

function reached({ steps }: RequestTrace): string[] {
  return steps.filter(({ outcome }) => outcome !== 'not reached').map(({ step }) => step)
}

/** Every step up to the deciding one. A success reaches the steps after the handler; the log comes last. */
function expectedSteps(name: string, decided: Step): string[] {
  // The connection is cut before the request is read.
  if (name === 'cut-fault-before-read') return ['receive', 'route', 'faultsBefore']
  const last = STEPS.indexOf(decided)
  return STEPS.filter((step, index) => {
    if (index <= last || step === 'log') return true
    if (step === 'runDueEvents') return decided === 'receive' || decided === 'route'
    if (!name.startsWith('ok-')) return false
    if (step === 'commit') return decided === 'handle'
    return step === 'faultsAfter' && (decided === 'replay' || decided === 'handle')
  })
}

function effectsOf({ changes, scheduled, unscheduled, deliveries, faults }: RequestTrace): string[] {
  return [
    ...changes.map(
      ({ action, ref, step }) => `${action} ${ref.split('/')[0]}${step === 'handle' ? '' : ` by ${step}`}`,
    ),
    ...(scheduled.length > 0 ? [`scheduled ${scheduled.length}`] : []),
    ...(unscheduled.length > 0 ? [`unscheduled ${unscheduled.length}`] : []),
    ...deliveries.map(({ type }) => `webhook ${type}`),
    ...faults.filter(({ fired }) => fired).map(({ rule }) => `fault ${rule}`),
  ]
}

const names = Object.keys(kinds)

test('there is a golden file for twelve kinds, and each outcome is of a kind', () => {
  expect(GOLDEN).toHaveLength(12)
  expect([...GOLDEN, ...Object.keys(OUTCOMES)].filter((name) => !names.includes(name))).toEqual([])
})

test('the kinds have every error code', () => {
  const codes = new Set(names.flatMap((name) => /^\d+-([a-z_]+)/.exec(name)?.[1] ?? []))
  expect([...codes].sort()).toEqual([...errorKinds.keys()].sort())
})

test('every step decides some kind, except the steps that refuse nothing', () => {
  const decided = new Set(names.map((name) => outcomeOf(name)[0]))
  // Due events, polls and the log refuse nothing themselves.
  const never = ['runDueEvents', 'poll', 'log']
  expect(STEPS.filter((step) => !decided.has(step))).toEqual(never)
})
