import { createRequire } from 'node:module'
import type { Ajv2020, AnySchema, ErrorObject, Options, ValidateFunction } from 'ajv/dist/2020.js'
import { isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { compilePattern } from './pattern.ts'
import {
  canonical,
  countSchemas,
  isMultiple,
  isSchema,
  ON_INNER_VALUE,
  ON_SAME_VALUE,
  type Schema,
  setField,
  subschemas,
} from './schema.ts'
import { OutOfSteps, spend } from './steps.ts'

type AjvModule = typeof import('ajv/dist/2020.js')
type FormatsModule = typeof import('ajv-formats')

// As with patterns: the bundler sees the plain require, and plain ESM falls back on createRequire.
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

/** Keywords that restrict a value and hold no schema. */
const ASSERTIONS = (
  'const dependentRequired enum exclusiveMaximum exclusiveMinimum format maxContains maxItems maxLength ' +
  'maxProperties maximum minContains minItems minLength minProperties minimum multipleOf pattern required type ' +
  'uniqueItems'
).split(' ')

const OPTIONS: Options = {
  strict: false,
  logger: false,
  // Stopping at the first fault, it skips `contains` on an array that is shorter than its prefixItems.
  allErrors: true,
  meta: false,
  validateSchema: false,
  addUsedSchema: false,
  ownProperties: true,
  // Ajv's own optimizer takes as long as the rest of the compilation, and V8 does not need it.
  code: { optimize: false, regExp: Object.assign(boundedExpression, { code: 'boundedExpression' }) },
}

/** Schemas that are compiled together. Ajv takes about half a millisecond for one, and cannot be interrupted. */
const MAX_TOGETHER = 30
/** A schema is compiled with the one around it up to this size. */
const SMALL = 8
/** What cannot be divided may have so many schemas, and so many names in one map. */
const MAX_UNDIVIDED = 150
const MAX_SCHEMAS = 50_000

type Compiled = ValidateFunction<Json>

interface Part {
  readonly schema: JsonObject
  readonly at: string
  compiled?: Compiled
}

// An instance keeps all that it ever compiled, so each schema has its own.
const PARTS = 'emulatorParts'

/** Properties that are compiled with the schema around them. */
const MAX_NAMES = 60

/**
 * The validator of one schema: ajv, in parts that are compiled one at a time, each when a value first gets there. A
 * part begins at an inner value, so that what `unevaluatedProperties` has to know stays within one.
 */
export class SchemaValidator {
  private readonly root: JsonObject
  private readonly isWhole: boolean
  private readonly isDivisible: boolean
  private readonly parts: Part[] = []
  private readonly known = new Map<JsonObject, number>()
  private readonly sizes = new Map<JsonObject, number>()
  private ajv: Ajv2020 | undefined

  /** Throws `OutOfSteps` for a schema that is too large. */
  constructor(root: JsonObject) {
    this.root = root
    if (countSchemas(root) > MAX_SCHEMAS)
      throw new OutOfSteps(`the schema holds more than ${MAX_SCHEMAS} schemas`)
    const has = (...keywords: string[]) => hasKeyword(root, keywords)
    this.isWhole = has('$dynamicRef')
    this.isDivisible = !has('unevaluatedItems', 'unevaluatedProperties')
    if (this.isWhole && countSchemas(root) > MAX_UNDIVIDED)
      throw new OutOfSteps(`a schema with $dynamicRef may hold ${MAX_UNDIVIDED} schemas`)
    this.partOf(root, '')
  }

  /** Compiles what is not compiled yet, one part after the other. */
  *compile(): Generator<void, void> {
    for (let index = 0; index < this.parts.length; index++) {
      // V8 compiles a function when it is first called.
      this.compiled(index)(null)
      yield
    }
  }

  /** Whether a value satisfies the schema, or one that is part of it. Counts steps. */
  accepts(value: Json, schema: JsonObject = this.root, at = ''): boolean {
    spend(2)
    return this.compiled(this.partOf(schema, at))(value)
  }

  /** What is wrong with a value; pointers of schemas are those of the whole. */
  errors(value: Json): readonly ErrorObject[] {
    const validate = this.compiled(0)
    return validate(value) ? [] : (validate.errors ?? [])
  }

  private compiled(index: number): Compiled {
    const part = this.parts[index]
    if (part === undefined) throw new Error(`there is no part ${index}`)
    if (part.compiled === undefined) {
      this.ajv ??= newAjv((inner) => this.compiled(inner))
      const copy =
        this.isWhole && part.schema === this.root ? withoutIds(part.schema) : this.copy(part.schema, part.at)
      part.compiled = this.ajv.compile<Json>(copy)
    }
    return part.compiled
  }

  private partOf(schema: JsonObject, at: string): number {
    const known = this.known.get(schema)
    if (known !== undefined) return known
    const index = this.parts.push({ schema, at }) - 1
    this.known.set(schema, index)
    return index
  }

  private copy(schema: JsonObject, at: string): AnySchema & object {
    return new Copy(
      this.isDivisible,
      (inner, place) => ({ [PARTS]: [{ part: this.partOf(inner, place), at: place }] }),
      (inner) => this.sizeOf(inner),
    ).of(schema, at)
  }

  private sizeOf(schema: JsonObject): number {
    const known = this.sizes.get(schema)
    if (known !== undefined) return known
    let size = 1
    for (const { schema: inner } of subschemas(schema, '')) size += isObject(inner) ? this.sizeOf(inner) : 1
    this.sizes.set(schema, size)
    return size
  }
}

/**
 * A copy of one part for ajv, with the keywords of 2020-12 only: identifiers and extensions (`$id`, `$async`,
 * `nullable`) would reach into the validator's own state. Schemas of inner values become parts of their own
 * where they are large.
 */
class Copy {
  /** Schemas on the same value are divided only where none asks what others have looked at. */
  private readonly isDivisible: boolean
  private readonly part: (schema: JsonObject, at: string) => JsonObject
  private readonly sizeOf: (schema: JsonObject) => number
  private count = 0

  constructor(
    isDivisible: boolean,
    part: (schema: JsonObject, at: string) => JsonObject,
    sizeOf: (schema: JsonObject) => number,
  ) {
    this.isDivisible = isDivisible
    this.part = part
    this.sizeOf = sizeOf
  }

  of(schema: JsonObject, at: string): AnySchema & object {
    if (++this.count > MAX_UNDIVIDED)
      throw new OutOfSteps(`the schemas at ${at || 'the root'} cannot be compiled one by one`)
    const copy: Record<string, Json> = {}
    for (const keyword of ASSERTIONS) if (schema[keyword] !== undefined) copy[keyword] = schema[keyword]
    if (typeof copy.format === 'string' && !isAsserted(copy.format)) delete copy.format
    for (const keyword of [...ON_SAME_VALUE, 'not']) {
      const inner = schema[keyword]
      if (isSchema(inner)) copy[keyword] = this.same(inner, at + pointer(keyword))
    }
    for (const keyword of ON_INNER_VALUE) {
      const inner = schema[keyword]
      if (isSchema(inner)) copy[keyword] = this.inner(inner, at + pointer(keyword))
    }
    const { prefixItems } = schema
    if (Array.isArray(prefixItems))
      copy.prefixItems = prefixItems.map((inner, index) =>
        this.inner(inner as Schema, at + pointer('prefixItems', index)),
      )
    this.properties(schema, at, copy)
    this.dependents(schema, at, copy)
    return copy
  }

  private same(schema: Schema, at: string): Json {
    if (this.isDivisible) return this.inner(schema, at)
    return isObject(schema) ? (this.of(schema, at) as JsonObject) : schema
  }

  private inner(schema: Schema, at: string): Json {
    if (!isObject(schema)) return schema
    const size = this.sizeOf(schema)
    if (size > SMALL || this.count + size > MAX_TOGETHER) return this.part(schema, at)
    return this.of(schema, at) as JsonObject
  }

  // The validator skips properties named `__proto__`; a pattern that matches that one name is not skipped.
  private properties(schema: JsonObject, at: string, copy: Record<string, Json>): void {
    if (!isObject(schema.properties)) return
    const entries = Object.entries(schema.properties)
    const names: Record<string, Json> = {}
    for (const [name, inner] of entries) {
      const place = at + pointer('properties', name)
      if (name === '__proto__') copy.patternProperties = { '^__proto__$': this.inner(inner as Schema, place) }
      else names[name] = entries.length > MAX_NAMES || this.inner(inner as Schema, place)
    }
    copy.properties = names
    // The names stay, because additionalProperties asks for them; what they say goes to parts of its own.
    if (entries.length > MAX_NAMES)
      copy[PARTS] = chunks(entries).flatMap(
        (some) => this.part({ properties: Object.fromEntries(some) }, at)[PARTS] as Json[],
      )
  }

  private dependents(schema: JsonObject, at: string, copy: Record<string, Json>): void {
    const conditions: Json[] = []
    for (const keyword of ['dependentSchemas', 'dependencies', 'dependentRequired']) {
      const map = schema[keyword]
      if (!isObject(map)) continue
      if (Object.keys(map).length > MAX_UNDIVIDED)
        throw new OutOfSteps(`${keyword} at ${at} has too many names`)
      const entries: Record<string, Json> = {}
      for (const [name, inner] of Object.entries(map)) {
        const place = at + pointer(keyword, name)
        const then = isSchema(inner) ? this.same(inner, place) : inner
        if (name !== '__proto__') setField(entries, name, then)
        else
          conditions.push({
            if: { type: 'object', required: [name] },
            then: Array.isArray(then) ? { required: then } : then,
          })
      }
      copy[keyword] = entries
    }
    if (conditions.length > 0) copy.allOf = conditions
  }
}

function newAjv(compiled: (part: number) => Compiled): Ajv2020 {
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
  return ajv
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
    const errors: ErrorObject[] = []
    for (const { part, at } of parts) {
      const validate = compiled(part)
      spend(1)
      if (validate(value)) continue
      for (const error of validate.errors ?? []) {
        const { instancePath, schemaPath } = error
        // An error of a part inside this one has its place already.
        const isOwn = schemaPath.startsWith('#/')
        errors.push({
          ...error,
          instancePath: (context?.instancePath ?? '') + instancePath,
          schemaPath: isOwn ? at + schemaPath.slice(1) : schemaPath,
        })
      }
    }
    check.errors = errors
    return errors.length === 0
  }
  return check
}

