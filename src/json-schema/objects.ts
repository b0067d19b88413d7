import { isObject, type Json, valueAt } from '../core/json.ts'
import { memoize } from '../core/memoize.ts'
import {
  type Clauses,
  clauseIn,
  type Draw,
  given,
  greatest,
  isDeep,
  isOneOfSeveral,
  least,
  MAX_VALUES,
  type Maker,
  NOTHING,
  noValue,
  typeClause,
  type ValueSource,
} from './draw.ts'
import { agreeing, isAfter, knownWords, orderedPairs } from './pairs.ts'
import { type Clause, setField, textItems } from './schema.ts'

/** Properties of an object whose schema names none, but has a schema for additional ones. */
const USUAL_EXTRAS = 2

/** Makes objects with every required property, and the optional ones that the draw and the bounds allow. */
export function objectMaker(clauses: Clauses, generator: ValueSource): Maker {
  const [min, max] = [greatest(clauses, 'minProperties', 0), least(clauses, 'maxProperties', Infinity)]
  const dependents = DEPENDENTS.flatMap((keyword) => given(clauses, keyword))
  const withDependents = (names: readonly string[]): string[] => {
    // One name more than can be made is enough to refuse them all.
    const all = new Set(names.slice(0, MAX_VALUES + 1))
    // The loop also visits the names that are added to the set during it.
    for (const name of all) {
      if (all.size > MAX_VALUES) break
      for (const { value } of dependents)
        for (const other of textItems(valueAt(value, [name]))) all.add(other)
    }
    return [...all]
  }
  const declared = given(clauses, 'properties').flatMap(({ value }) => Object.keys(value ?? {}))
  const required = withDependents(given(clauses, 'required').flatMap(({ value }) => textItems(value)))
  /** All names that the schema mentions, in its order. */
  const names = [...new Set([...declared, ...required])]
  const nameClauses = clauses.flatMap((clause) => clauseIn(clause, 'propertyNames') ?? [])
  if (required.length > MAX_VALUES) return noValue(clauses, 'required', `names ${TOO_MANY}`)
  if (required.length > max || min > max)
    return noValue(clauses, 'maxProperties', 'allows fewer properties than are required')
  if (min > MAX_VALUES) return noValue(clauses, 'minProperties', `is ${TOO_MANY}`)
  let nameMaker: Maker | undefined
  let ordered: ReturnType<typeof orderedPairs> | undefined
  let words: ReturnType<typeof knownWords> | undefined
  /** Optional properties for which no value was found when the schema was examined. */
  const hopeless = new Set<string>()

  const make = (draw: Draw): Json | undefined => {
    const chosen = new Map<string, Json>()
    for (const name of required) {
      const value = valueFor(name, draw)
      if (value === undefined) return missing(name, draw)
      chosen.set(name, value)
    }
    const { failure } = draw
    if (draw.mode !== 'none' && !isDeep(draw, clauses)) {
      for (const name of names)
        if (!chosen.has(name) && (draw.mode === 'all' || draw.coin())) addOptional(name, chosen, draw)
    }
    if (chosen.size < min && draw.mode !== 'all') {
      for (const name of names) if (chosen.size < min && !chosen.has(name)) addOptional(name, chosen, draw)
    }
    addInvented(chosen, draw)
    draw.failure = failure
    if (chosen.size < min)
      return draw.fail(clauses, 'minProperties', 'requires more properties than were found')
    order(chosen)
    agree(chosen, draw)
    // Several times as fast as an object from entries.
    const object: Record<string, Json> = {}
    for (const name of names) {
      const value = chosen.get(name)
      if (value !== undefined) setField(object, name, value)
    }
    if (Object.keys(object).length < chosen.size)
      for (const [name, value] of chosen) setField(object, name, value)
    return object
  }

  /** Exchanges the values of a period whose start is after its end, if each satisfies the schema of the other. */
  const order = (chosen: Map<string, Json>): void => {
    ordered ??= orderedPairs(names)
    for (const [first, last] of ordered) {
      const [from, to] = [chosen.get(first), chosen.get(last)]
      if (from === undefined || to === undefined || !isAfter(from, to)) continue
      if (fits(first, to) && fits(last, from)) chosen.set(first, to).set(last, from)
    }
  }

  /** Replaces values that do not agree with others, if the new ones satisfy the schema. */
  const agree = (chosen: Map<string, Json>, draw: Draw): void => {
    words ??= knownWords(names)
    if (words.length === 0 || chosen.has('')) return // '' stands for a name that is absent
    for (const change of agreeing(words, chosen, draw)) {
      const found = change.map(([name, values]) =>
        values.find((value) => chosen.has(name) && fits(name, value)),
      )
      if (found.every((value) => value !== undefined))
        for (const [n, [name]] of change.entries()) chosen.set(name, found[n] ?? null)
    }
  }

  const fits = (name: string, value: Json): boolean => generator.accepts(value, clausesOf(name))

  const addOptional = (name: string, chosen: Map<string, Json>, draw: Draw): void => {
    if (hopeless.has(name)) return
    const others = withDependents([name]).filter((other) => !chosen.has(other))
    if (chosen.size + others.length > max) return
    const values: (readonly [string, Json])[] = []
    for (const other of others) {
      const value = valueFor(other, draw)
      if (value === undefined) {
        if (draw.spared !== undefined) hopeless.add(name)
        draw.count(clauses[0]?.at ?? '', 0, others.length)
        return
      }
      values.push([other, value])
    }
    for (const [other, value] of values) chosen.set(other, value)
  }

  /** Adds properties with invented names, for `minProperties` or a schema without named properties. */
  const addInvented = (chosen: Map<string, Json>, draw: Draw): void => {
    const isOpenMap =
      names.length === 0 && given(clauses, 'additionalProperties').some(({ value }) => isObject(value))
    const wanted = chosen.size === 0 && draw.mode === 'all' && isOpenMap ? Math.min(USUAL_EXTRAS, max) : 0
    const target = Math.max(min, wanted)
    const tries = 20 + 4 * (target - chosen.size)
    for (let n = 0; chosen.size < target && n < tries; n++) {
      const name = inventedName(n, draw)
      if (name === undefined || chosen.has(name) || withDependents([name]).length > 1) continue
      const value = valueFor(name, draw)
      if (value !== undefined) chosen.set(name, value)
    }
  }

  const inventedName = (n: number, draw: Draw): string | undefined => {
    if (nameClauses.length === 0) return n < 26 ? `key_${String.fromCharCode(97 + n)}` : `key_${n + 1}`
    nameMaker ??= generator.maker([...nameClauses, typeClause('string')])
    const name = n > 6 && n % 2 === 0 && nameMaker.nth ? nameMaker.nth(n) : nameMaker.make(draw)
    return typeof name === 'string' ? name : undefined
  }

  const valueFor = (name: string, draw: Draw): Json | undefined => {
    draw.count(clauses[0]?.at ?? '', name.length + 4, 0)
    return makerOf(name).make(draw)
  }

  const makerOf = memoize(
    (name) => (generator.accepts(name, nameClauses) ? generator.maker(clausesOf(name)) : NONE),
    Infinity,
  )

  /** The clauses for the property of that name. */
  const clausesOf = (name: string): Clause[] =>
    clauses.flatMap((clause) => {
      const { schema } = clause
      if (valueAt(schema.properties, [name]) !== undefined) return clauseIn(clause, 'properties', name) ?? []
      if (schema.additionalProperties !== undefined) return clauseIn(clause, 'additionalProperties') ?? []
      return isOneOfSeveral(clauses) ? [] : (clauseIn(clause, 'unevaluatedProperties') ?? [])
    })

  const missing = (name: string, draw: Draw): undefined => {
    if (makerOf(name) === NONE || clausesOf(name).some(({ schema }) => schema === NOTHING))
      return draw.fail(clauses, 'required', `names "${name}", which the schema forbids`)
    if (!draw.failure) draw.fail(clauses, 'required', `names "${name}", for which no value was found`)
  }

  return { make }
}

const TOO_MANY = `more than ${MAX_VALUES}, the maximum of generated properties`
const DEPENDENTS = ['dependentRequired', 'dependencies']
const NONE: Maker = { make: () => undefined }
