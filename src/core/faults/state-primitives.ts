import { auth } from './auth.ts'
import { clock } from './clock.ts'
import { deliver } from './deliver.ts'
import { gate } from './gate.ts'
import { idem } from './idem.ts'
import { quota } from './quota.ts'
import { respond } from './respond.ts'
import { state } from './state.ts'
import { tomorrowFault } from './tomorrow.ts'

/** The primitives that act on the sandbox. */
export const statePrimitives = [
  respond,
  quota,
  idem,
  state,
  auth,
  clock,
  deliver,
  gate,
  tomorrowFault,
] as const

declare module './primitive.ts' {
  interface PrimitiveLists {
    readonly state: typeof statePrimitives
  }
}
