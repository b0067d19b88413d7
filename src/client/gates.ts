import type { GateFault } from '../core/faults/gate.ts'
import type { FaultMatch } from '../core/faults/rule.ts'
import type { HeldAtGate } from '../core/time/scheduler.ts'
import type { GateView } from '../server/control/routes/gates.ts'
import { type CallControl, dataOf, refuseUnknownOptions } from './ask.ts'
import { EmulatorError } from './emulator-error.ts'
import { armedFault } from './faults.ts'

/** The gates of a sandbox, at which requests and webhooks wait until a test releases them. */
export type SandboxGates = ReturnType<typeof gatesOver>

/** A gate. Disposing of it removes it, which releases what waits at it. */
export type Gate = Awaited<ReturnType<SandboxGates['hold']>>

/** How long a test waits for requests at a gate. */
export interface GateWait {
  /** Real milliseconds, at most 600,000; default 5,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The requests that go on: the first `count`, or these in this order. Default: all. */
export interface GateRelease {
  readonly count?: number
  /** What {@link Gate.waiting} has resolved with, or ids. */
  readonly requests?: readonly (string | Pick<HeldAtGate, 'id'>)[]
}

export function gatesOver(ask: CallControl) {
  return {
    /**
     * Holds the requests (or with `webhook`, the webhooks) that match, until they are released.
     * @example
     * await using gate = await sandbox.gates.hold({ operation: 'pages.create' }, { at: 'after-handler' })
     */
    hold: async (match: FaultMatch | 'everything', { at, release }: GateFault) => {
      const action = { gate: { at, ...(release && { release }) } }
      const body = { preset: 'gate', match, do: [action] }
      const armed = await ask('POST /faults', { body })
      // One draft creates one rule.
      const {
        id,
        remove,
        [Symbol.asyncDispose]: dispose,
      } = armedFault(ask, 'data' in armed ? (armed.data[0] as never) : armed)
      const params = { id }
      return {
        /** Id of its fault rule. */
        id,
        /**
         * Waits until this number of requests waits at it. Rejects with the code `conflict` when its time is over; the message
         * names what waits.
         * @returns all that waits, in order of arrival
         */
        waiting: async (count = 1, options: GateWait = {}): Promise<readonly HeldAtGate[]> => {
          refuseUnknownOptions('gate.waiting()', options, ['timeoutMs', 'signal'])
          const { timeoutMs: timeout_ms, signal } = options
          const {
            passed,
            held,
            description = '',
          } = await ask('POST /gates/{id}/wait', {
            params,
            body: { count, timeout_ms },
            signal,
          })
          if (passed) return held
          throw new EmulatorError({
            status: 409,
            code: 'conflict',
            detail: description,
            asked: 'gate.waiting()',
          })
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
        [Symbol.asyncDispose]: dispose,
      }
    },
    /** Every gate with what waits at it. */
    list: (): Promise<readonly GateView[]> => dataOf(ask('GET /gates')),
  }
}
