import { strictObject } from '../../../core/strict-input.ts'
import { base64 } from './fields.ts'
import type { WirePrimitive } from './wire-primitive.ts'

/** Sends these bytes instead of the whole response. The connection ends after them. */
function schema() {
  return strictObject({ base64: base64() })
}

export const raw: WirePrimitive<'raw', typeof schema> = {
  name: 'raw',
  kind: 'wire',
  description: 'bytes that are not HTTP',
  schema,
  example: { parameters: { base64: btoa('not HTTP\r\n\r\n') } },
  effect: { bytes: ({ base64 }) => Buffer.from(base64, 'base64') },
}
