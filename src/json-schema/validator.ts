import type { Ajv2020, AnySchema, ErrorObject } from 'ajv/dist/2020.js'
import { isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { type Compiled, isAsserted, newAjv, OTHERS, PARTS, WARM } from './ajv.ts'
import {
  allSchemas,
  eachInner,
  isChecked,
  isSchema,
  ON_INNER_VALUE,
  ON_SAME_VALUE,
  type Schema,
  setField,
} from './schema.ts'
import { OutOfSteps, spend, spendOnce } from './steps.ts'

/** Keywords that restrict a value and hold no schema. */
const ASSERTIONS = (
  'const dependentRequired enum exclusiveMaximum exclusiveMinimum format maxContains maxItems maxLength ' +
  'maxProperties maximum minContains minItems minLength minProperties minimum multipleOf pattern required type ' +
  'uniqueItems'
).split(' ')

/** Schemas that are compiled together. Ajv needs about 0.5 ms for one, and cannot be interrupted. */
const MAX_TOGETHER = 30
/** Largest size, in schemas, of a schema that is compiled together with the one around it. */
const SMALL = 8
/** The most schemas in a schema that cannot be divided, and the most names in one map of it. */
const MAX_UNDIVIDED = 150
const MAX_SCHEMAS = 50_000
const STEPS_PER_PART = 2_500

interface Part {
  readonly schema: JsonObject
  readonly at: string
  compiled?: Compiled
}

/** Properties that are compiled with the schema around them. */
const MAX_NAMES = 28

/**
 * The validator of one schema. Ajv compiles it in parts, each when a value first needs it. A part begins at an inner value,
 * so that one part has everything that `unevaluatedProperties` depends on.
 */
export class SchemaValidator {
  private readonly root: JsonObject
  private readonly isWhole: boolean
  private readonly isDivisible: boolean
  private readonly parts: Part[] = []
  private readonly known = new Map<JsonObject, number>()
  private readonly sizes = new Map<JsonObject, number>()
  private ajv: Ajv2020 | undefined
  private isWarming = false

  /** Throws `OutOfSteps` for a schema that is too large. */
  constructor(root: JsonObject) {
    this.root = root
    const all = allSchemas(root)
    if (all.length > MAX_SCHEMAS) throw new OutOfSteps(`the schema has more than ${MAX_SCHEMAS} schemas`)
    this.isWhole = all.some(({ $dynamicRef }) => $dynamicRef !== undefined)
    if (this.isWhole && all.length > MAX_UNDIVIDED)
      throw new OutOfSteps(`a schema with $dynamicRef may have at most ${MAX_UNDIVIDED} schemas`)
    this.isDivisible = !all.some(
      ({ unevaluatedItems, unevaluatedProperties }) =>
        (unevaluatedItems ?? unevaluatedProperties) !== undefined,
    )
    this.partOf(root, '')
    if (!this.isWhole) this.divide(root, '')
  }

  /** Schemas that are checked separately become parts here, so that nothing is compiled later when values are made. */
  private divide(schema: JsonObject, at: string): void {
    eachInner(schema, (inner, keyword, key) => {
      if (!isObject(inner)) return
      const place = at + (key === undefined ? pointer(keyword) : pointer(keyword, key))
      if (keyword === 'contains' || isChecked(inner)) this.partOf(inner, place)
      this.divide(inner, place)
    })
  }

  /** Compiles what is not compiled yet, one part after the other. */
  *compile(): Generator<void, void> {
    for (let index = 0; index < this.parts.length; index++) {
      // The call makes V8 compile the function, too.
      const validate = this.compiled(index)
      this.isWarming = true
      validate(null)
      this.isWarming = false
      yield
    }
  }

  /** Whether a value satisfies the schema, or one that is part of it. Counts steps. */
  accepts(value: Json, schema: JsonObject = this.root, at = ''): boolean {
    spend(2)
    return this.compiled(this.partOf(schema, at))(value)
  }

  /** The errors of a value; pointers of schemas start at the root of the whole schema. */
  errors(value: Json): readonly ErrorObject[] {
    const validate = this.compiled(0)
    return validate(value) ? [] : (validate.errors ?? [])
  }

  private compiled(index: number): Compiled {
    const part = this.parts[index]
    if (part === undefined) throw new Error(`there is no part ${index}`)
    if (part.compiled === undefined) {
      this.ajv ??= newAjv((inner) => (this.isWarming ? WARM : this.compiled(inner)))
      const copy =
        this.isWhole && part.schema === this.root ? withoutIds(part.schema) : this.copy(part.schema, part.at)
      spendOnce(STEPS_PER_PART)
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
      // An empty schema stays in place: in `contains`, ajv treats it as no schema.
      (inner) => (isChecked(inner) && this.known.has(inner) ? Infinity : this.sizeOf(inner)),
    ).of(schema, at)
  }

  private sizeOf(schema: JsonObject): number {
    const known = this.sizes.get(schema)
    if (known !== undefined) return known
    let size = 1
    eachInner(schema, (inner) => {
      size += isObject(inner) ? this.sizeOf(inner) : 1
    })
    this.sizes.set(schema, size)
    return size
  }
}

/**
 * A copy of one part for ajv, with the keywords of 2020-12 only: identifiers and extensions (`$id`, `$async`, `nullable`)
 * would change the validator's state. Large schemas of inner values become separate parts.
 */
class Copy {
  /** Schemas for the same value are divided only if none of them depends on what the others have evaluated. */
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

  // Ajv skips properties named `__proto__`, but not a pattern that matches only that name.
  private properties(schema: JsonObject, at: string, copy: Record<string, Json>): void {
    if (!isObject(schema.properties)) return
    const entries = Object.entries(schema.properties)
    const names: Record<string, Json> = {}
    const isWide = entries.length > MAX_NAMES && this.isDivisible
    if (!isWide && entries.length > MAX_UNDIVIDED)
      throw new OutOfSteps(`properties at ${at || 'the root'} has more than ${MAX_UNDIVIDED} names`)
    for (const [name, inner] of entries) {
      if (isWide && name !== '__proto__') continue
      const copied = this.inner(inner as Schema, at + pointer('properties', name))
      if (name === '__proto__') copy.patternProperties = { '^__proto__$': copied }
      else names[name] = copied
    }
    if (!isWide) {
      copy.properties = names
      return
    }
    copy[PARTS] = chunks(entries).flatMap(
      (some) => this.part({ properties: Object.fromEntries(some) }, at)[PARTS] as Json[],
    )
    const { additionalProperties: others } = copy
    delete copy.additionalProperties
    if (others !== undefined && others !== true)
      copy[OTHERS] = { names: entries.map(([name]) => name), schema: others, at }
  }

  // Ajv skips the name `__proto__` here, too. Within `if` and `not` a missing property with an empty name counts as present.
  private dependents(schema: JsonObject, at: string, copy: Record<string, Json>): void {
    const isTaken = (name: string, then: Json) =>
      name !== '__proto__' && !(Array.isArray(then) && then.includes(''))
    const conditions: Json[] = []
    for (const keyword of ['dependentSchemas', 'dependencies', 'dependentRequired']) {
      const map = schema[keyword]
      if (!isObject(map)) continue
      if (Object.keys(map).length > MAX_UNDIVIDED)
        throw new OutOfSteps(`${keyword} at ${at} has too many names`)
      const entries: Record<string, Json> = {}
      for (const [name, inner] of Object.entries(map)) {
        const place = at + pointer(keyword, name)
        const then = isSchema(inner) ? this.dependent(keyword, inner, place) : inner
        if (isTaken(name, then)) setField(entries, name, then)
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

  // 2020-12 no longer has `dependencies`: a property that is named only there stays unevaluated.
  private dependent(keyword: string, schema: Schema, at: string): Json {
    return keyword === 'dependencies' && isObject(schema) ? this.part(schema, at) : this.same(schema, at)
  }
}

function withoutIds(schema: JsonObject): AnySchema & object {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === '$async' ? undefined : value))
  return JSON.parse(text) as AnySchema & object
}

function chunks<T>(list: readonly T[]): T[][] {
  const count = Math.ceil(list.length / MAX_NAMES)
  return Array.from({ length: count }, (_, n) => list.slice(n * MAX_NAMES, (n + 1) * MAX_NAMES))
}
