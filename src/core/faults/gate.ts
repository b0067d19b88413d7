import { transferableAbortController } from 'node:util'
import { durationUpTo, intBetween } from '../fields.ts'
import type { Call } from '../request/exchange.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { membersOf, someOf, strictObject } from '../strict-input.ts'
import { formatInstant } from '../time/instant.ts'
import { runDueEvents } from '../time/run-events.ts'
import { type HeldAtGate, heldAtGate } from '../time/scheduler.ts'
import { MAX_AT_GATES, openAfter } from '../webhooks/delivery.ts'
import { MAX_DELAY } from '../webhooks/records.ts'
import type { Decision } from './decision.ts'
import { treatmentOf } from './deliver.ts'
import type { ParametersOf } from './primitive.ts'
import type { StatePrimitive } from './state-primitive.ts'

/** Stops requests or webhooks until they are released. */
export type GateFault = ParametersOf<typeof gateSchema>

export function gateSchema() {
  return strictObject({
    /** `before-handler`: nothing has happened yet. `after-handler`: the effect exists, the client has no response. */
    at: heldAtGate().shape.at,
    /** When it opens by itself. Absent: only when it is released. */
    release: someOf({
      /** As soon as this number waits, 1 to 1,000; then it counts from 0 again. */
      waiting: intBetween(1, MAX_AT_GATES).optional(),
      /** Virtual duration after the first arrival; at most 366d. */
      after: durationUpTo(MAX_DELAY).optional(),
    })
      .refine((value) => membersOf(value).length === 1, { error: 'must have waiting or after, not both' })
      .optional(),
  })
}

export const gate: StatePrimitive<'gate', typeof gateSchema> = {
  name: 'gate',
  kind: 'state',
  description: 'requests and webhooks that wait until a test releases them, in any order',
  schema: gateSchema,
  example: { parameters: { at: 'before-handler' } },
  step: ({ at }) => (at === 'before-handler' ? 'faultsBefore' : 'faultsAfter'),
  clash: ({ at }, about) => {
    if ((at === 'webhook') === (about === 'webhook')) return undefined
    const fix =
      about === 'webhook' ? 'use "webhook"' : 'match one type with {"webhook": type}, or all with "*"'
    return { path: ['at'], message: `does not fit a rule about a ${about}: ${fix}` }
  },
  effect: { webhook: treatmentOf },
}

/** A way through the gates of one stage. */
export interface Passage {
  /** Resolves when every gate has been passed; never, when the request is aborted. */
  readonly passed: Promise<void>
  /** Aborted when its connection is to be cut. */
  readonly aborted: AbortSignal
  /** Must be called when the wait is over. @param isCut the emulator has cut the connection; otherwise the client has left */
  leave(isCut: boolean): void
}

/** The way of a request through the gates that its decision has at a stage, one after the other; undefined without a gate. */
export function passage(
  sandbox: Sandbox,
  decision: Decision,
  at: HeldAtGate['at'],
  { id, call }: { readonly id: string; readonly call: Call },
): Passage | undefined {
  const { clock, faults } = sandbox
  const given = decision.given('gate').filter(({ parameters }) => parameters.at === at)
  if (given.length === 0) return undefined
  const name = `${call.method} ${call.path.slice(call.pathPrefix.length)}`
  // Node's own, not the one of a page that a test runner imitates: `setMaxListeners` accepts no other.
  const abort = transferableAbortController()
  const end = (how: NonNullable<Decision['gated']>['end']): void => {
    if (decision.gated !== undefined) Object.assign(decision.gated, { end: how, until: clock.now })
  }
  const pass = async (): Promise<void> => {
    for (const { rule, parameters } of given) {
      const { after, waiting } = parameters.release ?? {}
      if (after !== undefined) openLater(sandbox, id, rule.id, after)
      decision.gated = { gate: rule.id, at, from: clock.now, until: clock.now, end: 'waiting' }
      const held = { id, gate: rule.id, at, name, since: formatInstant(clock.now) }
      let isHeld = false
      await new Promise<void>((pass) => {
        const cut = (): void => {
          end('aborted')
          abort.abort()
        }
        isHeld = faults.gates.hold({ held, pass, abort: cut }, waiting)
        if (!isHeld) pass()
      })
      end(isHeld ? 'released' : 'full')
    }
  }
  return {
    passed: pass(),
    aborted: abort.signal,
    leave: (isCut) => {
      if (faults.gates.leave(id, isCut)) end(isCut ? 'aborted' : 'left')
    },
  }
}

function openLater(sandbox: Sandbox, id: string, rule: string, after: string): void {
  sandbox.recording.cannotRepeat(
    'A gate has released requests after a time: a replay places its beginning where these requests ran.',
  )
  runDueEvents(sandbox)
  const scope = sandbox.scope(id)
  openAfter(scope, rule, after)
  sandbox.commit(scope)
}
