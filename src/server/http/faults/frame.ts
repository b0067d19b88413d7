import { z } from 'zod'
import { intBetween } from '../../../core/fields.ts'
import { someOf } from '../../../core/strict-input.ts'
import { base64 } from './fields.ts'
import { MAX_BYTES } from './stage.ts'
import type { WirePrimitive } from './wire-primitive.ts'

/** How the end of the body is marked. */
function schema() {
  return someOf({
    /** Default: as without the fault. `close`: the end of the connection marks the end of the body. */
    mode: z.enum(['length', 'chunked', 'close']).optional(),
    /** Added to the true length in Content-Length. */
    length_delta: intBetween(-MAX_BYTES, MAX_BYTES).optional(),
    /** Bytes after the end of the message. */
    tail_b64: base64().optional(),
  }).refine(({ mode, length_delta }) => length_delta === undefined || (mode ?? 'length') === 'length', {
    error: 'needs the mode "length": the other modes send no Content-Length',
    path: ['length_delta'],
  })
}

export const frame: WirePrimitive<'frame', typeof schema> = {
  name: 'frame',
  kind: 'wire',
  description: 'wrong lengths, chunked or not, bytes after the end',
  schema,
  example: { parameters: { mode: 'length', length_delta: 10 } },
  onlyOnSockets: ({ tail_b64 }) =>
    tail_b64 === undefined
      ? undefined
      : ['tail_b64', 'bytes after the end of a message belong to no response'],
  effect: { framing: (asked, parameters) => ({ ...asked, ...parameters }) },
}
