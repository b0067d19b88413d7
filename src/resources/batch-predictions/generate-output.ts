import { isObject, type JsonObject } from '../../kernel/json.ts'
import { validatorOfSchema } from './output/ajv.ts'
import { clauseOf, helper } from './output/clause.ts'
import { SchemaCompiler } from './output/compiler.ts'
import { CannotSatisfy, type Chance, checked } from './output/maker.ts'
import { perSchema } from './output/memo.ts'

export { CannotSatisfy, type Chance } from './output/maker.ts'

/** Makes one output. The same chance gives the same output; it never fails and always satisfies the schema. */
export type OutputGenerator = (chance: Chance) => JsonObject

/**
 * Compiles a schema that `checkOutputSchema` has accepted into a generator of outputs (Limits, Batch
 * predictions). Optional properties are always there unless a bound such as `maxProperties` or another schema
 * rules them out. Throws `CannotSatisfy` where no output can be found; one is made at once to be sure.
 *
 * @example
 * const generate = outputGenerator({ type: 'object', properties: { total: { type: 'integer', minimum: 1 } } })
 * generate(chance) // { total: 417 }
 */
export const outputGenerator: (schema: JsonObject) => OutputGenerator = perSchema((schema) => {
  const root = clauseOf(schema, '')
  const compiler = new SchemaCompiler(schema)
  const otherwise = new CannotSatisfy(
    '',
    'type',
    'no output was found that satisfies the whole schema; loosen the keywords that work against each other',
  )
  const whole = helper({ type: 'object' }, '')
  const maker = checked(compiler.compile([whole, root], 0), validatorOfSchema(schema), otherwise)
  return (chance) => {
    const output = maker.make(chance)
    return isObject(output) ? output : {}
  }
})
