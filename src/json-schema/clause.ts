import { isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { own, type Schema, type TypeName } from './keywords.ts'
import type { Maker } from './maker.ts'

/**
 * One schema out of several that the same value has to satisfy. `at` is its JSON Pointer, `lineage` the schemas
 * on this value that it came out of (itself last), `settled` the conditions in it that are already decided.
 */
export interface Clause {
  readonly schema: JsonObject
  readonly at: string
  readonly lineage: readonly JsonObject[]
  readonly settled: readonly string[]
}

/** Every clause that one value has to satisfy. */
export type Conjunction = readonly Clause[]

/** Compiles the makers of inner values; `depth` counts the arrays around a value. */
export interface Compiler {
  compile(clauses: Conjunction, depth: number): Maker
  /** True for a value that satisfies every clause. */
  accepts(clauses: Conjunction): (value: Json) => boolean
}

/** `{not: {}}` stands for `false`, so that every clause is an object. */
export const NEVER: JsonObject = { not: {} }

/** The clause of a schema on a value of its own. */
export function clauseOf(schema: Schema, at: string): Clause {
  const keywords = asObject(schema)
  return { schema: keywords, at, lineage: [keywords], settled: [] }
}

/** The clause of a schema inside another one, on an inner value: a property, an item, a name. */
export function inner(clause: Clause, ...keys: readonly (string | number)[]): Clause {
  return clauseOf(schemaAt(clause, keys), clause.at + pointer(...keys))
}

/** The clause of a schema inside another one, on the same value: `then`, a dependent schema. */
export function sameValue(clause: Clause, ...keys: readonly (string | number)[]): Clause {
  const found = clauseOf(schemaAt(clause, keys), clause.at + pointer(...keys))
  return { ...found, lineage: [...clause.lineage, found.schema] }
}

/** A clause that the schema does not hold, made up to reach one of its branches. */
export function helper(schema: JsonObject, at: string): Clause {
  return clauseOf(schema, at)
}

export function isNever(clause: Clause): boolean {
  return isObject(clause.schema.not) && Object.keys(clause.schema.not).length === 0
}

/** The values that the clauses give a keyword, with the clauses. */
export function given(clauses: Conjunction, keyword: string): { clause: Clause; value: Json }[] {
  return clauses.flatMap((clause) => {
    const value = clause.schema[keyword]
    return value === undefined ? [] : [{ clause, value }]
  })
}

/** The strictest lower bound that the clauses set. */
export function greatest(clauses: Conjunction, keyword: string, otherwise: number): number {
  return Math.max(otherwise, ...numbers(clauses, keyword))
}

/** The strictest upper bound that the clauses set. */
export function least(clauses: Conjunction, keyword: string, otherwise: number): number {
  return Math.min(otherwise, ...numbers(clauses, keyword))
}

export function numbers(clauses: Conjunction, keyword: string): number[] {
  return given(clauses, keyword).flatMap(({ value }) => (typeof value === 'number' ? [value] : []))
}

export function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : []
}

/** Where to point when several clauses together are at fault: the last one that has the keyword. */
export function place(clauses: Conjunction, keyword: string): string {
  const last = given(clauses, keyword).at(-1)?.clause
  return last === undefined ? (clauses.at(-1)?.at ?? '') : last.at + pointer(keyword)
}

const ABOUT: { readonly [keyword: string]: TypeName } = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  unevaluatedProperties: 'object',
  propertyNames: 'object',
  minProperties: 'object',
  maxProperties: 'object',
  dependentRequired: 'object',
  dependentSchemas: 'object',
  items: 'array',
  prefixItems: 'array',
  contains: 'array',
  minItems: 'array',
  maxItems: 'array',
  uniqueItems: 'array',
  unevaluatedItems: 'array',
  pattern: 'string',
  format: 'string',
  minLength: 'string',
  maxLength: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
}

/** The types that keywords speak about, which an untyped schema most likely means. */
export function impliedTypes(clauses: Conjunction): TypeName[] {
  const types = clauses.flatMap(({ schema }) => Object.keys(schema).flatMap((key) => aboutOf(key)))
  return [...new Set(types)]
}

function aboutOf(keyword: string): TypeName[] {
  const type = Object.hasOwn(ABOUT, keyword) ? ABOUT[keyword] : undefined
  return type === undefined ? [] : [type]
}

function schemaAt(clause: Clause, keys: readonly (string | number)[]): Schema {
  let found: Json | undefined = clause.schema
  for (const key of keys) found = Array.isArray(found) ? found[Number(key)] : own(found, String(key))
  return typeof found === 'boolean' || isObject(found) ? found : true
}

function asObject(schema: Schema): JsonObject {
  if (schema === true) return {}
  return schema === false ? NEVER : schema
}
