import * as z from 'zod'
import { refuse } from '../../../core/errors.ts'
import { ruleNamed } from '../../../core/faults/arm.ts'
import type { GateFault } from '../../../core/faults/gate.ts'
import type { FaultRule } from '../../../core/faults/rule.ts'
import { intBetween, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import { change } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { later } from '../../../core/time/realtime.ts'
import { type HeldAtGate, heldAtGate } from '../../../core/time/scheduler.ts'
import { atGate, dropAtGate, MAX_AT_GATES, releaseFromGate } from '../../../core/webhooks/delivery.ts'
import { route } from '../route.ts'

/** A fault rule with a gate, and what waits at it. */
const gateView = () =>
  z.strictObject({
    /** Id of the fault rule. */
    id: z.string(),
    at: heldAtGate().shape.at,
    /** When it opens by itself; null when only a client opens it. */
    release: z
      .strictObject({ waiting: z.int().exactOptional(), after: z.string().exactOptional() })
      .nullable(),
    /** In order of arrival. */
    held: z.array(heldAtGate()),
  })

export type GateView = ShapeOf<typeof gateView>

/** The result of a wait at a gate. */
const gateWait = () =>
  z.strictObject({
    passed: z.boolean(),
    /** What waits now, in order of arrival. */
    held: z.array(heldAtGate()),
    /** Only of a wait that has not passed: the reason. */
    description: z.string().exactOptional(),
  })

/** What has left a gate, in this order. */
const gateResult = () => z.strictObject({ held: z.array(heldAtGate()) })

const DEFAULT_WAIT = 5_000
const MAX_WAIT = 600_000

/** The gates of a sandbox. */
export const gateRoutes = [
  route({
    name: 'gates.list',
    method: 'GET',
    path: '/gates',
    summary: 'List the gates, and the requests and webhooks that wait at them',
    returns: 'Every fault rule with a gate, with what waits at it, in order of arrival.',
    output: () => listOf(gateView()),
    handle: ({ sandbox }) => ({ body: list(sandbox.faults.rules.flatMap((rule) => viewsOf(sandbox, rule))) }),
  }),
  route({
    name: 'gates.wait',
    unrecorded: true,
    method: 'POST',
    path: '/gates/{id}/wait',
    summary: 'Wait until a number of requests or webhooks (default 1) waits at a gate',
    returns: 'passed, and what waits; 409 when the time is over. The time is real: 5 seconds by default.',
    success: [200, 409],
    input: () => ({
      body: z
        .strictObject({
          count: intBetween(1, MAX_AT_GATES).default(1),
          timeout_ms: intBetween(1, MAX_WAIT).default(DEFAULT_WAIT),
        })
        .prefault({}),
    }),
    output: gateWait,
    handle: async ({ sandbox, host, gone, params: { id }, body: { count, timeout_ms } }) => {
      gateNamed(sandbox, id)
      const end = await arrival(sandbox, id, { count, timeout_ms }, [host.closing, gone])
      const held = sandbox.faults.gates.held(id)
      if (end === 'arrived') return { body: { passed: true, held } }
      const names = held.length === 0 ? 'nothing' : held.map(({ id, name }) => `${name} (${id})`).join(', ')
      const description = `${end === 'late' ? `${count} did not wait at the gate ${id} within ${timeout_ms} ms` : `The wait at the gate ${id} was ended by the emulator`}. What waits there: ${names}.`
      return { status: 409, body: { passed: false, held, description } }
    },
  }),
  route({
    name: 'gates.release',
    unrecorded: true,
    method: 'POST',
    path: '/gates/{id}/release',
    summary:
      'Let requests or webhooks at a gate go on: all, the first of them (count), or some (requests) in their order',
    returns: 'What was released, in this order. The steps of released requests have run.',
    input: () => ({
      body: z
        .strictObject({
          count: intBetween(1, MAX_AT_GATES).optional(),
          /** Ids of requests or deliveries that wait. */
          requests: z.array(z.string()).min(1).max(MAX_AT_GATES).optional(),
        })
        .refine(({ count, requests }) => count === undefined || requests === undefined, {
          error: 'cannot be given together with requests',
          path: ['count'],
        })
        .prefault({}),
    }),
    output: gateResult,
    handle: async ({ sandbox, params: { id }, body }) => {
      gateNamed(sandbox, id)
      const held = chosen(sandbox.faults.gates.held(id), id, body)
      moveWebhooks(sandbox, id, held, releaseFromGate)
      sandbox.faults.gates.release(held)
      await sandbox.faults.gates.whenIdle()
      return { body: { held } }
    },
  }),
  route({
    name: 'gates.abort',
    unrecorded: true,
    method: 'POST',
    path: '/gates/{id}/abort',
    summary: 'Cut the connections of all requests at a gate; webhooks that wait there are never sent',
    returns: 'What was aborted, in order of arrival.',
    output: gateResult,
    handle: ({ sandbox, params: { id } }) => {
      gateNamed(sandbox, id)
      const held = sandbox.faults.gates.held(id)
      moveWebhooks(sandbox, id, held, dropAtGate)
      sandbox.faults.gates.abort(held)
      return { body: { held } }
    },
  }),
] as const

function viewsOf({ faults: { gates } }: Sandbox, rule: FaultRule): GateView[] {
  const held = gates.held(rule.id)
  return gatesIn(rule).map(({ at, release = null }) => {
    return { id: rule.id, at, release, held: held.filter((each) => each.at === at) } as GateView
  })
}

function gatesIn({ do: plain, actions }: FaultRule): GateFault[] {
  return [...plain, ...Object.values(actions).flat()].flatMap((action) =>
    'gate' in action ? [action.gate] : [],
  )
}

function gateNamed({ store }: Sandbox, id: string): void {
  if (gatesIn(ruleNamed({ tx: store.begin() }, id)).length > 0) return
  refuse('not_found', {
    detail: `The fault rule "${id}" has no gate.`,
    mitigation: '"workspace-emulator gates list" lists the gates.',
  })
}

function chosen(
  held: readonly HeldAtGate[],
  gate: string,
  {
    count,
    requests,
  }: { readonly count?: number | undefined; readonly requests?: readonly string[] | undefined },
): readonly HeldAtGate[] {
  if (requests === undefined) return held.slice(0, count)
  return [...new Set(requests)].map(
    (id) =>
      held.find((each) => each.id === id) ??
      refuse('not_found', {
        detail: `"${id}" does not wait at the gate "${gate}". What waits there: ${held.map((each) => each.id).join(', ') || 'nothing'}.`,
      }),
  )
}

// A recording has released requests where their steps ran, and only webhooks are released again.
function moveWebhooks(
  sandbox: Sandbox,
  id: string,
  held: readonly HeldAtGate[],
  move: typeof releaseFromGate | typeof dropAtGate,
): void {
  const ids = held.flatMap((each) => (each.at === 'webhook' ? [each.id] : []))
  if (ids.length === 0) return
  const isRelease = move === releaseFromGate
  const body = isRelease ? { requests: ids } : {}
  const route = `POST /gates/{id}/${isRelease ? 'release' : 'abort'}`
  const call = sandbox.recording.call({ route, params: { id }, query: {}, body })
  change(sandbox, (scope) => {
    const waiting = new Map(atGate(scope.tx, id).map((delivery) => [delivery.id, delivery]))
    move(
      scope,
      ids.flatMap((each) => waiting.get(each) ?? []),
    )
  })
  call.ended(200, { held })
}

async function arrival(
  { faults: { gates }, listeners }: Sandbox,
  id: string,
  { count, timeout_ms }: { readonly count: number; readonly timeout_ms: number },
  signals: readonly AbortSignal[],
): Promise<'arrived' | 'late' | 'ended'> {
  return new Promise((resolve) => {
    const end = (how: 'arrived' | 'late' | 'ended') => (): void => {
      for (const stop of stops) stop()
      resolve(how)
    }
    const check = (): void => {
      if (gates.held(id).length >= count) end('arrived')()
    }
    const ended = end('ended')
    const stops = [
      gates.onArrival(check),
      listeners.onReplaced(ended),
      listeners.onClosed(ended),
      later(timeout_ms, end('late')),
      ...signals.map((signal) => {
        signal.addEventListener('abort', ended)
        return () => signal.removeEventListener('abort', ended)
      }),
    ]
    if (signals.some(({ aborted }) => aborted)) ended()
    else check()
  })
}
