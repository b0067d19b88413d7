import { createRequire } from 'node:module'
import type { Ajv2020, AnySchema, ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { formatOf } from './formats.ts'
import {
  ASSERTIONS,
  canonical,
  ONE_SCHEMA,
  SCHEMA_LISTS,
  SCHEMA_MAPS,
  type Schema,
  setMember,
} from './keywords.ts'
import { perSchema } from './memo.ts'
import { WHOLE_FORMATS } from './numbers.ts'
import { compilePattern } from './pattern.ts'

type AjvModule = typeof import('ajv/dist/2020.js')
type FormatsModule = typeof import('ajv-formats')

/** Checks a value. After `false`, `errors` holds what is wrong, until the next call. */
export type Validator = ValidateFunction<Json>

// A bundler sees the plain require and wraps the module, still to be run on first use; in plain ESM that name
// does not exist and createRequire takes over. Both are synchronous, as handlers are.
function ajvModule(): AjvModule {
  try {
    return require('ajv/dist/2020.js') as AjvModule
  } catch {
    return createRequire(import.meta.url)('ajv/dist/2020.js') as AjvModule
  }
}

function formatsModule(): FormatsModule {
  try {
    return require('ajv-formats') as FormatsModule
  } catch {
    return createRequire(import.meta.url)('ajv-formats') as FormatsModule
  }
}

const OPTIONS: Options = {
  strict: false,
  logger: false,
  // Stopping at the first fault, it skips `contains` on an array that is shorter than its prefixItems.
  allErrors: true,
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  ownProperties: true,
  code: { regExp: Object.assign(boundedExpression, { code: 'boundedExpression' }) },
}

// An instance keeps all that it ever compiled, so it is replaced now and then.
const COMPILATIONS_PER_INSTANCE = 200

let current: { ajv: Ajv2020; left: number } | undefined
let meta: Validator | undefined

/** The validator of one whole schema, compiled once. */
export const validatorOfSchema: (schema: JsonObject) => Validator = perSchema((schema) =>
  validatorOf([schema]),
)

const formatChecks = new Map<string, Validator>()

/** True for a text of the format, and for any text where nobody knows the format. */
export function hasFormat(text: string, format: string): boolean {
  const known = formatChecks.get(format)
  if (known !== undefined) return known(text)
  if (!isAsserted(format)) return true
  const check = validatorOf([{ format }])
  formatChecks.set(format, check)
  return check(text)
}

// Looked up by the validator in a plain object, a format named `constructor` would be found there.
function isAsserted(format: Json | undefined): boolean {
  return typeof format === 'string' && (formatOf(format) !== undefined || WHOLE_FORMATS.includes(format))
}

/** A validator of values that satisfy all the schemas. */
export function validatorOf(schemas: readonly JsonObject[]): Validator {
  if (current === undefined || current.left <= 0) current = { ajv: newAjv(), left: COMPILATIONS_PER_INSTANCE }
  current.left--
  const copies = schemas.map(forAjv)
  return current.ajv.compile<Json>(
    copies.length === 1 && copies[0] !== undefined ? copies[0] : { allOf: copies },
  )
}

/** What the 2020-12 meta-schema has to say about a schema. */
export function metaSchemaErrors(schema: JsonObject): readonly ErrorObject[] {
  if (meta === undefined) {
    const { Ajv2020: Ajv } = ajvModule()
    const ajv = new Ajv({ strict: false, logger: false, allErrors: true, validateFormats: false })
    meta = ajv.getSchema<Json>('https://json-schema.org/draft/2020-12/schema')
  }
  if (meta === undefined || meta(schema)) return []
  return meta.errors ?? []
}

function newAjv(): Ajv2020 {
  const { Ajv2020: Ajv } = ajvModule()
  const ajv = new Ajv(OPTIONS)
  formatsModule().default(ajv)
  for (const keyword of ['uniqueItems', 'enum', 'const']) ajv.removeKeyword(keyword)
  ajv.addKeyword({ ...UNIQUE_ITEMS, keyword: 'uniqueItems' })
  ajv.addKeyword({ ...ENUM, keyword: 'enum' })
  ajv.addKeyword({ ...CONST, keyword: 'const' })
  return ajv
}

// The stock keywords compare each pair of items, which takes minutes for a hundred thousand of them, and throw
// on an object with a member named toString. Texts of values can be compared by the set, and hold any name.
const UNIQUE_ITEMS = {
  type: 'array',
  schemaType: 'boolean',
  validate: (unique: boolean, items: Json[]) =>
    !unique || new Set(items.map(canonical)).size === items.length,
  error: { message: 'must NOT have duplicate items' },
} as const

const ENUM = {
  schemaType: 'array',
  compile: (values: Json[]) => oneOfValues(values),
  error: { message: 'must be equal to one of the allowed values' },
} as const

const CONST = {
  compile: (value: Json) => oneOfValues([value]),
  error: { message: 'must be equal to constant' },
} as const

function oneOfValues(values: readonly Json[]): (value: Json) => boolean {
  const known = new Set(values.map(canonical))
  return (value) => known.has(canonical(value))
}

function boundedExpression(source: string): { test(text: string): boolean; toString(): string } {
  const pattern = compilePattern(source)
  return { test: pattern.test, toString: () => `/${source}/` }
}

/**
 * A copy with the keywords of 2020-12 only. Identifiers, references and extensions (`$id`, `$async`, `nullable`)
 * are left out: they would reach into the validator's own state. The validator also skips properties named
 * `__proto__`; a pattern that matches that one name is not skipped.
 */
function forAjv(schema: Schema): AnySchema & object {
  if (typeof schema === 'boolean') return schema ? {} : { not: {} }
  const copy: Record<string, Json> = {}
  for (const keyword of ASSERTIONS) if (schema[keyword] !== undefined) copy[keyword] = schema[keyword]
  if (!isAsserted(schema.format)) delete copy.format
  for (const keyword of [...ONE_SCHEMA, 'not']) copyOne(schema[keyword], keyword, copy)
  for (const keyword of SCHEMA_LISTS) {
    const list = schema[keyword]
    if (Array.isArray(list)) copy[keyword] = list.map((entry) => inside(entry))
  }
  for (const keyword of SCHEMA_MAPS) {
    const map = schema[keyword]
    if (!isObject(map)) continue
    const entries: Record<string, Json> = {}
    for (const [name, entry] of Object.entries(map)) setMember(entries, name, inside(entry))
    copy[keyword] = entries
  }
  return withProtoProperty(schema, copy)
}

function copyOne(value: Json | undefined, keyword: string, copy: Record<string, Json>): void {
  if (typeof value === 'boolean' || isObject(value)) copy[keyword] = inside(value)
}

function inside(schema: Json): Json {
  if (!isObject(schema)) return schema
  return forAjv(schema) as JsonObject
}

const PROTO = '__proto__'
const HAS_PROTO = { type: 'object', required: [PROTO] }

function withProtoProperty(schema: JsonObject, copy: Record<string, Json>): Record<string, Json> {
  const conditions: Json[] = []
  for (const [keyword, target] of [
    ['dependentRequired', 'required'],
    ['dependentSchemas', ''],
  ] as const) {
    const map = schema[keyword]
    if (!isObject(map) || !Object.hasOwn(map, PROTO)) continue
    const then = target === '' ? inside(map[PROTO] ?? true) : { [target]: map[PROTO] ?? [] }
    conditions.push({ if: HAS_PROTO, then })
  }
  if (conditions.length > 0) copy.allOf = conditions
  const properties = schema.properties
  if (isObject(properties) && Object.hasOwn(properties, PROTO))
    copy.patternProperties = { '^__proto__$': inside(properties[PROTO] ?? true) }
  return copy
}
