import { type Issue, isObject, type Json, type JsonObject, keysOf, pointer, valueAt } from '../core/json.ts'
import type { RandomSource } from './pattern-text.ts'
import type { Clause, TypeName } from './schema.ts'

export type Clauses = readonly Clause[]

/** Makes values that should satisfy one set of clauses. */
export interface Maker {
  /** Undefined when no value was found; the reason is in `draw.failure`. */
  make(draw: Draw): Json | undefined
  /** The n-th of the different values, if they can be counted. */
  nth?(n: number): Json | undefined
}

/** A maker of nothing: no value satisfies a keyword of these clauses. */
export function noValue(clauses: Clauses, keyword: string, why: string): Maker {
  return { make: (draw) => draw.fail(clauses, keyword, why) }
}

/** Which optional properties a value has: all, some at random, or none. */
export type Mode = 'all' | 'some' | 'none'

/** Bounds of the search for the output of one item, about 100 ms at most. What is made again counts again. */
const MAX_ATTEMPTS = 1_000
export const MAX_VALUES = 20_000
export const MAX_TEXT_BYTES = 1_200_000

/** The search has reached a bound. The bounds are the same on every machine; time is not. */
export class OutOfBudget extends Error {}

/** What is left for the output of one item. */
export const newBudget = () => ({ attempts: MAX_ATTEMPTS, values: MAX_VALUES, bytes: MAX_TEXT_BYTES })

/** The state while one value is made. */
export class Draw {
  readonly chance: RandomSource
  /** The instant that dates are relative to, in virtual milliseconds. */
  readonly now: number
  readonly budget: ReturnType<typeof newBudget>
  /** Attempts that are left for later draws with the same budget. If given, those leave out properties that cannot be made. */
  readonly spared: number | undefined
  mode: Mode
  /** Why a value was not found, if that is known. */
  failure: Issue | undefined
  depth = 0
  /** The number of arrays around the value that is being made. */
  listDepth = 0
  /** JSON Pointer of the schema of the value that is being made. */
  at = ''

  constructor(chance: RandomSource, now: number, mode: Mode, budget = newBudget(), spared?: number) {
    this.chance = chance
    this.now = now
    this.mode = mode
    this.budget = budget
    this.spared = spared
  }

  /** Counts values and the bytes of their text. Throws `OutOfBudget`. */
  count(at: string, bytes = 0, values = 1): void {
    const { budget } = this
    budget.values -= values
    budget.bytes -= bytes
    if (budget.values >= 0 && budget.bytes >= 0) return
    this.at = at
    const what = budget.values < 0 ? `${MAX_VALUES} values` : `${MAX_TEXT_BYTES} bytes`
    throw new OutOfBudget(`more than ${what} were made for one output`)
  }

  /** Counts a value that is made again. Throws `OutOfBudget`. */
  attempt(at: string): void {
    if (--this.budget.attempts >= (this.spared ?? 0)) return
    this.at = at
    throw new OutOfBudget('too many attempts were needed for one output')
  }

  /** Notes that nothing satisfies a keyword of these clauses. */
  fail(clauses: Clauses, keyword: string, why: string): undefined {
    this.failure = { pointer: placeOf(clauses, keyword) + pointer(keyword), detail: `${keyword} ${why}` }
  }

  coin(share = 0.5): boolean {
    return this.chance.next() < share
  }

  oneOf<T>(list: readonly T[]): T | undefined {
    return list.length === 0 ? undefined : list[this.chance.int(0, list.length - 1)]
  }
}

/** `{enum: []}` in place of `false`, so that every clause is an object. */
export const NOTHING: JsonObject = { enum: [] }

/** A clause to add when only one type is possible at a place. */
export const typeClause = (type: TypeName): Clause => ({ schema: { type }, at: '', isHelp: true })

/** The clause of a schema inside another one; undefined for one that allows anything. */
export function clauseIn({ schema, at, isHelp }: Clause, ...keys: PropertyKey[]): Clause | undefined {
  const found = valueAt(schema, keys.map(String))
  if (found === undefined || found === true) return undefined
  const help = isHelp === true ? { isHelp } : {}
  return { schema: isObject(found) ? found : NOTHING, at: at + pointer(...keys), ...help }
}

/** The values that the clauses give a keyword. */
export function given(clauses: Clauses, keyword: string): { clause: Clause; value: Json }[] {
  const found: { clause: Clause; value: Json }[] = []
  for (const clause of clauses) {
    const value = clause.schema[keyword]
    if (value !== undefined) found.push({ clause, value })
  }
  return found
}

export function numbersOf(clauses: Clauses, keyword: string): number[] {
  return given(clauses, keyword).flatMap(({ value }) => (typeof value === 'number' ? [value] : []))
}

export function largest(numbers: readonly number[], otherwise = -Infinity): number {
  return numbers.reduce((most, each) => Math.max(most, each), otherwise)
}

/** The strictest lower bound that the clauses set. */
export function greatest(clauses: Clauses, keyword: string, otherwise: number): number {
  return largest(numbersOf(clauses, keyword), otherwise)
}

/** The strictest upper bound that the clauses set. */
export function least(clauses: Clauses, keyword: string, otherwise: number): number {
  return numbersOf(clauses, keyword).reduce((least, each) => Math.min(least, each), otherwise)
}

/** The JSON Pointer for an issue that several clauses cause together: that of the last one with the keyword. */
export function placeOf(clauses: Clauses, keyword: string): string {
  return (given(clauses, keyword).at(-1)?.clause ?? clauses.find(({ isHelp }) => !isHelp))?.at ?? ''
}

/** The name and the description of the property that a schema is for. */
export function nameOf(clauses: Clauses): { readonly name: string; readonly description: string } {
  const keys = keysOf(clauses[0]?.at ?? '')
  const index = keys.lastIndexOf('properties')
  const text = ({ schema }: Clause) =>
    [schema.title, schema.description].filter((each) => typeof each === 'string').join(' ')
  return { name: keys[index + 1] ?? '', description: clauses.map(text).join(' ').slice(0, 500) }
}

/** Makes and checks the values inside a value. */
export interface ValueSource {
  /** The maker of values that satisfy every clause. */
  maker(clauses: Clauses): Maker
  /** Whether a value satisfies every clause. */
  accepts(value: Json, clauses: Clauses): boolean
}

/** Levels of a recursive schema that have optional properties and items. */
const USUAL_DEPTH = 3

/** True when optional parts are left out, since the schema is recursive and could nest without end. */
export function isDeep(draw: Draw, clauses: Clauses): boolean {
  return draw.depth > USUAL_DEPTH && given(clauses, '$dynamicRef').length > 0
}

/** True when another clause may have evaluated a property or an item. The validator decides which one counts. */
export function isOneOfSeveral(clauses: Clauses): boolean {
  return clauses.filter(({ isHelp }) => !isHelp).length > 1
}
