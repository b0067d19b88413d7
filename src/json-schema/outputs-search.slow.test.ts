// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it

import { expect, test } from 'vitest'
import { list, object, outputOf, required } from '../../test/support/output-schemas.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { Chance } from '../core/random.ts'
import { schemaIssues } from './check.ts'
import { Outputs } from './outputs.ts'

const impossible = { type: 'string', minLength: 3, maxLength: 2 }
const each = (count: number, of: (n: number) => Json) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, of(n)]))
const inside = (levels: number, wrap: (inner: Json) => JsonObject, innermost: Json): Json =>
  levels === 0 ? innermost : wrap(inside(levels - 1, wrap, innermost))

/** Schemas whose search would take very long without the bounds; the search has to end, with a valid output or a reason. */
const BLOCKING: Readonly<Record<string, () => JsonObject>> = {
  'a thousand different backtracking patterns': () =>
    object(each(1_000, (n) => ({ type: 'string', pattern: `^(a|a)*\\1(?:${n})b$`, enum: ['a'.repeat(26)] }))),
  '600 patterns that are large programs': () =>
    object(each(600, (n) => ({ type: 'string', pattern: `^[a-z]{990}${n}$` }))),
  '500 texts with a look-ahead': () => list(500, { type: 'string', pattern: '^(?=.*\\d)(?=.*[a-z]).{8,}$' }),
  'a repeated part that may be empty': () => required({ type: 'string', pattern: '^(a?){1000000000}$' }),
  'repeats inside each other': () =>
    required({ type: 'string', pattern: '^(((a{1000}){1000}){1000}){1000}$' }),
  'a text of eight million characters for a pattern': () =>
    required({ type: 'string', pattern: '^[a-z]+$', minLength: 7_000_000 }),
  'many states and a long text': () =>
    required({ type: 'string', pattern: '^([a-z]?){900}[a-z]+$', minLength: 50_000 }),
  'uri texts of two million characters': () =>
    required({ type: 'string', format: 'uri', minLength: 2_000_000 }),
  '30,000 different texts': () =>
    required({ type: 'array', items: { type: 'string' }, minItems: 30_000, uniqueItems: true }),
  '100,000 different objects': () =>
    required({
      type: 'array',
      items: object({ a: { type: 'boolean' } }),
      minItems: 100_000,
      uniqueItems: true,
    }),
  'contains in a list of 30,000': () =>
    required({
      type: 'array',
      items: { type: 'integer' },
      contains: { multipleOf: 7 },
      minContains: 30_000,
    }),
  'contains that excludes all items': () =>
    required({ type: 'array', items: { type: 'integer' }, contains: {}, maxContains: 2, minItems: 50_000 }),
  'an enum of large values in a long list': () =>
    list(199_000, { enum: [Array.from({ length: 50_000 }, (_, n) => n)] }),
  'lists inside each other': () =>
    inside(6, (items) => ({ type: 'array', items, minItems: 20 }), { type: 'null' }) as JsonObject,
  'a large list below 200 levels of conditions': () =>
    inside(
      200,
      (a) => required(a) && { ...required(a), if: { required: ['b'] }, then: { required: ['c'] } },
      { type: 'array', items: { type: 'integer' }, minItems: 50_000 },
    ) as JsonObject,
  'conditions inside each other that contradict': () =>
    inside(12, (then) => ({ type: 'object', if: { required: ['a'] }, then, else: { required: ['a'] } }), {
      properties: { a: impossible },
    }) as JsonObject,
  'a thousand conditions at one place': () =>
    object({}, { dependentSchemas: each(1_500, (n) => ({ required: [`p${(n + 1) % 1_500}`] })) }),
  'a chain of properties that need each other': () =>
    object(
      { ...each(3_000, () => true), p2999: impossible },
      { dependentRequired: each(2_999, (n) => [`p${n + 1}`]) },
    ),
  'a condition around many properties': () =>
    object(
      each(1_000, () => ({ type: 'string' })),
      {
        if: { required: ['x'] },
        then: { properties: { p999: impossible } },
        else: { required: ['p999'], properties: { p999: impossible } },
      },
    ),
  '1,500 different properties': () => object(each(1_500, (n) => ({ type: 'string', minLength: n % 9 }))),
  'unevaluatedProperties around many': () =>
    object(
      each(2_000, () => ({ type: 'integer' })),
      { unevaluatedProperties: false, minProperties: 2_000 },
    ),
  'many invented names': () => ({
    type: 'object',
    minProperties: 30_000,
    propertyNames: { pattern: '^[ab]+$' },
  }),
  'a tree without end': () => ({
    type: 'object',
    $dynamicAnchor: 'node',
    properties: { left: { $dynamicRef: '#node' }, right: { $dynamicRef: '#node' } },
    required: ['left', 'right'],
  }),
  'a large enum with a pattern': () =>
    required({ enum: Array.from({ length: 20_000 }, (_, n) => `value ${n}`), pattern: '^(?=v).*x$' }),
}

test.for(Object.keys(BLOCKING))('the search ends: %s', { tags: ['R100', 'U079'] }, (what) => {
  const schema = BLOCKING[what]?.() ?? {}
  expect(schemaIssues({ ...schema, type: 'object' }, '')).toEqual([])
  const outputs = new Outputs({ ...schema, type: 'object' }, 100)
  const value = outputOf(outputs, new Chance(1))
  if (value === undefined) expect(outputs.unsatisfiable?.detail).toMatch(/\w+ \w+/)
  // The check of a text of millions of characters has a limit of real time, which a busy machine may reach.
  else expect(outputs.issues(value).filter(({ detail }) => !detail.includes('took more than'))).toEqual([])
})
