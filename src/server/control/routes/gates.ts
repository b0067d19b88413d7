import { z } from 'zod'
import { refuse } from '../../../core/errors.ts'
import { ruleNamed } from '../../../core/faults/arm.ts'
import { gateSchema } from '../../../core/faults/gate.ts'
import type { FaultRule } from '../../../core/faults/rule.ts'
import { intBetween, list, listOf, type ShapeOf } from '../../../core/fields.ts'
import { change } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { type HeldAtGate, heldAtGate } from '../../../core/time/scheduler.ts'
import { leaveGate, MAX_AT_GATES } from '../../../core/webhooks/delivery.ts'
import { route } from '../route.ts'
import { waitIn } from '../wait.ts'

/** A gate, and what waits at it. */
const gateView = () =>
  z.strictObject({
    /** Id of its fault rule. */
    id: z.string(),
    ...gateSchema().shape,
    /** In order of arrival. */
    held: z.array(heldAtGate()),
  })

export type GateView = ShapeOf<typeof gateView>

const MAX_WAIT = 600_000

/** The gates of a sandbox. */
export const gateRoutes = [
  route('GET /gates', {
    name: 'gates.list',
    summary: 'List the gates, and the requests and webhooks that wait at them',
    returns: 'Every gate of a fault rule, with what waits at it, in order of arrival.',
    output: () => listOf(gateView()),
    handle: ({ sandbox: { faults } }) => {
      const views = faults.rules.flatMap((rule) => {
        const held = faults.gates.held(rule.id)
        return gatesIn(rule).map((gate) => {
          return { id: rule.id, ...gate, held: held.filter(({ at }) => at === gate.at) }
        })
      })
      return { body: list(views) }
    },
  }),
  route('POST /gates/{id}/wait', {
    name: 'gates.wait',
    unrecorded: true,
    summary: 'Wait until a number of requests or webhooks (default 1) waits at a gate',
    returns: 'passed, and what waits; 409 when the time is over. The time is real: 5 seconds by default.',
    success: [200, 409],
    input: () => {
      const count = intBetween(1, MAX_AT_GATES).default(1)
      return {
        body: z.strictObject({ count, timeout_ms: intBetween(1, MAX_WAIT).default(5_000) }).prefault({}),
      }
    },
    output: () =>
      z.strictObject({
        passed: z.boolean(),
        /** In order of arrival. */
        held: z.array(heldAtGate()),
        /** Only of a wait that has not passed: what is missing. */
        description: z.string().exactOptional(),
      }),
    handle: async ({ sandbox, host, gone, params: { id }, body: { count, timeout_ms } }) => {
      refuseOther(sandbox, id)
      const { gates } = sandbox.faults
      const signals = { gone, closing: host.closing }
      const hasCome = () => gates.held(id).length >= count
      await waitIn(sandbox, timeout_ms, signals, hasCome, (check) => [
        gates.onChange(check),
        sandbox.store.onCommit(check),
      ])
      const held = gates.held(id)
      if (held.length >= count) return { body: { passed: true, held } }
      const description = `${count} did not wait at the gate ${id} within ${timeout_ms} ms. What waits there: ${namesOf(held)}.`
      return { status: 409, body: { passed: false, held, description } }
    },
  }),
  route('POST /gates/{id}/release', {
    name: 'gates.release',
    unrecorded: true,
    summary:
      'Let requests or webhooks at a gate go on: all, the first of them (count), or some (requests) in their order',
    returns: 'What was released, in this order. The steps of released requests have run.',
    input: () => {
      const count = intBetween(1, MAX_AT_GATES).optional()
      const requests = z.array(z.string()).min(1).max(MAX_AT_GATES).optional()
      const error = 'cannot be given together with requests'
      const body = z
        .strictObject({ count, requests })
        .refine((given) => given.count === undefined || given.requests === undefined, {
          error,
          path: ['count'],
        })
      return { body: body.prefault({}) }
    },
    output: () => z.strictObject({ held: z.array(heldAtGate()) }),
    handle: async ({ sandbox, params: { id }, body: { count, requests } }) => {
      refuseOther(sandbox, id)
      const { gates } = sandbox.faults
      const all = gates.held(id)
      const held = requests === undefined ? all.slice(0, count) : requests.map((each) => oneOf(all, each, id))
      moveWebhooks(sandbox, id, held, 'release')
      gates.release(held)
      await gates.whenIdle()
      return { body: { held } }
    },
  }),
  route('POST /gates/{id}/abort', {
    name: 'gates.abort',
    unrecorded: true,
    summary: 'Cut the connections of all requests at a gate; webhooks that wait there are never sent',
    returns: 'What was aborted, in order of arrival.',
    output: () => z.strictObject({ held: z.array(heldAtGate()) }),
    handle: ({ sandbox, params: { id } }) => {
      refuseOther(sandbox, id)
      const held = sandbox.faults.gates.held(id)
      moveWebhooks(sandbox, id, held, 'abort')
      sandbox.faults.gates.abort(held)
      return { body: { held } }
    },
  }),
] as const

function gatesIn({ do: plain, actions }: FaultRule) {
  const all = [...plain, ...Object.values(actions).flat()]
  return all.flatMap((action) => ('gate' in action ? [action.gate] : []))
}

/** Refuses a name that no gate has. */
function refuseOther({ store }: Sandbox, id: string): void {
  if (gatesIn(ruleNamed({ tx: store.begin() }, id)).length > 0) return
  const mitigation = '"workspace-emulator gates" lists the gates.'
  refuse('not_found', { detail: `The fault rule "${id}" has no gate.`, mitigation })
}

function oneOf(held: readonly HeldAtGate[], id: string, gate: string): HeldAtGate {
  const detail = `"${id}" does not wait at the gate "${gate}". What waits there: ${namesOf(held)}.`
  return held.find((each) => each.id === id) ?? refuse('not_found', { detail })
}

function namesOf(held: readonly HeldAtGate[]): string {
  return held.map(({ id, name }) => `${name} (${id})`).join(', ') || 'nothing'
}

// A recording has released requests where their steps ran, so that only webhooks are released again.
function moveWebhooks(
  sandbox: Sandbox,
  id: string,
  held: readonly HeldAtGate[],
  how: 'release' | 'abort',
): void {
  const requests = held.flatMap((each) => (each.at === 'webhook' ? [each.id] : []))
  if (requests.length === 0) return
  const body = how === 'release' ? { requests } : {}
  const call = sandbox.recording.call({ route: `POST /gates/{id}/${how}`, params: { id }, query: {}, body })
  change(sandbox, (scope) => leaveGate(scope, id, requests, how === 'abort'))
  call.ended(200, { held })
}
