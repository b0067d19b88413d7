import { auth } from './auth.ts'
import { clock } from './clock.ts'
import { deliver } from './deliver.ts'
import { idem } from './idem.ts'
import type { AnyPrimitive } from './primitive.ts'
import { quota } from './quota.ts'
import { respond } from './respond.ts'
import { state } from './state.ts'

/** The primitives that act on the sandbox. */
export const statePrimitives: readonly AnyPrimitive[] = [respond, quota, idem, state, auth, clock, deliver]
