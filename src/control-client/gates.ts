import type { GateFault } from '../core/faults/gate.ts'
import type { FaultMatch } from '../core/faults/rule.ts'
import type { HeldAtGate } from '../core/time/scheduler.ts'
import type { GateView } from '../server/control/routes/gates.ts'
import { type CallControl, dataOf, refuseUnknownOptions } from './ask.ts'
import { EmulatorError } from './emulator-error.ts'
import { faultsOver } from './faults.ts'
import type { WaitOptions } from './requests.ts'

/** The gates of a sandbox, at which requests and webhooks wait until a test releases them. */
export type SandboxGates = ReturnType<typeof gatesOver>

/** A gate. Disposing of it removes it, which releases what waits at it. */
export type Gate = Awaited<ReturnType<SandboxGates['hold']>>

/** What goes on. Default: all. */
export interface GateRelease {
  /** The first ones. */
  readonly count?: number
  /** These, or those with these ids, in this order. */
  readonly requests?: readonly (string | Pick<HeldAtGate, 'id'>)[]
}

export function gatesOver(ask: CallControl) {
  return {
    /**
     * Holds the requests (with `webhook`: the webhooks) that match, until they are released.
     * @example
     * await using gate = await sandbox.gates.hold({ operation: 'pages.create' }, { at: 'after-handler' })
     */
    hold: async (match: FaultMatch | 'everything', gate: GateFault) => {
      const { id, remove, ...rule } = await faultsOver(ask).preset('gate', { match, do: [{ gate }] })
      const params = { id }
      return {
        /** Id of its fault rule. */
        id,
        /**
         * Waits until this number waits at it. After `timeoutMs` (real milliseconds, default 5,000) it rejects with the code
         * `conflict`, and names what waits.
         * @returns all that waits, in order of arrival
         */
        waiting: async (
          count = 1,
          options: Omit<WaitOptions, 'count'> = {},
        ): Promise<readonly HeldAtGate[]> => {
          refuseUnknownOptions('gate.waiting()', options, ['timeoutMs', 'signal'])
          const { timeoutMs: timeout_ms, signal } = options
          const route = 'POST /gates/{id}/wait'
          const result = await ask(route, { params, body: { count, timeout_ms }, signal })
          if (result.passed) return result.held
          const { description: detail = '' } = result
          throw new EmulatorError({ status: 409, code: 'conflict', detail, asked: 'gate.waiting()' })
        },
        /** Lets requests go on. When it resolves, their steps have run. @returns what was released, in this order */
        release: async ({ count, requests }: GateRelease = {}): Promise<readonly HeldAtGate[]> => {
          const ids = requests?.map((each) => (typeof each === 'string' ? each : each.id))
          return (await ask('POST /gates/{id}/release', { params, body: { count, requests: ids } })).held
        },
        /** Cuts the connections of all requests at it; webhooks are never sent. @returns what was aborted */
        abort: async (): Promise<readonly HeldAtGate[]> =>
          (await ask('POST /gates/{id}/abort', { params })).held,
        /** Removes the gate, and releases what waits at it. Does nothing if it does not exist any more. */
        remove,
        [Symbol.asyncDispose]: rule[Symbol.asyncDispose],
      }
    },
    /** Every gate with what waits at it. */
    list: (): Promise<readonly GateView[]> => dataOf(ask('GET /gates')),
  }
}
