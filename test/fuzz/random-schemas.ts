// biome-ignore-all lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema here, and nothing awaits it

import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Chance } from '../../src/core/random.ts'
import { wild } from '../support/output-schemas.ts'

const NAMES = ['a', 'b', 'kind', 'total', 'vendor_name', 'constructor', '$ref', 'a/b~c', '', '1'] as const
const WORDS = ['x', 'yy', 'abc', 'Ünï', '😀', 'a b', '', 'foo', 'bar'] as const

/** Patterns, each with a generator of matching texts. */
const PATTERNS: readonly (readonly [pattern: string, text: (chance: Chance) => string])[] = [
  ['^[a-z]+$', (chance) => 'abcdefgh'.slice(0, chance.int(1, 8))],
  ['\\d{2,3}', (chance) => `no ${chance.int(10, 999)}`],
  ['^A-', (chance) => `A-${chance.int(0, 99)}`],
  ['^(foo|bar)+$', () => 'foobar'],
  ['^https?://', () => 'https://x.example/'],
  ['@x\\.com$', () => 'me@x.com'],
  ['^(?=.*\\d).{4,}$', () => 'abc4'],
  ['^\\p{Lu}\\p{Ll}+$', () => 'Total'],
  ['^(a|b)\\1$', () => 'aa'],
  ['(?<=x)y', () => 'xy'],
  ['^[A-Z]{2}\\d{4}$', (chance) => `AB${chance.int(1000, 9999)}`],
  ['^[^\\s]{3,10}$', () => 'a_b-c'],
]
const FORMATS = Object.entries({
  ...{ date: '2026-03-01', 'date-time': '2026-03-01T10:00:00Z', time: '10:00:00Z', duration: 'P3D' },
  ...{ email: 'someone@example.com', hostname: 'host.example', ipv4: '192.0.2.17', ipv6: '2001:db8::1' },
  ...{ uri: 'https://a.example/b', 'uri-reference': '/a/b', 'json-pointer': '/a/0', regex: '^a$' },
  ...{ uuid: '0b0e6c8e-6a3f-4f0b-9d2a-5c1f7e8a9b10', 'unheard-of': 'anything' },
})

const pick = <T>(chance: Chance, list: readonly T[]): T => list[chance.int(0, list.length - 1)] as T
const set = (object: Record<string, unknown>, name: string, value: unknown): void =>
  void Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })

type Keywords = Record<string, Json>

/** An arbitrary schema, whose keywords may contradict each other. */
export function wildSchema(chance: Chance): JsonObject {
  return fc.sample(wild, { numRuns: 1, seed: chance.int(0, 2 ** 31 - 1) })[0] ?? {}
}

/** A value and a schema built around it: the value satisfies each keyword. */
export function knownSchema(
  chance: Chance,
  depth = 0,
  deepest = chance.int(0, 2),
): { readonly value: Json; readonly schema: JsonObject } {
  const kind = depth === 0 ? 6 : depth > deepest ? chance.int(0, 3) : chance.int(0, 7)
  if (kind <= 1) return knownText(chance)
  if (kind === 2) return knownNumber(chance)
  if (kind === 3) return knownListed(chance)
  return kind <= 5 ? knownArray(chance, depth, deepest) : knownObject(chance, depth, deepest)
}

function knownText(chance: Chance) {
  const schema: Keywords = { type: chance.next() < 0.8 ? 'string' : ['string', 'null'] }
  let value: string = pick(chance, WORDS)
  const way = chance.int(0, 3)
  if (way === 0) {
    const [pattern, text] = pick(chance, PATTERNS)
    value = text(chance)
    schema.pattern = pattern
  } else if (way === 1) {
    const [format, text] = pick(chance, FORMATS)
    value = text
    schema.format = format
  }
  const length = Array.from(value).length
  if (chance.next() < 0.3) schema.minLength = Math.max(0, length - chance.int(0, 3))
  if (chance.next() < 0.3) schema.maxLength = length + chance.int(0, 3)
  return { value, schema }
}

