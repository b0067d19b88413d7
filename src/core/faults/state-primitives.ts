import type { tomorrowChoice } from '../tomorrow.ts'
import { type AuthFault, auth } from './auth.ts'
import { type ClockFault, clock } from './clock.ts'
import { type DeliverFault, deliver } from './deliver.ts'
import { type GateFault, gate } from './gate.ts'
import { type IdemFault, idem } from './idem.ts'
import type { AnyPrimitive, ParametersOf } from './primitive.ts'
import { type QuotaFault, quota } from './quota.ts'
import { type Respond, respond } from './respond.ts'
import { type StateFault, state } from './state.ts'
import { tomorrowFault } from './tomorrow.ts'

declare module './primitive.ts' {
  interface Primitives {
    readonly respond: Respond
    readonly quota: QuotaFault
    readonly idem: IdemFault
    readonly state: StateFault
    readonly auth: AuthFault
    readonly clock: ClockFault
    readonly deliver: DeliverFault
    readonly gate: GateFault
    readonly tomorrow: ParametersOf<typeof tomorrowChoice>
  }
}

/** The primitives that act on the sandbox. */
export const statePrimitives: readonly AnyPrimitive[] = [
  respond,
  quota,
  idem,
  state,
  auth,
  clock,
  deliver,
  gate,
  tomorrowFault,
]
