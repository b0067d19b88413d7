import { expect, test } from 'vitest'
import { aBatch, batchEmulator, createBatch, pointersOf, refusedProblem } from '../../support/batches.ts'

const CREATE = '/batch-predictions'

const KEYWORDS = ['$defs', '$ref', 'allOf', 'anyOf', 'not', 'oneOf', 'patternProperties']
const POSITIONS: readonly [string, (schema: object) => object, string][] = [
  ['at the root', (schema) => ({ type: 'object', ...schema }), ''],
  ['in a property', (schema) => ({ type: 'object', properties: { a: schema } }), '/properties/a'],
  [
    'in items',
    (schema) => ({ type: 'object', properties: { a: { type: 'array', items: schema } } }),
    '/properties/a/items',
  ],
  [
    'in additionalProperties',
    (schema) => ({ type: 'object', additionalProperties: schema }),
    '/additionalProperties',
  ],
]

test.for(KEYWORDS)(
  'the keyword %s is refused in every position of a schema',
  { tags: ['R274', 'R200'] },
  async (keyword) => {
    const emulator = await batchEmulator()
    for (const [, around, place] of POSITIONS) {
      const value = ['allOf', 'anyOf', 'oneOf'].includes(keyword) ? [{}] : keyword === '$ref' ? '#' : {}
      const output_schema = around({ [keyword]: value })
      const response = await refusedProblem(
        emulator,
        () => emulator.post(CREATE, aBatch({ output_schema })),
        400,
      )
      expect(pointersOf(response)).toContain(`/output_schema${place}/${keyword}`)
    }
  },
)

test('the seven keywords are accepted as names of properties and inside values', {
  tags: ['R274'],
}, async () => {
  const emulator = await batchEmulator()
  const properties = Object.fromEntries(KEYWORDS.map((name) => [name, { type: 'string', default: '$ref' }]))
  const word = { enum: KEYWORDS, default: { not: { $ref: 'x' } } }
  await createBatch(emulator, { output_schema: { type: 'object', properties: { ...properties, word } } })
})

test.for([[['object']], [true], ['array'], ['objekt'], [undefined], [null]])(
  'the root type %j is refused',
  { tags: ['R274'] },
  async ([type]) => {
    const emulator = await batchEmulator()
    const response = await refusedProblem(
      emulator,
      () => emulator.post(CREATE, aBatch({ output_schema: { type } })),
      400,
    )
    expect(pointersOf(response)).toEqual(['/output_schema/type'])
  },
)
