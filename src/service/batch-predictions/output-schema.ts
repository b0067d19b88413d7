import { type Issue, type Json, type JsonObject, pointer } from '../../core/json.ts'
import { outputsOf } from '../../json-schema/outputs.ts'
import { allSchemas } from '../../json-schema/schema.ts'

export { schemaIssues as checkOutputSchema, UNSUPPORTED } from '../../json-schema/check.ts'
export { type Outputs, outputsOf } from '../../json-schema/outputs.ts'

/** The issues of a value, with JSON Pointers into it. `checkOutputSchema` must have accepted the schema. */
export function validateOutput(schema: JsonObject, value: unknown): Issue[] {
  return outputsOf(schema).issues(value as Json)
}

/** Why no output can be generated for a schema, with the fix; null if one can. Slow for a large schema that is not examined yet. */
export function whyNoOutput(schema: JsonObject): string | null {
  const issue = outputsOf(schema).unsatisfiable
  if (issue === undefined) return null
  const place = issue.pointer === '' ? 'its root' : issue.pointer
  return `No output was found for output_schema, at ${place}: ${issue.detail}. Change the schema, or give the item an output with an outcome rule that has "output".`
}

/** The issues of outputs in outcome rules that do not satisfy the schema, with pointers into the list of rules. */
export function outcomeIssues(
  schema: JsonObject,
  rules: readonly { readonly output?: JsonObject | undefined }[],
): Issue[] {
  return rules.flatMap(({ output }, index) =>
    output === undefined
      ? []
      : validateOutput(schema, output).map((issue) => ({
          ...issue,
          pointer: pointer('outcomes', index, 'output') + issue.pointer,
        })),
  )
}

/** The most schemas inside a schema that is examined during a request. */
const MAX_AT_ONCE = 60

/** As {@link whyNoOutput} for a small schema; null for a large one, which is examined when its batch starts. */
export function whyNoneAtOnce(schema: JsonObject): string | null {
  return allSchemas(schema).length > MAX_AT_ONCE ? null : whyNoOutput(schema)
}
