// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it
import { expect, test } from 'vitest'
import { knownSchema, wildSchema } from '../../test/fuzz/random-schemas.ts'
import { judge } from '../../test/support/judge.ts'
import { object } from '../../test/support/output-schemas.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { Chance } from '../core/random.ts'
import { validatorOf } from './validator.ts'

const accepts = (schema: JsonObject, value: Json) => validatorOf(schema).accepts(value)

const choice = { if: { required: [''] }, then: { required: ['x'] }, else: { required: ['y'] } }

test.each<[keywords: JsonObject, value: Json, accepted: boolean]>([
  [choice, { y: 1 }, true],
  [choice, { x: 1 }, false],
  [{ not: { required: [''] } }, { y: 1 }, true],
  [{ not: { required: [''] } }, { '': 1 }, false],
  [{ not: { dependentRequired: { a: [''] } } }, { a: 1 }, true],
  [{ not: { dependentRequired: { a: [''] } } }, { a: 1, '': 1 }, false],
  [{ not: { dependencies: { a: [''] } } }, { a: 1 }, true],
])('a property can have an empty name: %j, %j', (keywords, value, accepted) => {
  expect(accepts(object({}, keywords), value)).toBe(accepted)
})

test.each<[what: string, keywords: JsonObject, items: Json[], accepted: boolean]>([
  ['what does not match contains', { contains: { format: 'email' } }, ['a@b.example', 'x'], false],
  ['what matches contains', { contains: { minLength: 2 } }, ['ab', 'cd'], true],
  ['an item beside contains in a branch', { if: true, then: { contains: { const: 1 } } }, [1, 2], false],
])('whether an item is unevaluated: %s', (_, keywords, items, accepted) => {
  const schema = { type: ['array', 'object', 'string'], ...keywords, unevaluatedItems: false }
  expect(accepts(schema as JsonObject, items)).toBe(accepted)
})

const ifOther = { properties: { a: {} }, if: { additionalProperties: false }, else: {} }
const ifA = { if: { properties: { a: { const: 1 } } }, then: { required: ['a'] } }
const withoutA = { if: { required: ['a'] }, else: { properties: { b: {} } } }
// 2020-12 no longer has `dependencies`.
const dependent = { properties: { t: {} }, dependencies: { t: { properties: { a: { type: 'integer' } } } } }

test.each<[what: string, keywords: object, value: Json, accepted: boolean]>([
  ['of an if that fails', ifOther, { a: 1, b: 1 }, false],
  ['of an if that holds', ifA, { a: 1 }, true],
  ['with the name of a method', withoutA, { constructor: 1 }, false],
  ['that properties names', dependent, { t: 1 }, true],
  ['that only dependencies names', dependent, { t: 1, a: 1 }, false],
])('whether a property is unevaluated: one %s', (_, keywords, value, accepted) => {
  expect(accepts({ type: 'object', ...keywords, unevaluatedProperties: false }, value)).toBe(accepted)
})

test.each([
  [19.99, 0.01, true],
  [19.995, 0.01, false],
  [0.3, 0.1, true],
  [-4.35, 0.05, true],
  [1e-7, 1e-8, true],
  [1e21, 7, false],
  [7e21, 7, true],
  [1, 5e-324, true],
  [5e-324, 1, false],
  [Number.MAX_VALUE, 0.5, true],
  [300_000_000_000_000_000_000, 3, true],
  [100_000_000_000_000_570_000, 3, false],
  [100_588_628_019_439_060_000, 3, false],
])('numbers are compared by their digits: %d, a multiple of %d: %s', (v, multipleOf, accepted) => {
  expect(accepts(object({ v: { multipleOf } }), { v })).toBe(accepted)
})

test('every amount with two decimals is a multiple of 0.01', () => {
  const validator = validatorOf(object({ v: { multipleOf: 0.01 } }))
  const refused = []
  for (let cents = 0; cents <= 99_999; cents++)
    if (!validator.accepts({ v: cents / 100 })) refused.push(cents / 100)
  expect(refused).toEqual([])
})

/** Values of all shapes: the known values of other schemas, also with one field more or less. */
function* valuesAround(known: readonly JsonObject[]): Generator<Json> {
  yield* [{}, { v: [] }, { v: [1] }, { v: {} }, { v: '' }, { v: 0 }, { v: null }]
  for (const value of known) {
    yield* [value, { v: value }, { ...value, '': 1 }]
    for (const [name, field] of Object.entries(value)) {
      const { [name]: _, ...without } = value
      yield* [without, { ...value, [name]: null }, { v: field }]
    }
  }
}

test('a value that is accepted is accepted by another validator, too', () => {
  const known: JsonObject[] = []
  const wrong: string[] = []
  let accepted = 0
  for (let n = 0; n < 50; n++) {
    const made = knownSchema(new Chance(1, 'validator', n))
    known.push(made.value as JsonObject)
    for (const schema of [
      { ...made.schema, type: 'object' },
      object({ v: wildSchema(new Chance(2, 'validator', n)) }, { required: ['v'] }),
    ]) {
      const [validator, isValid] = [validatorOf(schema), judge(schema)]
      for (const value of valuesAround(known.slice(-3))) {
        if (!validator.accepts(value)) continue
        accepted += 1
        if (!isValid(value)) wrong.push(`${JSON.stringify(value)}: ${JSON.stringify(schema)}`)
      }
    }
  }
  expect(wrong).toEqual([])
  expect(accepted).toBeGreaterThan(150)
})
