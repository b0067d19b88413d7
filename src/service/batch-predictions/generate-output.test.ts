// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judge } from '../../../test/support/judge.ts'
import {
  object,
  outputOf,
  outputs,
  required,
  seeded,
  sound,
  text,
  values,
  wild,
} from '../../../test/support/output-schemas.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { outputsOf } from '../../json-schema/outputs.ts'
import { checkOutputSchema, validateOutput } from './output-schema.ts'

test('every generated output validates against its schema', { tags: ['R100'] }, () => {
  let accepted = 0
  const property = fc.property(wild, fc.nat(), (schema, seed) => {
    const whole = object({ v: schema }, { required: ['v'] })
    expect(checkOutputSchema(whole, '')).toEqual([])
    if (outputsOf(whole).unsatisfiable !== undefined) return
    accepted++
    const valid = judge(whole)
    const chance = seeded(seed)
    for (let made = 0; made < 5; made++) {
      const output = outputOf(outputsOf(whole), chance) ?? {}
      expect(valid(output), text(whole, output)).toBe(true)
      expect(validateOutput(whole, output)).toEqual([])
    }
  })
  const some = { prefixItems: [true], contains: { format: 'byte' }, minContains: 3, maxContains: 3 }
  fc.assert(property, { numRuns: 40, examples: [[some, 0]] })
  expect(accepted).toBeGreaterThan(10)
})

test('a regular expression that also fits a pattern is valid with the flag u', { tags: ['R100'] }, () => {
  const made = values({ type: 'string', format: 'regex', pattern: '^(?=.*\\d).{4,}$', maxLength: 6 }, 300)
  for (const text of made) expect(() => new RegExp(String(text), 'u'), String(text)).not.toThrow()
})

test('outputs of a sound schema validate, and depend on chance only', { tags: ['R100'] }, () => {
  const property = fc.property(sound, fc.nat(), (schema, seed) => {
    const whole = object({ v: schema }, { additionalProperties: false })
    expect(checkOutputSchema(whole, '')).toEqual([])
    const make = (schema: JsonObject) => {
      const chance = seeded(seed)
      return [1, 2, 3].map(() => outputOf(outputsOf(schema), chance) ?? {})
    }
    const valid = judge(whole)
    const made = make(whole)
    for (const output of made) {
      expect(Object.keys(output)).toEqual(['v'])
      expect(valid(output), text(whole, output)).toBe(true)
    }
    expect(make(structuredClone(whole))).toEqual(made)
  })
  fc.assert(property, { numRuns: 30 })
})

const CONSTANTS = [0, 0.5, 1 - 2 ** -32]

test.for(CONSTANTS)('a chance of always %d gives a valid output', { tags: ['R100'] }, (constant) => {
  const int = (min: number, max: number) => min + Math.floor(constant * (max - min + 1))
  const schema = object({
    list: { type: 'array', items: { type: 'string', maxLength: 4 }, minItems: 5, uniqueItems: true },
    code: { type: 'string', pattern: '^(?=.*\\d)(?=.*[A-Z])[A-Z\\d]{8}$' },
    price: { type: 'number', multipleOf: 0.01 },
    seen: { type: 'array', contains: { const: 'x' }, maxContains: 1, minItems: 3 },
  })
  const output = outputOf(outputsOf(schema), { next: () => constant, int })
  expect(validateOutput(schema, output)).toEqual([])
})

const FOUR = { a: true, b: true, c: true, d: true }
const CARD_IS_NOT = { dependentSchemas: { card: required(false) } }
const CARD = object({ card: { type: 'string' } }, { dependentRequired: { card: ['address'] } })

test('outputs have optional properties, in the order of the schema', { tags: ['R100'] }, () => {
  const lines = { type: 'array', items: object({ sum: { type: 'number' } }) }
  const schema = object({ vendor: { type: 'string' }, lines, total: {} }, { required: ['total'] })
  for (const output of outputs(schema)) {
    expect(Object.keys(output)).toEqual(['vendor', 'lines', 'total'])
    for (const line of output.lines as JsonObject[]) expect(Object.keys(line)).toEqual(['sum'])
  }
})

