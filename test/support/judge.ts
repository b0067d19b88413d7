import { format, type Schema, Validator } from '@cfworker/json-schema'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Json, JsonObject } from '../../src/core/json.ts'

// The first validator must know every format of texts, too: an unknown one fits each item where `maxContains` allows only some.
const TIME = /^\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d(:?\d\d)?)?$/i
Object.assign(format, {
  byte: (text: string) => Buffer.from(text, 'base64').toString('base64') === text,
  'iso-time': (text: string) => TIME.test(text),
})

/**
 * Whether a value satisfies a schema, checked by two validators: one that shares no code with the emulator's, and
 * stock ajv, which supports formats such as `byte` and `int32`. Each mode of ajv skips some `contains`, so one
 * mode that accepts the value is enough.
 */
export function judge(schema: JsonObject): (value: Json) => boolean {
  // The validator modifies its schema.
  const validator = new Validator(structuredClone(schema) as Schema, '2020-12')
  const stock = [true, false].map((allErrors) => {
    let accepts: ReturnType<typeof compiled> | undefined
    return (value: Json) => {
      accepts ??= compiled(schema, allErrors)
      return accepts(value)
    }
  })
  return (value) => validator.validate(value).valid && stock.some((accepts) => accepts(value))
}

// An instance keeps every schema that it compiles, so it is replaced after this many.
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
