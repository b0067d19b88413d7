import type { Ajv2020, FuncKeywordDefinition, Options, ValidateFunction } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../core/json.ts'
import { load } from '../core/load.ts'
import { compilePattern } from './pattern.ts'
import { canonical, isMultiple } from './schema.ts'

// The packages are loaded with the first schema.

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
  code: {
    optimize: false,
    // For `patternProperties`: the engine of V8 can take exponential time.
    regExp: Object.assign(usedPattern, { code: 'usedPattern' }),
    // A property such as `constructor` counts as evaluated if the objects of evaluated names have a prototype.
    process: (code) => code.replace(/\b(props\d+ = (?:props\d+ \|\| )?)\{\}/g, '$1Object.create(null)'),
  },
}

export type Compiled = Pick<ValidateFunction<Json>, 'errors'> & ((value: Json) => boolean)

/** Creates an instance for one schema: an instance never frees a schema that it has compiled. */
export function newAjv(options: Options = {}): Ajv2020 {
  const { Ajv2020: Ajv } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const { default: addFormats } = load('ajv-formats') as typeof import('ajv-formats')
  const ajv = new Ajv({ ...OPTIONS, ...options })
  addFormats(ajv)
  for (const definition of keywords()) {
    ajv.removeKeyword(definition.keyword)
    ajv.addKeyword(definition)
  }
  return ajv
}

/**
 * Keywords that replace those of ajv. They have no code of their own, because ajv takes quadratic time to join the code of
 * thousands of keywords.
 */
function keywords(): (FuncKeywordDefinition & { keyword: string })[] {
  const valuesOf = new WeakMap<readonly Json[], ReadonlySet<string>>()
  const dependent = {
    type: 'object',
    // Ajv takes quadratic space for a long list of names, and does not know the name __proto__.
    validate: (map: JsonObject, object: JsonObject) =>
      Object.entries(map).every(
        ([name, others]) =>
          !Object.hasOwn(object, name) ||
          !Array.isArray(others) ||
          others.every((other) => Object.hasOwn(object, String(other))),
      ),
    error: { message: 'must have the properties that another property requires' },
  } as const
  return [
    { ...dependent, keyword: 'dependentRequired' },
    { ...dependent, keyword: 'dependencies' },
    {
      keyword: 'uniqueItems',
      type: 'array',
      // Ajv compares each pair of items, which takes minutes for 100,000 items, and throws on an object with a field named toString.
      validate: (unique: boolean, items: Json[]) =>
        !unique || new Set(items.map(canonical)).size === items.length,
      error: { message: 'must NOT have duplicate items' },
    },
    {
      keyword: 'enum',
      validate: (values: Json[], value: Json) => {
        const known = valuesOf.get(values) ?? new Set(values.map(keyOf))
        valuesOf.set(values, known)
        return known.has(keyOf(value))
      },
      // The message becomes part of the compiled code.
      error: { message: ({ schema }) => `must be one of ${JSON.stringify(schema).slice(0, 200)}` },
    },
    {
      keyword: 'const',
      validate: (only: Json, value: Json) => keyOf(value) === keyOf(only),
      error: { message: ({ schema }) => `must be ${JSON.stringify(schema).slice(0, 200)}` },
    },
    {
      keyword: 'multipleOf',
      type: 'number',
      validate: (multiple: number, value: number) => isMultiple(value, multiple),
      error: { message: 'must be a multiple of multipleOf' },
    },
    {
      keyword: 'pattern',
      type: 'string',
      validate: (source: string, text: string) => usedPattern(source).test(text),
      error: { message: 'must match the pattern' },
    },
  ]
}

/** Throws an error for a pattern that cannot be used. */
export function usedPattern(source: string) {
  const pattern = compilePattern(source)
  if (typeof pattern === 'string') throw new Error(`the pattern ${pattern}`)
  // Ajv keeps expressions by their texts.
  return { test: pattern.test, toString: () => source }
}

/** As `canonical`, but faster for texts, which most values are. Keys of texts lack the closing quote. */
function keyOf(value: Json): string {
  return typeof value === 'string' ? `"${value}` : canonical(value)
}
