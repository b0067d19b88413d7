import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { type Clause, type Conjunction, helper, isNever, sameValue, strings } from './clause.ts'
import { own, type Schema, setMember } from './keywords.ts'
import { anyOf, attempt, CannotSatisfy, isMaker, type Maker } from './maker.ts'
import { negations } from './negation.ts'

// Each condition doubles the number of ways through; a few of them show both sides well enough.
const MAX_WAYS = 16

/** True where a clause holds an `if` or a dependent schema that is still to be decided. */
export function hasConditions(clauses: Conjunction): boolean {
  return clauses.some((clause) => openCondition(clause) !== undefined)
}

/**
 * Decides every condition one way or the other and lets `make` compile what is left. Both sides of an `if` are
 * kept where both can be made. What comes out still has to be checked, since the value itself decides which
 * side counts. Throws `CannotSatisfy` where nothing can be made on any side.
 */
export function conditionalMaker(clauses: Conjunction, make: (settled: Conjunction) => Maker): Maker {
  let ways = 1
  const decide = (open: Conjunction): Maker => {
    const never = open.find(isNever)
    if (never !== undefined) throw new CannotSatisfy(never.at, 'false', NOTHING)
    const clause = open.find((candidate) => openCondition(candidate) !== undefined)
    const condition = clause === undefined ? undefined : openCondition(clause)
    if (clause === undefined || condition === undefined) return make(open)
    const rest = open.map((other) => (other === clause ? applyCondition(clause, condition) : other))
    const sides = condition === 'if' ? sidesOfIf(clause) : sidesOfDependent(open, clause, condition)
    const made: (Maker | CannotSatisfy)[] = []
    for (const side of sides) {
      const wanted = made.every((maker) => !isMaker(maker)) || (condition === 'if' && ways < MAX_WAYS)
      if (!wanted || made.filter(isMaker).length === 2) break
      if (made.some(isMaker)) ways++
      made.push(attempt(() => decide([...rest, ...side])))
    }
    const makers = made.filter(isMaker)
    if (makers.length === 0) throw whyNone(clause, made)
    return anyOf(makers)
  }
  return decide(clauses)
}

export const NOTHING = 'the schema false allows no value here, where one is needed; give it another schema'

/** The first condition of a clause that is not settled: `if`, or the name that a dependent schema waits for. */
function openCondition({ schema, settled }: Clause): string | undefined {
  const conditional = schema.if !== undefined && (schema.then !== undefined || schema.else !== undefined)
  if (conditional && !settled.includes('if')) return 'if'
  const names = isObject(schema.dependentSchemas) ? Object.keys(schema.dependentSchemas) : []
  return names.map(dependent).find((name) => !settled.includes(name))
}

const dependent = (name: string): string => `dependent ${name}`

function applyCondition(clause: Clause, condition: string): Clause {
  return { ...clause, settled: [...clause.settled, condition] }
}

/** What holds in addition if the condition is met, and then the ways in which it is not met. */
function sidesOfIf(clause: Clause): Conjunction[] {
  const condition = clause.schema.if
  const branch = (keyword: string): Clause[] =>
    clause.schema[keyword] === undefined ? [] : [sameValue(clause, keyword)]
  const met = [sameValue(clause, 'if'), ...branch('then')]
  const steered = isSchema(condition) ? negations(condition) : []
  return [met, ...steered.map((other) => [helper(other, `${clause.at}/if`), ...branch('else')])]
}

/** The property that a dependent schema waits for is there if some clause names it and the schema can be met. */
function sidesOfDependent(clauses: Conjunction, clause: Clause, condition: string): Conjunction[] {
  const name = condition.slice(dependent('').length)
  const present = [sameValue(clause, 'dependentSchemas', name), helper({ required: [name] }, clause.at)]
  const absent = [helper({ properties: forbidden(name) }, clause.at)]
  return isNamed(clauses, name) ? [present, absent] : [absent, present]
}

/** A fault outside of the condition itself is the better one to tell. */
function whyNone(clause: Clause, made: readonly (Maker | CannotSatisfy)[]): CannotSatisfy {
  const inside = ['if', 'then', 'else', 'dependentSchemas'].map((keyword) => `${clause.at}/${keyword}`)
  const outside = made.find(
    (fault): fault is CannotSatisfy =>
      fault instanceof CannotSatisfy && !inside.some((place) => `${fault.pointer}/`.startsWith(`${place}/`)),
  )
  const keyword = clause.schema.if === undefined ? 'dependentSchemas' : 'if'
  const why = `no value was found on either side of ${keyword}; loosen the schemas that it brings in`
  return outside ?? new CannotSatisfy(`${clause.at}/${keyword}`, keyword, why)
}

function isSchema(value: Json | undefined): value is Schema {
  return typeof value === 'boolean' || isObject(value)
}

function forbidden(name: string): JsonObject {
  const properties: Record<string, Json> = {}
  setMember(properties, name, false)
  return properties
}

/** True where some clause speaks of the property, so that an output is likely to have it. */
function isNamed(clauses: Conjunction, name: string): boolean {
  return clauses.some(
    ({ schema }) => own(schema.properties, name) !== undefined || strings(schema.required).includes(name),
  )
}
