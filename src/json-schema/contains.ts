import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { type Clause, type Conjunction, given, greatest, least, numbers } from './clause.ts'
import { negations } from './negation.ts'

/** One `contains`: how many items have to match it, and how many may. */
export interface Wish {
  readonly clause: Clause
  readonly min: number
  readonly max: number
}

/** Every `contains`; one that any item matches only bounds the length, which `lengthOf` takes care of. */
export function wishesOf(clauses: Conjunction): Wish[] {
  return given(clauses, 'contains').flatMap(({ clause, value }) => (isAnything(value) ? [] : wishOf(clause)))
}

function wishOf(clause: Clause): Wish {
  const min = numbers([clause], 'minContains')[0] ?? 1
  return { clause, min, max: least([clause], 'maxContains', Infinity) }
}

function isAnything(schema: Json): boolean {
  return schema === true || (isObject(schema) && Object.keys(schema).length === 0)
}

/** The lengths that the clauses allow. */
export function lengthOf(clauses: Conjunction): { min: number; max: number } {
  const loose = given(clauses, 'contains').flatMap(({ clause, value }) =>
    isAnything(value) ? wishOf(clause) : [],
  )
  const min = Math.max(greatest(clauses, 'minItems', 0), ...loose.map((wish) => wish.min))
  return {
    min,
    max: Math.max(0, Math.min(least(clauses, 'maxItems', Infinity), ...loose.map((wish) => wish.max))),
  }
}

/** Schemas that each rule out an item that the clause's `contains` matches. */
export function negationsOf({ schema }: Clause): JsonObject[] {
  const { contains } = schema
  return typeof contains === 'boolean' || isObject(contains) ? negations(contains) : []
}