function chunks<T>(list: readonly T[]): T[][] {
  const count = Math.ceil(list.length / MAX_NAMES)
  return Array.from({ length: count }, (_, n) => list.slice(n * MAX_NAMES, (n + 1) * MAX_NAMES))
}

// The stock keywords compare each pair of items, which takes minutes for a hundred thousand of them, and throw
// on an object with a field named toString. Texts of values can be compared by the set, and hold any name.
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

// The stock keyword writes each quotient as a text and reads it again.
const MULTIPLE_OF = {
  type: 'number',
  schemaType: 'number',
  compile: (multiple: number) => (value: number) => isMultiple(value, multiple),
  error: { message: 'must be a multiple of multipleOf' },
} as const

function oneOfValues(values: readonly Json[]): (value: Json) => boolean {
  const known = new Set(values.map(canonical))
  return (value) => known.has(canonical(value))
}

// A pattern that is too large fails when a text gets to it, not when the schema is compiled.
function boundedExpression(source: string): { test(text: string): boolean; toString(): string } {
  return { test: (text) => compilePattern(source).test(text), toString: () => `/${source}/` }
}

const FORMATS =
  'binary byte date date-time double duration email float hostname int32 int64 ipv4 ipv6 iso-date-time iso-time ' +
  'json-pointer json-pointer-uri-fragment password regex relative-json-pointer time uri uri-reference ' +
  'uri-template url uuid'
const ASSERTED = new Set(FORMATS.split(' '))

/** True for a format that values are checked against. Any value has a format that nobody knows. */
export function isAsserted(format: string): boolean {
  return ASSERTED.has(format)
}

function hasKeyword(root: JsonObject, keywords: readonly string[]): boolean {
  const pending = [root]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const schema = next
    if (keywords.some((keyword) => schema[keyword] !== undefined)) return true
    for (const { schema: inner } of subschemas(next, '')) if (isObject(inner)) pending.push(inner)
  }
  return false
}

function withoutIds(schema: JsonObject): AnySchema & object {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === '$async' ? undefined : value))
  return JSON.parse(text) as AnySchema & object
}
