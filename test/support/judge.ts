import { type Schema, Validator } from '@cfworker/json-schema'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Json, JsonObject } from '../../src/core/json.ts'

/**
 * Tells whether a value keeps to a schema, by two opinions: a validator that shares no code with the one of the emulator, and
 * stock ajv, which alone knows formats such as `byte` and `int32`. Each mode of ajv skips some `contains`, so that one of
 * them is enough.
 */
export function judge(schema: JsonObject): (value: Json) => boolean {
  // It writes into its schema.
  const validator = new Validator(structuredClone(schema) as Schema, '2020-12')
  let stock: readonly ((value: Json) => boolean)[] = []
  return (value) => {
    if (!validator.validate(value).valid) return false
    if (stock.length === 0) stock = [true, false].map((allErrors) => compiled(schema, allErrors))
    return stock.some((accepts) => accepts(value))
  }
}

// An instance is renewed now and then, since it keeps what it compiles.
const MAX_COMPILED = 200
const instances = new Map<boolean, { readonly ajv: Ajv2020; compiled: number }>()

function compiled(schema: JsonObject, allErrors: boolean): (value: Json) => boolean {
  let instance = instances.get(allErrors)
  if (instance === undefined || instance.compiled >= MAX_COMPILED) {
    const ajv = new Ajv2020({
      ...{ strict: false, logger: false, allErrors, ownProperties: true, validateSchema: false },
      // Otherwise a missing property with an empty name counts as present.
      loopRequired: 1,
      code: { optimize: false },
    })
    formats.default(ajv)
    instance = { ajv, compiled: 0 }
    instances.set(allErrors, instance)
  }
  instance.compiled++
  return instance.ajv.compile<Json>(schema)
}
