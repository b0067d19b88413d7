import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../core/json.ts'
import { schemaIssues } from './check.ts'

const meta = new Ajv2020({ strict: false, logger: false, validateFormats: false }).getSchema(
  'https://json-schema.org/draft/2020-12/schema',
)

const KEYWORDS = `
  $anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $vocabulary
  additionalProperties const contains contentEncoding contentMediaType contentSchema default
  definitions dependencies dependentRequired dependentSchemas deprecated description else enum
  examples exclusiveMaximum exclusiveMinimum format if items maxContains maxItems maxLength
  maxProperties maximum minContains minItems minLength minProperties minimum multipleOf
  pattern prefixItems properties propertyNames readOnly required then title type
  unevaluatedItems unevaluatedProperties uniqueItems unknown writeOnly
`
  .trim()
  .split(/\s+/)

const VALUES: readonly Json[] = [
  ...[null, true, false, 0, 1, -1, 1.5, 1e300, '', 'a', 'string', 'a#b', 'a#', '#', 'A.b-c_1', '1a'],
  ...[[], [1], ['a'], ['a', 'a'], ['string', 'null'], ['string', 'strin'], [true], [{}, false], [{}, 1]],
  ...[{ a: 1 }, { a: true }, { a: {} }, { a: [] }, { a: ['b'] }, { a: ['b', 'b'] }, { a: { type: 'x' } }],
  ...[{}, { type: 'string' }, { minLength: -1 }, { properties: { b: { items: 3 } } }],
]

test.for(KEYWORDS)('the table and the meta-schema agree on %s', { tags: ['R200', 'R274'] }, (keyword) => {
  for (const value of VALUES) {
    const inner: JsonObject = { [keyword]: value }
    const schema = { type: 'object', properties: { p: inner } }
    expect([value, schemaIssues(schema, '').length === 0]).toEqual([value, meta?.(schema)])
  }
})
