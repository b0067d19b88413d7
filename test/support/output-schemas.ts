// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it

import fc from 'fast-check'
import { expect } from 'vitest'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { type Outputs, outputsOf } from '../../src/json-schema/outputs.ts'
import type { RandomSource } from '../../src/json-schema/pattern-text.ts'
import { checkOutputSchema } from '../../src/service/batch-predictions/output-schema.ts'
import { judge } from './judge.ts'

/** The instant of all generated outputs. */
export const NOW = Date.parse('2026-03-01T12:00:00Z')

export function seeded(seed: number): RandomSource {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return { next, int: (min, max) => min + Math.floor(next() * (max - min + 1)) }
}

export const object = (properties: object, more: object = {}) =>
  ({ type: 'object', properties, ...more }) as JsonObject
/** An object with one property, which it must have. */
export const required = (schema: Json, name = 'a') => object({ [name]: schema }, { required: [name] })
/** An object with a list of so many items. */
export const list = (count: number, items: Json) =>
  required({ type: 'array', items, minItems: count, maxItems: count })
export const text = (...values: unknown[]) => JSON.stringify(values)

/** The output of one item. */
export function outputOf(outputs: Outputs, chance: RandomSource): JsonObject | undefined {
  const text = outputs.text(chance, NOW)
  return text === undefined ? undefined : (JSON.parse(text) as JsonObject)
}

export function outputs(schema: JsonObject, count = 20): JsonObject[] {
  const made = outputsOf(schema)
  expect(made.unsatisfiable, text(schema)).toBeUndefined()
  const chance = seeded(1)
  return Array.from({ length: count }, () => outputOf(made, chance) ?? {})
}

/** Generates outputs of `{v: schema}`, validates each one, and returns the values of v. */
export function values(schema: Json, count = 20): Json[] {
  const whole = object({ v: schema }, { required: ['v'] })
  expect(checkOutputSchema(whole, '')).toEqual([])
  const valid = judge(whole)
  const made = outputs(whole, count)
  for (const output of made) expect(valid(output), text(whole, output)).toBe(true)
  return made.map(({ v }) => v ?? null)
}

// --- Arbitrary schemas, often contradictory ---

const names = fc.constantFrom('a', 'b', 'kind', 'total', 'constructor', '$ref', 'not', '1', 'a/b~c', '')
const count = fc.nat(4)
const number = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.5, 0.1, -2.5, 1e3, 9e15))
const scalar = fc.constantFrom<Json>('x', 'yy', 1, 2.5, true, false, null, -3, [], [1, 2])
const format = fc.constantFrom(
  ...['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference'],
  ...['uuid', 'regex', 'json-pointer', 'relative-json-pointer', 'uri-template', 'byte', 'url', 'iso-time'],
  'unheard-of',
)
const pattern = fc.constantFrom(
  ...['^[a-z]+$', '\\d{2,3}', '^A-', 'z$', '^(foo|bar)+$', '^https?://', '@x\\.com$'],
  ...['^(?=.*\\d).{4,}$', '^\\p{Lu}'],
)

function some(keywords: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> {
  return fc.record(keywords, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>
}

const map = <T>(of: fc.Arbitrary<T>) =>
  fc
    .uniqueArray(fc.tuple(names, of), { selector: ([name]) => name, maxLength: 3 })
    .map((list) => Object.fromEntries(list))

const type = (...types: string[]) => fc.constantFrom<Json>(types[0] ?? 'null', types[0] ?? 'null', types)

const texts = { type: type('string', 'null'), format, pattern }

export const { wild } = fc.letrec<{ wild: JsonObject; inner: Json }>((tie) => ({
  inner: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'wild', withCrossShrink: true },
    fc.constantFrom<Json>(true, false, {}, { const: 'x' }),
    fc.constantFrom<Json>({ type: 'string' }, { type: 'integer' }, { type: 'null' }),
    tie('wild'),
    tie('wild'),
  ),
  wild: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'wild' },
    some({ ...texts, minLength: count, maxLength: fc.integer({ min: 2, max: 40 }) }),
    some(texts),
    some({
      type: type('number', 'integer'),
      ...{ minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number },
      multipleOf: fc.constantFrom(0.01, 0.1, 2, 3, 0.5, 7, 1e-3),
    }),
    some({ enum: fc.array(scalar, { minLength: 1, maxLength: 4 }), type: type('string', 'number', 'null') }),
    some({
      type: type('array', 'string'),
      items: tie('inner'),
      prefixItems: fc.array(tie('inner'), { minLength: 1, maxLength: 2 }),
      ...{ minItems: count, maxItems: count, minContains: count, maxContains: count },
      ...{ uniqueItems: fc.boolean(), contains: tie('inner') },
      unevaluatedItems: tie('inner'),
    }),
    some({
      type: type('object', 'null'),
      properties: map(tie('inner')),
      required: fc.uniqueArray(names, { maxLength: 2 }),
      additionalProperties: tie('inner'),
      ...{ minProperties: count, maxProperties: count },
      propertyNames: tie('inner'),
      dependentRequired: map(fc.uniqueArray(names, { maxLength: 2 })),
      dependentSchemas: map(tie('inner')),
      dependencies: map(fc.oneof(fc.uniqueArray(names, { maxLength: 2 }), tie('inner'))),
      ...{ if: tie('inner'), then: tie('inner'), else: tie('inner') },
      unevaluatedProperties: tie('inner'),
    }),
  ),
}))

// --- Realistic schemas, as clients write them ---

const between = (least: string, most: string, max: number) =>
  fc.tuple(fc.nat(max), fc.nat(max)).map(([a, b]) => ({ [least]: Math.min(a, b), [most]: Math.max(a, b) }))

// A schema with an integer that a double may not keep is refused.
const kept = fc
  .jsonValue({ maxDepth: 0 })
  .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value))

export const { sound } = fc.letrec<{ sound: JsonObject }>((tie) => ({
  sound: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'sound' },
    between('minLength', 'maxLength', 60).map((bounds) => ({ type: 'string', ...bounds })),
    format.map((name) => ({ type: ['string', 'null'], format: name })),
    pattern.map((source) => ({ type: 'string', pattern: source })),
    between('minimum', 'maximum', 1_000).map((bounds) => ({ type: 'integer', ...bounds })),
    fc
      .constantFrom(0.01, 0.5, 7)
      .map((multipleOf) => ({ type: 'number', multipleOf, minimum: -10, maximum: 10 })),
    fc.uniqueArray(kept, { minLength: 1, maxLength: 5 }).map((list) => ({ enum: list as Json[] })),
    fc.constantFrom({ type: 'boolean' }, { type: 'null' }, {}, { description: 'Anything' }),
    fc
      .tuple(tie('sound'), between('minItems', 'maxItems', 5))
      .map(([items, bounds]) => ({ type: 'array', items, ...bounds })),
    fc.array(tie('sound'), { minLength: 1, maxLength: 3 }).map((prefixItems) => {
      return { type: 'array', prefixItems, items: false, minItems: prefixItems.length }
    }),
    fc.tuple(map(tie('sound')), fc.boolean()).map(([properties, closed]) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).slice(0, 2),
      ...(closed ? { additionalProperties: false } : {}),
    })),
  ),
}))
