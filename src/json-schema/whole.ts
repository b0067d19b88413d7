import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { type Issue, isObject, type Json, type JsonObject, pointer, same } from '../core/json.ts'
import { load } from '../core/load.ts'
import { withMatchTime } from '../core/regex.ts'
import { newAjv, usedPattern } from './ajv.ts'
import { VERSION } from './schema.ts'

/** Characters of one schema, and milliseconds for all patterns in one check. */
const MAX_SCHEMA = 200_000
const MAX_MATCH_MS = 1_000

/**
 * Compiles any schema of draft 2020-12, also with keywords that an `output_schema` may not have. Returns a function that lists
 * the problems of a value; it throws `RegexTimeout`, and `RangeError` for a value that is nested too deep. Throws an error for
 * a schema that is invalid or endless, has more than 200,000 characters, or refers to something outside of it.
 */
export function compileWhole(schema: JsonObject): (value: Json) => Issue[] {
  try {
    // Ajv finds the root only when it is added, and would repeat a schema at each reference to it.
    const ajv = newAjv({ addUsedSchema: true, inlineRefs: false })
    const validate = ajv.compile<Json>(plainCopy(schema))
    const check = (value: Json): Issue[] =>
      withMatchTime(MAX_MATCH_MS, () => (validate(value) ? [] : issuesOf(validate.errors)))
    // A `$ref` that leads back to itself is found by checking any value of the type.
    for (const sample of [null, true, 0, '', [], {}]) check(sample)
    return check
  } catch (error) {
    const { missingRef } = error as { readonly missingRef?: string }
    if (missingRef !== undefined) throw new Error(`$ref "${missingRef}" has no target inside the schema`)
    if (error instanceof RangeError) throw new Error('it is nested too deep, or a $ref leads back to itself')
    throw error
  }
}

function plainCopy(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema)
  if (text.length > MAX_SCHEMA) throw new Error(`it has more than ${MAX_SCHEMA} characters`)
  if (!same(JSON.parse(text), schema)) throw new Error('it has values that JSON cannot represent')
  const rootAnchor = `#${schema.$anchor ?? schema.$dynamicAnchor}`
  // Ajv knows static anchors well, except for one of the root. Without an `$id` inside, dynamic ones are the same.
  const copy = JSON.parse(text, (_, value: Json) => {
    if (!isObject(value) || typeof (value.$ref ?? value.$dynamicRef ?? value.$dynamicAnchor) !== 'string')
      return value
    const { $dynamicAnchor, $dynamicRef, $ref = $dynamicRef, $anchor = $dynamicAnchor, ...others } = value
    return { ...others, $ref: $ref === rootAnchor ? '#' : $ref, $anchor }
  }) as JsonObject
  if (copy.$async !== undefined) throw new Error('$async is not supported: a schema must be synchronous')
  if (String(copy.$schema ?? VERSION).replace(/#$/, '') !== VERSION)
    throw new Error(`/$schema must be ${VERSION}, the only supported version, or left out`)
  const plain = JSON.parse(JSON.stringify(copy)) as JsonObject
  const [problem] = issuesOf(metaErrors(plain))
  if (problem !== undefined) throw new Error(`${problem.pointer} ${problem.detail}`.trimStart())
  return plain
}

let metaAjv: Ajv2020 | undefined

function metaErrors(schema: JsonObject): Ajv2020['errors'] {
  if (metaAjv === undefined) {
    const { Ajv2020: Ajv } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
    metaAjv = new Ajv({ strict: false, logger: false }).removeKeyword('format')
    // The meta-schema has this format at exactly the places of patterns.
    const validate = (format: string, text: string) => format !== 'regex' || usedPattern(text) !== undefined
    metaAjv.addKeyword({ keyword: 'format', validate })
  }
  metaAjv.validate(VERSION, schema)
  return metaAjv.errors
}

// The errors of the `then` of an `if`, and of the names of properties, are listed themselves.
function issuesOf(errors: Ajv2020['errors'] = []): Issue[] {
  return (errors ?? []).filter(({ keyword }) => !['if', 'propertyNames'].includes(keyword)).map(issueOf)
}

function issueOf({ instancePath, params, propertyName, message = '' }: ErrorObject): Issue {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params
  const unknown: unknown = additionalProperty ?? unevaluatedProperty
  const name: unknown = missingProperty ?? unknown ?? propertyName
  const place = instancePath + (typeof name === 'string' ? pointer(name) : '')
  if (missingProperty !== undefined) return { pointer: place, detail: 'is required' }
  if (unknown !== undefined) return { pointer: place, detail: 'is not a known field' }
  return { pointer: place, detail: message.replace('boolean schema is false', 'is not allowed') }
}
