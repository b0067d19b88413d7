import { createRequire } from 'node:module'
import type { Ajv2020, AnySchema, ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../core/json.ts'
import { compilePattern } from './pattern.ts'
import { canonical, isMultiple, type Schema } from './schema.ts'
import { spend } from './steps.ts'

/** A custom keyword, which calls the compiled validators of other parts of the schema. */
export const PARTS = 'emulatorParts'
/** A custom keyword, in place of `additionalProperties` when a schema has very many `properties`. */
export const OTHERS = 'emulatorOthers'

type AjvModule = typeof import('ajv/dist/2020.js')
type FormatsModule = typeof import('ajv-formats')

// The bundler resolves the plain require; in ESM without a bundle that name is missing, and createRequire is used.
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
  // Without it, ajv skips `contains` on an array that is shorter than its prefixItems.
  allErrors: true,
  // Otherwise a missing property with an empty name counts as present within `if` and `not`.
  loopRequired: 1,
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  ownProperties: true,
  // Ajv's optimizer takes as long as the rest of the compilation, and V8 optimizes the code anyway.
  code: { optimize: false, regExp: Object.assign(boundedExpression, { code: 'boundedExpression' }) },
}

export type Compiled = Pick<ValidateFunction<Json>, 'errors'> & ((value: Json) => boolean)

/** Replaces the inner parts while a part is called for the first time. */
export const WARM: Compiled = () => true

/** Creates an instance for one schema: an instance never frees a schema that it has compiled. */
export function newAjv(compiled: (part: number) => Compiled): Ajv2020 {
  const { Ajv2020: Ajv } = ajvModule()
  const ajv = new Ajv(OPTIONS)
  formatsModule().default(ajv)
  for (const keyword of ['uniqueItems', 'enum', 'const', 'multipleOf']) ajv.removeKeyword(keyword)
  ajv.addKeyword({ ...UNIQUE_ITEMS, keyword: 'uniqueItems' })
  ajv.addKeyword({ ...ENUM, keyword: 'enum' })
  ajv.addKeyword({ ...CONST, keyword: 'const' })
  ajv.addKeyword({ ...MULTIPLE_OF, keyword: 'multipleOf' })
  ajv.addKeyword({
    keyword: PARTS,
    errors: 'full',
    compile: (parts: readonly PartAt[]) => checkOf(parts, compiled),
  })
  ajv.addKeyword({
    keyword: OTHERS,
    type: 'object',
    errors: 'full',
    compile: (others: Others) => othersOf(others, (schema) => ajv.compile<Json>(schema)),
  })
  return ajv
}

interface Others {
  readonly names: readonly string[]
  readonly schema: Schema
  /** JSON Pointer of the schema that has them. */
  readonly at: string
}

function othersOf({ names, schema, at }: Others, compile: (schema: AnySchema) => Compiled): Check {
  const known = new Set(names)
  const validate = compile(schema)
  const check: Check = (value, context) => {
    spend(known.size / 10)
    const fields = Object.entries(value as JsonObject)
    const wrong = fields.filter(([name, field]) => !known.has(name) && !validate(field))
    check.errors = wrong.map(([additionalProperty]) => ({
      keyword: 'additionalProperties',
      instancePath: context?.instancePath ?? '',
      schemaPath: '#/additionalProperties',
      params: { additionalProperty, place: `${at}/additionalProperties` },
      message: 'must NOT have additional properties that do not satisfy additionalProperties',
    }))
    return wrong.length === 0
  }
  return check
}

interface PartAt {
  readonly part: number
  readonly at: string
}

interface Check {
  (value: Json, context?: { readonly instancePath: string }): boolean
  errors?: ErrorObject[]
}

function checkOf(parts: readonly PartAt[], compiled: (part: number) => Compiled): Check {
  const check: Check = (value, context) => {
    let errors: ErrorObject[] | undefined
    for (const { part, at } of parts) {
      const validate = compiled(part)
      spend(1)
      if (validate(value)) continue
      for (const error of validate.errors ?? []) {
        const { instancePath, schemaPath, params } = error
        errors ??= []
        errors.push({
          ...error,
          instancePath: (context?.instancePath ?? '') + instancePath,
          // Ajv writes its own schemaPath over any other. An error of a part inside this one has its place already.
          params: { place: at + schemaPath.slice(1), ...params },
        })
      }
    }
    if (errors === undefined) return true
    check.errors = errors
    return false
  }
  return check
}

// Ajv's own keyword compares each pair of items, which takes minutes for 100,000 items, and throws on an object with a
// field named toString. A set of texts is faster, and any name is allowed.
const UNIQUE_ITEMS = {
  type: 'array',
  schemaType: 'boolean',
  validate: (unique: boolean, items: Json[]) => {
    spend(items.length)
    return !unique || new Set(items.map(canonical)).size === items.length
  },
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

// Ajv's own keyword converts each quotient to a text and back, which is slower.
const MULTIPLE_OF = {
  type: 'number',
  schemaType: 'number',
  compile: (multiple: number) => (value: number) => isMultiple(value, multiple),
  error: { message: 'must be a multiple of multipleOf' },
} as const

/** As `canonical`, but faster for texts, which most values are. Keys of texts lack the closing quote. */
function keyOf(value: Json): string {
  return typeof value === 'string' ? `"${value}` : canonical(value)
}

function oneOfValues(values: readonly Json[]): (value: Json) => boolean {
  const known = new Set(values.map(keyOf))
  return (value) => known.has(keyOf(value))
}

// A pattern that is too large fails when a text is tested, not when the schema is compiled.
function boundedExpression(source: string): { test(text: string): boolean; toString(): string } {
  return { test: (text) => compilePattern(source).test(text), toString: () => `/${source}/` }
}

const FORMATS =
  'binary byte date date-time double duration email float hostname int32 int64 ipv4 ipv6 iso-date-time iso-time ' +
  'json-pointer json-pointer-uri-fragment password regex relative-json-pointer time uri uri-reference ' +
  'uri-template url uuid'
const ASSERTED = new Set(FORMATS.split(' '))

/** True for a format that values are checked against. An unknown format accepts every value. */
export function isAsserted(format: string): boolean {
  return ASSERTED.has(format)
}
