import { z } from 'zod'
import type { ParametersOf } from '../../../core/faults/primitive.ts'
import { strictObject } from '../../../core/strict-input.ts'
import { onlyAfterResponse, phaseOfStage, stage } from './stage.ts'
import type { WirePrimitive } from './wire-primitive.ts'

/**
 * Ends the connection. With `pause` it stays open without a response, until the client closes it, the rule is removed, the
 * sandbox is reset, or the emulator closes.
 */
export type CutFault = ParametersOf<typeof schema>

function schema() {
  return strictObject({ at: stage(), how: z.enum(['fin', 'rst', 'pause']) })
}

export const cut: WirePrimitive<'cut', typeof schema> = {
  name: 'cut',
  kind: 'wire',
  description: 'connections that are closed, reset or held open',
  schema,
  example: { parameters: { at: 'before-head', how: 'rst' } },
  holds: ({ how }) => how === 'pause',
  ends: ({ how }) => (how === 'pause' ? undefined : how === 'rst' ? 'reset' : 'closed'),
  phase: ({ at }) => phaseOfStage(at),
  onlyOnSockets: ({ at }) => onlyAfterResponse('at', at),
  effect: { stop: (parameters) => parameters },
}
