import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import * as z3 from 'zod3'
import type { JsonObject } from '../core/json.ts'
import { checkerOf, type EndpointSchema } from './schema.ts'

const NOTE = { text: 'Hello', tags: ['a'] }
const WRONG = { text: 5, tags: ['a', 6] }

/** The same schema in each library, and whether the library can express it as a JSON Schema. */
const LIBRARIES = {
  'zod 3': [z3.object({ text: z3.string(), tags: z3.array(z3.string()) }).strict(), false],
  'zod 4': [z.strictObject({ text: z.string(), tags: z.array(z.string()) }), true],
  Valibot: [v.strictObject({ text: v.string(), tags: v.array(v.string()) }), false],
  'Valibot with its converter': [
    toStandardJsonSchema(v.strictObject({ text: v.string(), tags: v.array(v.string()) })),
    true,
  ],
  ArkType: [type({ '+': 'reject', text: 'string', tags: 'string[]' }), true],
  'JSON Schema': [
    {
      type: 'object',
      properties: { text: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
      required: ['text', 'tags'],
      additionalProperties: false,
    },
    true,
  ],
} satisfies Record<string, [schema: EndpointSchema, hasJsonSchema: boolean]>

const pointersOf = (schema: EndpointSchema, value: unknown): string[] => {
  const result = checkerOf(schema, 'input').check(value)
  return 'issues' in result ? result.issues.map(({ pointer }) => pointer).sort() : []
}

test.each(Object.entries(LIBRARIES))(
  '%s: a value is returned, a wrong field has its pointer',
  (_, [schema]) => {
    expect(checkerOf(schema, 'input').check(Object.freeze({ ...NOTE }))).toEqual({ value: NOTE })
    expect(pointersOf(schema, WRONG)).toEqual(['/tags/1', '/text'])
    expect(pointersOf(schema, { tags: [] })).toEqual(['/text'])
    expect(pointersOf(schema, { ...NOTE, 'a/b': 1 })).toEqual(['/a~1b'])
    expect(pointersOf(schema, 5)).toEqual([''])
  },
)

test.each(Object.entries(LIBRARIES))('%s: a JSON Schema where the library has one', (_, [schema, has]) => {
  const { jsonSchema } = checkerOf(schema, 'input')
  if (!has) return expect(jsonSchema).toBeUndefined()
  expect(jsonSchema).toMatchObject({ type: 'object', properties: { text: { type: 'string' } } })
  expect(pointersOf(jsonSchema as JsonObject, WRONG)).toEqual(['/tags/1', '/text'])
})

test('zod lists each unknown field, and the value is what the schema makes of it', () => {
  for (const [schema] of [LIBRARIES['zod 3'], LIBRARIES['zod 4']] as const)
    expect(pointersOf(schema, { ...NOTE, more: 1, most: 2 })).toEqual(['/more', '/most'])
  expect(checkerOf(z.coerce.number(), 'input').check('5')).toEqual({ value: 5 })
})

test('a schema that transforms has one JSON Schema for each use, or none', () => {
  const trimmed = z.object({ n: z.string().default('1') })
  expect(checkerOf(trimmed, 'input').jsonSchema).not.toHaveProperty('required')
  expect(checkerOf(trimmed, 'output').jsonSchema).toHaveProperty('required', ['n'])
  expect(checkerOf(z.object({ at: z.date() }), 'input').jsonSchema).toBeUndefined()
})

test.for([
  { '~standard': { version: 1, vendor: 'own', validate: () => Promise.reject(new Error('no')) } },
  v.pipeAsync(v.any(), v.checkAsync(isTrue)),
  z.any().refine(isTrue),
])('a schema that is always asynchronous is refused when it is loaded', (schema) => {
  const load = () => checkerOf(schema as EndpointSchema, 'input')
  expect(load).toThrow(/returned a promise.*a schema must be synchronous/)
})

async function isTrue() {
  return true
}

test('a schema that is asynchronous for some values is refused at the call', () => {
  const async = checkerOf(z.object({ text: z.string().refine(isTrue) }), 'input')
  expect(() => async.check({ text: 'a' })).toThrow(/returned a promise/)
})

test('a schema that throws, or never returns, is a fault of the schema', () => {
  const throws = () => {
    throw new Error('out of order')
  }
  const valibot = checkerOf(v.pipe(v.string(), v.check(throws)), 'input')
  expect(() => valibot.check('a')).toThrow('out of order')
  const zod = checkerOf(z.string().refine(throws), 'input')
  expect(() => zod.check('a')).toThrow('when a function of a schema throws')
  const slow = z.any().refine(() => {
    for (;;);
  })
  expect(() => checkerOf(slow, 'input')).toThrow(/did not return within/)
}, 30_000)

test('a JSON Schema whose checks double with each $ref is stopped', () => {
  const both = (n: number) => ({ allOf: [{ $ref: `#/$defs/a${n}` }, { $ref: `#/$defs/a${n}` }] })
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`a${n}`, n === 0 ? {} : both(n - 1)]),
  )
  expect(() => checkerOf({ ...both(39), $defs }, 'input')).toThrow(/did not return within/)
}, 30_000)

test('what is no schema is refused with the libraries that have one', () => {
  const old = { _def: {}, safeParse: () => ({ success: true }) }
  const wrong = [5, null, undefined, [], 'string', class {}, new Date(), old]
  for (const schema of wrong)
    expect(() => checkerOf(schema as unknown as EndpointSchema, 'input')).toThrow(
      /zod from 3.24, Valibot, ArkType/,
    )
})

test('a value with 2,000 problems lists the first 100', () => {
  const value = { text: 'a', tags: new Array(2_000).fill(5) }
  for (const [schema] of Object.values(LIBRARIES)) {
    const result = checkerOf(schema, 'input').check(value)
    expect('issues' in result && result.issues.length).toBe(101)
  }
})

test('a value that is nested too deep for a recursive schema does not fit', () => {
  const tree: JsonObject = { type: 'array', items: { $ref: '#' } }
  let deep: unknown[] = []
  for (let n = 0; n < 100_000; n++) deep = [deep]
  expect(checkerOf(tree, 'input').check([[]])).toEqual({ value: [[]] })
  expect(pointersOf(tree, deep)).toEqual([''])
})