test.for<[why: string, schema: JsonObject, names: readonly string[]]>([
  ['for maxProperties', { ...required(true, 'd'), properties: FOUR, maxProperties: 2 }, ['a', 'd']],
  ['when its schema is false', object({ a: false, b: true }), ['b']],
  ['when its name is forbidden', object({ ab: true, b: true }, { propertyNames: { minLength: 2 } }), ['ab']],
  ['without the one that it depends on', { ...CARD, maxProperties: 1 }, []],
  ['when the schema that depends on it has no value', object({ card: true, b: true }, CARD_IS_NOT), ['b']],
])('an optional property is left out %s', { tags: ['R100'] }, ([, schema, names]) => {
  for (const output of outputs(schema)) expect(Object.keys(output)).toEqual(names)
})

test('a property comes with the one that it depends on', { tags: ['R100'] }, () => {
  expect(Object.keys(outputs(CARD)[0] ?? {})).toEqual(['card', 'address'])
  const dependentSchemas = { card: { properties: { zip: { pattern: '^\\d{5}$' } } } }
  for (const output of outputs(object({ card: true }, { dependentSchemas })))
    expect(output).toEqual({ card: expect.any(String), zip: expect.stringMatching(/^\d{5}$/) })
})

const CONDITION = {
  required: ['kind'],
  if: { properties: { kind: { const: 'company' } } },
  then: { required: ['tax_id'], properties: { born: false } },
  else: { properties: { tax_id: false } },
}

test('outputs have both sides of a condition', { tags: ['R100'] }, () => {
  const kind = { enum: ['person', 'company', 'other'] }
  const schema = object({ kind, tax_id: { type: 'string' }, born: { format: 'date' } }, CONDITION)
  const valid = judge(schema)
  const made = outputs(schema, 50)
  for (const output of made) expect(valid(output), text(output)).toBe(true)
  expect(made.filter(({ kind }) => kind === 'company').length).toBeGreaterThan(10)
  const names = new Set(made.map((output) => Object.keys(output).join()))
  expect(names).toEqual(new Set(['kind,tax_id', 'kind,born']))
})

test('outputs include numbers that satisfy a condition, and numbers that do not', { tags: ['R100'] }, () => {
  const schema = { type: 'integer', if: { minimum: 1e6 }, then: { multipleOf: 1_000 }, else: { maximum: 5 } }
  const made = values(schema, 50)
  expect(made.some((value) => Number(value) >= 1e6)).toBe(true)
  expect(made.some((value) => Number(value) <= 5)).toBe(true)
})

test('properties that no schema has evaluated satisfy unevaluatedProperties', { tags: ['R100'] }, () => {
  const condition = { if: { properties: { a: { minimum: 10 } } }, then: required({ type: 'string' }, 'b') }
  const schema = object({ a: { type: 'integer' } }, { ...condition, unevaluatedProperties: false })
  const valid = judge(schema)
  for (const output of outputs(schema)) expect(valid(output), text(output)).toBe(true)
})

test('properties are invented for minProperties and for an open map', { tags: ['R100'] }, () => {
  const [three] = outputs({ type: 'object', minProperties: 3 }, 1)
  expect(Object.keys(three ?? {})).toHaveLength(3)
  const [open] = outputs({ type: 'object', additionalProperties: { type: 'integer' } }, 1)
  expect(Object.values(open ?? {})).toEqual([expect.any(Number), expect.any(Number)])
  const named = { type: 'object', minProperties: 500, propertyNames: { pattern: '^k_[0-9]+$' } }
  const [many] = outputs(named, 1)
  expect(validateOutput(named, many)).toEqual([])
})

test('a list without bounds is short, and shorter inside of others', { tags: ['R100'] }, () => {
  const nested = (depth: number): JsonObject =>
    depth === 0 ? { type: 'integer' } : { type: 'array', items: nested(depth - 1) }
  for (const list of values(nested(1))) expect([2, 3]).toContain((list as Json[]).length)
  for (const list of values(nested(10))) expect(text(list).length).toBeLessThan(300)
})

test('outputs for a list of types have each type, null only rarely', { tags: ['R100'] }, () => {
  const types = values({ type: ['string', 'integer', 'null'] }, 300).map((value) =>
    value === null ? 'null' : typeof value,
  )
  expect(new Set(types)).toEqual(new Set(['string', 'number', 'null']))
  expect(types.filter((type) => type === 'null').length).toBeLessThan(100)
})

test('a schema without a type gets the type that its keywords apply to', { tags: ['R100'] }, () => {
  expect(values({ minimum: 3 })[0]).toEqual(expect.any(Number))
  expect(values({ properties: { a: true } })[0]).toEqual({ a: expect.any(String) })
  expect(values({ items: { type: 'null' } })[0]).toContain(null)
  expect(values({ description: 'free text' })[0]).toEqual(expect.any(String))
})
