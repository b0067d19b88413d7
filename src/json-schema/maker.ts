import type { Issue, Json } from '../core/json.ts'

/** Where random decisions come from. The same sequence gives the same output. */
export interface RandomSource {
  /** Uniform in [0, 1). */
  next(): number
  /** A whole number from `min` to `max`, both inclusive. */
  int(min: number, max: number): number
}

/** Makes values that satisfy one set of schemas. */
export interface Maker {
  /** One value. `wide` asks for a rarer one, where a list needs more different values than are usual. */
  make(chance: RandomSource, wide?: boolean): Json
  /** The least size of a value: its characters and members, counted together. */
  readonly weight: number
  /** Every value that can be made, where they are few and known. */
  readonly values?: readonly Json[]
}

/** The largest output that is made for one item, in characters and members counted together. */
export const MAX_WEIGHT = 1_000_000

/** No value was found for a schema. `pointer` leads to the keyword inside the schema that stood in the way. */
export class CannotSatisfy extends Error {
  readonly pointer: string
  readonly keyword: string

  constructor(pointer: string, keyword: string, why: string) {
    super(why)
    this.name = 'CannotSatisfy'
    this.pointer = pointer
    this.keyword = keyword
  }

  get issue(): Issue {
    return { pointer: this.pointer, detail: this.message }
  }
}

/** Tries something that may be impossible: its result, or the `CannotSatisfy` that says why not. */
export function attempt<T>(work: () => T): T | CannotSatisfy {
  try {
    return work()
  } catch (error) {
    if (error instanceof CannotSatisfy) return error
    throw error
  }
}

const TRIES_AT_FIRST = 300
const DRAWS_AT_FIRST = 100_000
const TRIES_PER_ITEM = 30

/**
 * A maker whose every value passes `accept`. One value is found when it is built, or `otherwise` is thrown;
 * that value also stands in where later draws are unlucky, so that making a value never fails.
 */
export function checked(maker: Maker, accept: (value: Json) => boolean, otherwise: CannotSatisfy): Maker {
  const values = maker.values?.filter(accept)
  if (values !== undefined) return choice(values, otherwise)
  const spare = firstAccepted(maker, accept, otherwise)
  const make = (chance: RandomSource, wide?: boolean): Json => {
    for (let tries = 0; tries < TRIES_PER_ITEM; tries++) {
      const value = maker.make(chance, wide)
      if (accept(value)) return value
    }
    return spare
  }
  return { make, weight: maker.weight }
}

function firstAccepted(maker: Maker, accept: (value: Json) => boolean, otherwise: CannotSatisfy): Json {
  const chance = fixedChance()
  for (let tries = 0; tries < TRIES_AT_FIRST && chance.drawn < DRAWS_AT_FIRST; tries++) {
    const value = maker.make(chance, tries % 2 === 1)
    if (accept(value)) return value
  }
  throw otherwise
}

/** One element of a list, each as likely as the other; nothing of an empty one. */
export function oneOf<T>(list: readonly T[], chance: RandomSource): T | undefined {
  return list.length === 0 ? undefined : list[chance.int(0, list.length - 1)]
}

/** A maker that picks from a list. */
export function choice(values: readonly Json[], otherwise: CannotSatisfy): Maker {
  const first = values[0]
  if (first === undefined) throw otherwise
  return {
    make: (chance) => oneOf(values, chance) ?? first,
    weight: Math.min(...values.slice(0, 100).map((value) => JSON.stringify(value).length)),
    values,
  }
}

/** Always the same sequence (a 32-bit xorshift): for the trial values that a schema is built with. */
export function fixedChance(): RandomSource & { readonly drawn: number } {
  let state = 0x9e3779b9
  let drawn = 0
  const next = (): number => {
    drawn++
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return {
    next,
    int: (min, max) => min + Math.floor(next() * (max - min + 1)),
    get drawn() {
      return drawn
    },
  }
}

export function isMaker(made: Maker | CannotSatisfy): made is Maker {
  return !(made instanceof CannotSatisfy)
}

const RARELY = 1 / 8

/** Picks one of the makers for each value; where the last one makes null, it gets its turn only now and then. */
export function anyOf(makers: readonly Maker[], nullLast = false): Maker {
  const [first, ...others] = makers
  if (first === undefined || others.length === 0) return first ?? { make: () => null, weight: 1 }
  const usual = nullLast ? makers.slice(0, -1) : makers
  const last = nullLast ? makers.at(-1) : undefined
  const make = (chance: RandomSource, wide?: boolean): Json => {
    if (last !== undefined && chance.next() < RARELY) return last.make(chance)
    return (oneOf(usual, chance) ?? first).make(chance, wide)
  }
  const weight = Math.min(...makers.map((maker) => maker.weight))
  const values = makers.map((maker) => maker.values)
  return values.every((list) => list !== undefined)
    ? { make, weight, values: values.flat() }
    : { make, weight }
}
