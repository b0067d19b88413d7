import { type Schema, Validator } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../../src/core/json.ts'

/**
 * Tells whether a value keeps to a schema, by a validator that shares no code with the one of the emulator: ajv takes a
 * missing property with an empty name for present within `if` and `not`, and skips some `contains`.
 */
export function judge(schema: JsonObject): (value: Json) => boolean {
  // It writes into its schema.
  const validator = new Validator(structuredClone(schema) as Schema, '2020-12')
  return (value) => validator.validate(value).valid
}
