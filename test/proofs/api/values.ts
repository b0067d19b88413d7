import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import type { Chance } from '../../../src/core/random.ts'

export const TEXTS = [
  ...['Plan', 'a', 'Übersicht über alles', '日本語のテキスト', '👩‍👩‍👧‍👦', '\u202Eabc', ' ', ' padded '],
  ...['__proto__', 'constructor', 'toString', 'null', '0', '-1', 'true', '\u0000', '\uD800', 'e\u0301'],
  ...['"quoted" \\ and \n new lines \t', "'; DROP TABLE pages; --", '<script>alert(1)</script>'],
  ...['%00%2F..%2F', '{{7*7}}', '\uFEFFx'],
] as const

/** Samples that match the patterns in the document. */
const BY_PATTERN = [
  ...['Document:created', 'Task:updated', 'A:b'],
  ...['user.name@example.com', 'https://app.example/cb'],
]

/**
 * A value that a JSON Schema of the document allows. Fields that may be anything are omitted: they are placeholders for known
 * fields that are refused.
 */
export function sampleOf(schema: JsonObject, chance: Chance): Json {
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return pick(chance, schema.enum as readonly Json[])
  if (Array.isArray(schema.anyOf))
    return sampleOf(pick(chance, schema.anyOf as readonly JsonObject[]), chance)
  const type = Array.isArray(schema.type) ? pick(chance, schema.type as readonly string[]) : schema.type
  switch (type) {
    case 'string':
      return textOf(schema, chance)
    case 'integer':
      return chance.int(Number(schema.minimum ?? 0), Math.min(Number(schema.maximum ?? 1_000), 100_000))
    case 'number':
      return chance.int(-100, 100) / 4
    case 'boolean':
      return chance.int(0, 1) === 1
    case 'null':
      return null
    case 'array':
      return listOf(schema, chance)
    case 'object':
      return objectOf(schema, chance)
    default:
      throw new Error(`no value is known for the schema ${JSON.stringify(schema)}`)
  }
}

export function objectOf(schema: JsonObject, chance: Chance): JsonObject {
  const required = Array.isArray(schema.required) ? schema.required : []
  const members: [string, Json][] = []
  for (const [name, member] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    if (!isObject(member) || Object.keys(member).length === 0) continue
    if (required.includes(name) || chance.int(0, 1) === 1) members.push([name, sampleOf(member, chance)])
  }
  if (isObject(schema.additionalProperties) && isObject(schema.propertyNames)) {
    const count = chance.int(0, Number(schema.maxProperties ?? 3))
    for (let n = 0; n < count; n++) {
      const name = `${n}-${textOf({ maxLength: 20 }, chance)}`
      members.push([name, sampleOf(schema.additionalProperties, chance)])
    }
  }
  return Object.fromEntries(members)
}

function listOf(schema: JsonObject, chance: Chance): Json[] {
  const item = isObject(schema.items) ? schema.items : { type: 'string' }
  const least = Number(schema.minItems ?? 0)
  return Array.from({ length: chance.int(least, least + 3) }, () => sampleOf(item, chance))
}

function textOf(schema: JsonObject, chance: Chance): string {
  if (typeof schema.pattern === 'string') {
    const pattern = new RegExp(schema.pattern)
    const [first, ...others] = BY_PATTERN.filter((each) => pattern.test(each))
    if (first === undefined) throw new Error(`no sample is known for the pattern ${schema.pattern}`)
    return chance.pick([first, ...others])
  }
  const least = Number(schema.minLength ?? 0)
  const most = Number(schema.maxLength ?? 2_000)
  const text = chance.int(0, 19) === 0 ? 'x'.repeat(most) : chance.pick(TEXTS)
  return text.length < least || text.length > most ? 'x'.repeat(Math.max(1, least)) : text
}

export function pick<T>(chance: Chance, choices: readonly T[]): T {
  const [first, ...others] = choices
  if (first === undefined) throw new Error('there is nothing to choose from')
  return chance.pick<T>([first, ...others])
}