function knownNumber(chance: Chance) {
  const step = pick(chance, [1, 2, 7, 0.5, 0.25, 100])
  const value = step * chance.int(-50, 200)
  const schema: Keywords = { type: Number.isInteger(value) && chance.next() < 0.6 ? 'integer' : 'number' }
  if (chance.next() < 0.4) schema.multipleOf = step
  if (chance.next() < 0.4) schema[pick(chance, ['minimum', 'exclusiveMinimum'])] = value - chance.int(1, 10)
  if (chance.next() < 0.4) schema[pick(chance, ['maximum', 'exclusiveMaximum'])] = value + chance.int(1, 10)
  return { value, schema }
}

function knownListed(chance: Chance): { value: Json; schema: JsonObject } {
  const value = pick<Json>(chance, ['red', 3, true, null, [1, 2], { a: 1 }])
  if (chance.next() < 0.3) return { value, schema: { const: value } }
  return { value, schema: { enum: [value, ...['green', 4, false].slice(0, chance.int(0, 3))] } }
}

function knownArray(chance: Chance, depth: number, deepest: number) {
  const item = knownSchema(chance, depth + 1, deepest)
  const list = Array.from({ length: chance.int(0, 4) }, () => item.value)
  const schema: Keywords = { type: 'array' }
  let value: Json[] = list
  const way = chance.int(0, 3)
  if (way < 2) schema.items = item.schema
  else {
    const parts = Array.from({ length: chance.int(1, 3) }, () => knownSchema(chance, depth + 1, deepest))
    value = parts.map((part) => part.value)
    schema.prefixItems = parts.map((part) => part.schema)
    if (way === 3) {
      value.push(item.value)
      schema.contains = item.schema
      if (chance.next() < 0.3) schema.minContains = 1
    } else schema.items = false
  }
  if (chance.next() < 0.4) schema.minItems = Math.max(0, value.length - chance.int(0, 1))
  if (chance.next() < 0.4) schema.maxItems = value.length + chance.int(0, 2)
  if (value.length < 2 && chance.next() < 0.4) schema.uniqueItems = true
  return { value, schema }
}

function knownObject(chance: Chance, depth: number, deepest: number) {
  const value: Keywords = {}
  const properties: Keywords = {}
  for (let n = chance.int(1, 4); n > 0; n--) {
    const name = pick(chance, NAMES)
    const known = knownSchema(chance, depth + 1, deepest)
    set(value, name, known.value)
    set(properties, name, known.schema)
  }
  const names = Object.keys(value)
  const schema: Keywords = { type: 'object', properties, required: names.filter(() => chance.next() < 0.5) }
  const way = chance.int(0, 4)
  if (way === 0) schema.additionalProperties = false
  if (way === 1) schema.unevaluatedProperties = false
  if (way === 2) schema.propertyNames = { maxLength: 12 }
  if (way === 3) schema.minProperties = names.length
  if (chance.next() < 0.3) schema.maxProperties = names.length + chance.int(0, 2)
  const [first = '', second = first] = names
  if (chance.next() < 0.25) {
    const map: Keywords = {}
    set(map, first, [second])
    schema.dependentRequired = map
  }
  if (chance.next() < 0.25) {
    const map: Keywords = {}
    set(map, first, { required: [second], ...(chance.next() < 0.5 ? { minProperties: 1 } : {}) })
    schema[pick(chance, ['dependentSchemas', 'dependencies'])] = map
  }
  if (chance.next() < 0.3) {
    const condition: Keywords = {}
    const tests: Json[] = [properties[first] ?? true, { const: 'other' }, { type: 'boolean' }]
    set(condition, first, pick(chance, tests))
    schema.if = { properties: condition, required: [first] }
    schema.then = { required: names }
    schema.else = { minProperties: Math.min(1, names.length) }
  }
  return { value, schema }
}
