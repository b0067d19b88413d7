import { type Issue, isObject, type Json, type JsonObject, keysOf, pointer } from '../core/json.ts'
import type { RandomSource } from './pattern-text.ts'
import { own } from './schema.ts'
import { OutOfSteps, spend } from './steps.ts'

/** One of several schemas that the same value has to satisfy, with its JSON Pointer. */
export interface Clause {
  readonly schema: JsonObject
  readonly at: string
  /** True for a clause that was added to get one side of a condition, and is not part of the schema. */
  readonly isHelp?: true
}

export type Clauses = readonly Clause[]

/** Makes values that should satisfy one set of clauses. */
export interface Maker {
  /** Undefined when no value was found; the reason is in `draw.failure`. */
  make(draw: Draw): Json | undefined
  /** The n-th of the different values, if they can be counted. */
  nth?(n: number): Json | undefined
  /** Builds in advance, in small pieces, what the first value would need. */
  prepare?(): Generator<void, void>
  /** True when there are many values and they cost little, so that each item gets a separate one. */
  readonly isVaried?: boolean
}

/** Which optional properties a value has: all, some at random, or none. */
export type Mode = 'all' | 'some' | 'none'

/** The largest value that is made, in values inside it and in characters. */
export const MAX_VALUES = 50_000
export const MAX_CHARACTERS = 2_000_000

/** The state while one value is made. */
export class Draw {
  readonly chance: RandomSource
  /** The instant that dates are relative to, in virtual milliseconds. */
  readonly now: number
  /** Whether properties that cannot be made are left out from now on. */
  readonly learns: boolean
  mode: Mode
  /** Why a value was not found, if that is known. */
  failure: Issue | undefined
  depth = 0
  /** The number of arrays around the value that is being made. */
  listDepth = 0
  /** JSON Pointer of the schema of the value that is being made. */
  at = ''
  private values = MAX_VALUES
  private characters = MAX_CHARACTERS

  constructor(chance: RandomSource, now: number, mode: Mode, learns = false) {
    this.chance = chance
    this.now = now
    this.mode = mode
    this.learns = learns
  }

  /** Counts a value and its characters. Throws `OutOfSteps` when the outermost value is too large. */
  count(at: string, characters = 0): void {
    spend(1)
    this.values--
    this.characters -= characters
    if (this.values >= 0 && this.characters >= 0) return
    this.at = at
    throw new OutOfSteps(
      `the value has more than ${MAX_VALUES} values inside or ${MAX_CHARACTERS} characters`,
    )
  }

  /** Notes that nothing satisfies a keyword. */
  fail(at: string, keyword: string, why: string): undefined {
    spend(1)
    this.failure = { pointer: at + pointer(keyword), detail: `${keyword} ${why}` }
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

/** Added to the clauses when only one type is possible at a place. */
export const OBJECT: Clause = { schema: { type: 'object' }, at: '', isHelp: true }
export const TEXT: Clause = { schema: { type: 'string' }, at: '', isHelp: true }

/** The clause of a schema inside another one; undefined for one that allows anything. */
export function clauseIn(
  { schema, at, isHelp }: Clause,
  ...keys: readonly (string | number)[]
): Clause | undefined {
  let found: Json | undefined = schema
  for (const key of keys) found = Array.isArray(found) ? found[Number(key)] : own(found, String(key))
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

/** The strictest lower bound that the clauses set. */
export function greatest(clauses: Clauses, keyword: string, otherwise: number): number {
  return Math.max(otherwise, ...numbersOf(clauses, keyword))
}

/** The strictest upper bound that the clauses set. */
export function least(clauses: Clauses, keyword: string, otherwise: number): number {
  return Math.min(otherwise, ...numbersOf(clauses, keyword))
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
  return { name: keys[index + 1] ?? '', description: clauses.map(text).join(' ') }
}

/** Makes and checks the values inside a value. */
export interface ValueSource {
  /** The maker of values that satisfy every clause. */
  maker(clauses: Clauses): Maker
  /** Whether a value satisfies the schema of one clause. */
  accepts(value: Json, clause: Clause): boolean
}

/** Adds the pointer of the schema to an `OutOfSteps` error. */
export function naming<T>(at: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof OutOfSteps) error.at ??= at
    throw error
  }
}

/** Levels of a recursive schema that have optional properties and items. */
const USUAL_DEPTH = 3

/** True when optional parts are left out, since the schema is recursive and could nest without end. */
export function isDeep(draw: Draw, clauses: Clauses): boolean {
  return draw.depth > USUAL_DEPTH && given(clauses, '$dynamicRef').length > 0
}
