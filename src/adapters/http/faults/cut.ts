import * as z from 'zod'
import type { ParametersOf } from '../../../core/faults/primitive.ts'
import { strictObject } from '../../../core/strict-input.ts'
import { phaseOfStage, stage } from './stage.ts'
import type { WirePrimitive } from './wire-primitive.ts'

declare module '../../../core/faults/primitive.ts' {
  interface Primitives {
    readonly cut: CutFault
  }
}

/** Ends the connection. `pause`: it stays open and silent until the client, a reset or the end of the emulator ends it. */
export type CutFault = ParametersOf<typeof schema>

function schema() {
  return strictObject({ at: stage(), how: z.enum(['fin', 'rst', 'pause']) })
}

export const cut: WirePrimitive<'cut'> = {
  name: 'cut',
  kind: 'wire',
  description: 'the end of the connection: in order, by reset, or never',
  schema,
  holds: ({ how }) => how === 'pause',
  ends: ({ how }) => (how === 'pause' ? undefined : how === 'rst' ? 'reset' : 'closed'),
  phase: ({ at }) => phaseOfStage(at),
  effect: { stop: (parameters) => parameters },
}
