import { expect, test } from 'vitest'
import type { JsonObject } from '../core/json.ts'
import { Chance } from '../core/random.ts'
import { Outputs } from './outputs.ts'
import { hasPlainValues } from './plain.ts'

const text = { type: 'string' }
const line = { type: 'object', properties: { text, price: { type: 'number' } }, required: ['text'] }

const OTHERS = Object.fromEntries(['boolean', 'null', 'array', 'integer'].map((type) => [type, { type }]))
const SIXTY = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`p${n}`, text]))

test.for<[string, JsonObject]>([
  ['no property', { type: 'object' }],
  ['properties', { ...line, title: 'Line', description: 'One line.' }],
  ['no other property', { ...line, additionalProperties: false }],
  ['lists', { type: 'object', properties: { lines: { type: 'array', items: line } }, required: ['lines'] }],
  ['each other type', { type: 'object', properties: OTHERS }],
])('outputs can be made for a plain schema: %s', ([_, schema]) => {
  expect(hasPlainValues(schema)).toBe(true)
  const outputs = new Outputs(schema)
  expect(outputs.unsatisfiable).toBeUndefined()
  for (const seed of [1, 2, 3])
    expect(outputs.issues(JSON.parse(outputs.text(new Chance(seed), 0) ?? ''))).toEqual([])
})

test.for<[string, JsonObject]>([
  ['another keyword', { type: 'object', minProperties: 1 }],
  ['a type that is not an object', text],
  ['several types', { type: ['object', 'null'] }],
  ['a keyword inside', { type: 'object', properties: { a: { type: 'string', maxLength: 0 } } }],
  ['a property that no value has', { type: 'object', properties: { a: false }, required: ['a'] }],
  ['a property that is not allowed', { type: 'object', additionalProperties: false, required: ['a'] }],
  ['a name of every object', { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') }],
  ['more schemas than are examined', { type: 'object', properties: SIXTY }],
])('a schema with %s is not plain', ([_, schema]) => {
  expect(hasPlainValues(schema)).toBe(false)
})
