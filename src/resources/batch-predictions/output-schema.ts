import { type Issue, type Json, type JsonObject, pointer } from '../../core/json.ts'
import { outputsOf } from '../../json-schema/outputs.ts'
import { allSchemas } from '../../json-schema/schema.ts'
import { STEPS_PER_PIECE, stepsSpent } from '../../json-schema/steps.ts'

export { schemaIssues as checkOutputSchema } from '../../json-schema/check.ts'
export { type Outputs, outputsOf } from '../../json-schema/outputs.ts'

/** Where a value departs from a schema that `checkOutputSchema` has accepted, by JSON Pointer into the value. */
export function validateOutput(schema: JsonObject, value: unknown): Issue[] {
  return outputsOf(schema).issues(value as Json)
}

/** Why no output is made for a schema, with the way out; null where outputs are made. May take a while if that is not known yet. */
export function whyNoOutput(schema: JsonObject): string | null {
  const issue = outputsOf(schema).unsatisfiable
  if (issue === undefined) return null
  const place = issue.pointer === '' ? 'its root' : issue.pointer
  return `No output was found for output_schema, at ${place}: ${issue.detail}. Change the schema, or give the item an output with an outcome rule that has "output".`
}

/** What an outcome rule gives that does not satisfy the schema, by pointer into the list of rules. */
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

/** Yields the lines, and an empty text wherever making them has taken some milliseconds. */
export function* inTurns(schema: JsonObject, lines: Iterable<string>): Generator<string, void> {
  for (let work = outputsOf(schema).pending; work !== undefined && work.next().done !== true; ) yield ''
  let since = stepsSpent()
  for (const line of lines) {
    yield line
    if (stepsSpent() - since < STEPS_PER_PIECE) continue
    yield ''
    since = stepsSpent()
  }
}

/** Schemas inside a schema that is examined while a request waits. */
const MAX_AT_ONCE = 60

/** As {@link whyNoOutput}, of a schema that is small; null for another, which is examined when its batch starts. */
export function whyNoneAtOnce(schema: JsonObject): string | null {
  return allSchemas(schema).length > MAX_AT_ONCE ? null : whyNoOutput(schema)
}
