import type { Json } from '../core/json.ts'
import { type Compiler, type Conjunction, given, place } from './clause.ts'
import { canonical } from './keywords.ts'
import { attempt, CannotSatisfy, checked, type Maker, type RandomSource } from './maker.ts'
import { type Length, Places } from './places.ts'

// Lists inside lists inside lists grow fast: the deeper, the shorter.
const USUAL_LENGTHS = [
  { from: 2, to: 3 },
  { from: 1, to: 2 },
  { from: 1, to: 1 },
] as const

/** Makes arrays of the right length whose items, in their places and all together, satisfy the clauses. */
export function arrayMaker(clauses: Conjunction, compiler: Compiler, depth: number): Maker {
  const places = new Places(clauses, compiler, depth + 1)
  const lengths = places.lengths(USUAL_LENGTHS[Math.min(depth, 2)] ?? USUAL_LENGTHS[2])
  const unique = given(clauses, 'uniqueItems').some(({ value }) => value === true)
  const wished = given(clauses, 'contains').length > 0
  const [usual] = lengths
  if (!unique && !wished && usual !== undefined) return listMaker(places, usual, false)
  const accept = wished ? compiler.accepts(clauses) : isUnique
  const otherwise = noList(clauses, unique)
  for (const length of lengths) {
    const maker = attempt(() => checked(listMaker(places, length, unique), accept, otherwise))
    if (!(maker instanceof CannotSatisfy)) return maker
  }
  throw otherwise
}

function noList(clauses: Conjunction, unique: boolean): CannotSatisfy {
  const keyword = unique ? 'uniqueItems' : 'contains'
  const why = unique
    ? 'finds too few different items for the number that the array needs; widen the items or lower minItems'
    : 'finds no list of items that matches it as often as minContains and maxContains ask for; loosen one of them'
  return new CannotSatisfy(place(clauses, keyword), keyword, `${keyword} ${why}`)
}

function isUnique(value: Json): boolean {
  return Array.isArray(value) && new Set(value.map(canonical)).size === value.length
}

function listMaker(places: Places, { from, to }: Length, unique: boolean): Maker {
  const makers = places.makers(to)
  const last = makers.at(-1)
  const list = unique ? distinctItems : items
  const make = (chance: RandomSource): Json[] => {
    const count = from === to ? from : chance.int(from, to)
    return last === undefined ? [] : list(makers, last, count, chance)
  }
  return { make, weight: places.weightOf(from) }
}

function items(makers: readonly Maker[], last: Maker, count: number, chance: RandomSource): Json[] {
  const list: Json[] = []
  for (let index = 0; index < count; index++) list.push((makers[index] ?? last).make(chance))
  return list
}

const TRIES_PER_ITEM = 10
const TRIES_PER_LIST = 2_000

/** Items that differ, as far as that can be had in a bounded number of tries. */
function distinctItems(makers: readonly Maker[], last: Maker, count: number, chance: RandomSource): Json[] {
  const list: Json[] = []
  const seen = new Set<string>()
  const unused = new Map<Maker, Json[]>()
  let tries = TRIES_PER_LIST + count * TRIES_PER_ITEM
  for (let index = 0; index < count; index++) {
    const maker = makers[index] ?? last
    let item = takeUnused(maker, unused, seen, chance) ?? maker.make(chance)
    for (let tried = 1; tries > 0 && seen.has(canonical(item)); tried++, tries--)
      item = maker.make(chance, tried > 2)
    seen.add(canonical(item))
    list.push(item)
  }
  return list
}

/** One of the values of a maker that has only a few, each taken once. */
function takeUnused(
  maker: Maker,
  unused: Map<Maker, Json[]>,
  seen: ReadonlySet<string>,
  chance: RandomSource,
): Json | undefined {
  if (maker.values === undefined) return undefined
  const left = unused.get(maker) ?? [...maker.values]
  unused.set(maker, left)
  while (left.length > 0) {
    const index = chance.int(0, left.length - 1)
    const value = left[index] ?? null
    left[index] = left.at(-1) ?? null
    left.pop()
    if (!seen.has(canonical(value))) return value
  }
  return undefined
}
