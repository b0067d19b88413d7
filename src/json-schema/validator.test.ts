// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it
import { expect, test } from 'vitest'
import { knownSchema, wildSchema } from '../../test/fuzz/random-schemas.ts'
import { judge } from '../../test/support/judge.ts'
import { object } from '../../test/support/output-schemas.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { Chance } from '../core/random.ts'
import { validatorOf } from './validator.ts'

const accepts = (schema: JsonObject, value: Json) => validatorOf(schema).accepts(value)

test.each<[schema: JsonObject, value: Json, accepted: boolean]>([
  [
    object({}, { if: { required: [''] }, then: { required: ['x'] }, else: { required: ['y'] } }),
    { y: 1 },
    true,
  ],
  [
    object({}, { if: { required: [''] }, then: { required: ['x'] }, else: { required: ['y'] } }),
    { x: 1 },
    false,
  ],
  [object({}, { not: { required: [''] } }), { y: 1 }, true],
  [object({}, { not: { required: [''] } }), { '': 1 }, false],
  [object({}, { not: { dependentRequired: { a: [''] } } }), { a: 1 }, true],
  [object({}, { not: { dependentRequired: { a: [''] } } }), { a: 1, '': 1 }, false],
  [object({}, { not: { dependencies: { a: [''] } } }), { a: 1 }, true],
])('a property can have an empty name: %j, %j', (schema, value, accepted) => {
  expect(accepts(schema, value)).toBe(accepted)
})

test.each<[what: string, schema: JsonObject, value: Json, accepted: boolean]>([
  [
    'no match of contains',
    { contains: { format: 'email' }, unevaluatedItems: false },
    ['a@b.example', 'x'],
    false,
  ],
  ['what matches contains', { contains: { minLength: 2 }, unevaluatedItems: false }, ['ab', 'cd'], true],
  [
    'contains in a branch',
    { if: true, then: { contains: { const: 1 } }, unevaluatedItems: false },
    [1, 2],
    false,
  ],
  [
    'a property of an if that fails',
    object({ a: {} }, { if: { additionalProperties: false }, else: {}, unevaluatedProperties: false }),
    { a: 1, b: 1 },
    false,
  ],
  [
    'a property of an if that holds',
    object(
      {},
      { if: { properties: { a: { const: 1 } } }, then: { required: ['a'] }, unevaluatedProperties: false },
    ),
    { a: 1 },
    true,
  ],
  [
    'a property with the name of a method',
    object({}, { if: { required: ['a'] }, else: { properties: { b: {} } }, unevaluatedProperties: false }),
    { constructor: 1 },
    false,
  ],
])('whether it is unevaluated: %s', (_, schema, value, accepted) => {
  const whole = { type: ['array', 'object', 'string'], ...schema } as JsonObject
  expect(accepts(whole, value)).toBe(accepted)
})

test('a property that only `dependencies` names is unevaluated, since 2020-12 no longer has the keyword', () => {
  const schema = object(
    { t: {} },
    { dependencies: { t: { properties: { a: { type: 'integer' } } } }, unevaluatedProperties: false },
  )
  expect(accepts(schema, { t: 1 })).toBe(true)
  expect(accepts(schema, { t: 1, a: 1 })).toBe(false)
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
])(
  'numbers are compared by the digits that JSON has: %d, a multiple of %d: %s',
  (v, multipleOf, accepted) => {
    expect(accepts(object({ v: { multipleOf } }), { v })).toBe(accepted)
  },
)

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
