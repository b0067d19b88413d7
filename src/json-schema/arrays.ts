import { isObject, type Json } from '../core/json.ts'
import {
  type Clauses,
  clauseIn,
  type Draw,
  given,
  greatest,
  isDeep,
  isOneOfSeveral,
  largest,
  least,
  MAX_VALUES,
  type Maker,
  noValue,
  numbersOf,
  type ValueSource,
} from './draw.ts'
import { negations } from './negations.ts'
import { type Clause, canonical, isSchema } from './schema.ts'

// Nested lists grow fast, so deeper ones are shorter.
const USUAL_LENGTHS = [
  [2, 3],
  [1, 2],
] as const
const TRIES_PER_ITEM = 12
const MAX_COUNTED = 1_000

/** One `contains`: the clause that items have to match, and the least and largest number of them. */
interface Wish {
  readonly clause: Clause
  readonly min: number
  readonly max: number
}

/** The items of one array. */
const newItems = () => ({
  list: [] as Json[],
  /** Their texts, if they have to be unique. */
  seen: new Set<string>(),
  /** How many of them match a `contains`. */
  matched: new Map<Wish, number>(),
  /** How many values of a maker were tried in order. */
  counted: new Map<Maker['nth'], number>(),
})
type Items = ReturnType<typeof newItems>

const matching = ({ matched }: Items, wish: Wish): number => matched.get(wish) ?? 0

/** Makes arrays of a valid length. Each item satisfies the clauses for its index, and all items those for the whole array. */
export function arrayMaker(clauses: Clauses, generator: ValueSource): Maker {
  const wishes = given(clauses, 'contains').map(
    ({ clause }): Wish => ({
      clause,
      min: numbersOf([clause], 'minContains')[0] ?? 1,
      max: least([clause], 'maxContains', Infinity),
    }),
  )
  const wanted = largest(wishes.map((wish) => wish.min))
  const min = Math.max(greatest(clauses, 'minItems', 0), wanted)
  const max = least(clauses, 'maxItems', Infinity)
  if (min > max) return noValue(clauses, 'minItems', 'leaves no number of items below maxItems')
  if (min > MAX_VALUES)
    return noValue(clauses, 'minItems', `is more than ${MAX_VALUES}, the maximum of generated items`)
  const impossible = wishes.find((wish) => wish.min > wish.max)
  if (impossible !== undefined)
    return noValue([impossible.clause], 'maxContains', 'allows fewer items than contains requires')
  const prefixes = given(clauses, 'prefixItems').map(({ value }) => (value as Json[]).length)
  const prefix = largest(prefixes, 0)
  const isUnique = given(clauses, 'uniqueItems').some(({ value }) => value === true)
  const isClosed = clauses.some(
    ({ schema }) =>
      schema.items === false || (schema.unevaluatedItems === false && schema.contains === undefined),
  )
  /** Beyond it no item is allowed. */
  const end = isClosed ? Math.min(prefix, max) : max
  /** The makers of items after the prefix, by the numbers of the wishes that they grant. */
  const rest = new Map<string, Maker>()

  const make = (draw: Draw): Json | undefined => {
    const { failure } = draw
    const items = newItems()
    const wished = wishesByIndex(draw)
    const length = Math.max(lengthOf(draw), largest([...wished.keys()]) + 1)
    draw.listDepth++
    for (let index = 0; index < length; index++) if (!add(items, index, wished.get(index) ?? [], draw)) break
    const open = () => wishes.filter((wish) => matching(items, wish) < wish.min)
    // A `contains` that found no item at its index may find one at another.
    for (let tries = 0; items.list.length < max && tries < TRIES_PER_ITEM; tries++)
      if (open().length === 0 || !add(items, items.list.length, open().slice(0, 1), draw)) break
    draw.listDepth--
    if (wished.size > 0) draw.failure = failure
    const isShort = items.list.length < min
    if (!isShort && open().length === 0 && wishes.every((wish) => matching(items, wish) <= wish.max)) {
      draw.failure = failure
      return items.list
    }
    if (!isShort || open().length > 0)
      return draw.fail(clauses, 'contains', 'requires items that were not found')
    // An item that could not be made has already reported the reason.
    if (!isUnique && draw.failure !== undefined) return undefined
    const why = `was not satisfied: only ${items.list.length} items were found`
    return draw.fail(clauses, isUnique ? 'uniqueItems' : 'minItems', why)
  }

  const lengthOf = (draw: Draw): number => {
    if (draw.mode === 'none' || isDeep(draw, clauses)) return min
    const [from, to] = prefix > 0 ? [prefix, prefix] : (USUAL_LENGTHS[draw.listDepth] ?? [1, 1])
    const fewest = Math.min(max, Math.max(min, from))
    const most = Math.max(fewest, Math.min(max, to))
    return fewest === most ? fewest : draw.chance.int(fewest, most)
  }

  /** The items that have to match a `contains`, by index: after the prefix if there is room, else inside it. */
  const wishesByIndex = (draw: Draw): ReadonlyMap<number, Wish[]> => {
    const places = new Map<number, Wish[]>()
    for (const wish of wishes) {
      const isRoom = end - prefix >= wish.min
      const last = Math.max(0, Math.min(prefix, end) - wish.min)
      const from = isRoom && draw.coin(0.8) ? prefix : draw.chance.int(0, last)
      for (let n = from; n < from + wish.min; n++) places.set(n, [...(places.get(n) ?? []), wish])
    }
    return places
  }

  const add = (items: Items, index: number, granted: readonly Wish[], draw: Draw): boolean => {
    const avoided = wishes.filter((wish) => !granted.includes(wish) && wish.max < Infinity)
    const full = avoided.filter((wish) => matching(items, wish) >= wish.max)
    const fits = (value: Json): boolean =>
      !full.some(({ clause }) => isMatch(value, clause)) && keep(items, value)
    for (let tries = 0; tries < TRIES_PER_ITEM; tries++) {
      const maker = makerAt(index, granted, tries % 3 < 2 ? full : [], draw)
      const { nth } = maker
      if (nth === undefined || !items.counted.has(nth)) {
        const value = maker.make(draw)
        if (value === undefined) {
          if (full.length === 0 && tries > 1) return false
          continue
        }
        if (fits(value)) return true
        if (nth === undefined || tries < 2) continue
      }
      // Once random values have repeated, values that can be counted are tried in order.
      for (let left = MAX_COUNTED; left > 0; left--) {
        const n = items.counted.get(nth) ?? 0
        items.counted.set(nth, n + 1)
        const value = nth(n)
        draw.count(clauses[0]?.at ?? '', String(value).length)
        if (value === undefined || fits(value)) return value !== undefined
      }
      return false
    }
    return false
  }

  const keep = (items: Items, value: Json): boolean => {
    const text = isUnique ? canonical(value) : ''
    if (isUnique && items.seen.has(text)) return false
    items.seen.add(text)
    items.list.push(value)
    for (const wish of wishes)
      if (isMatch(value, wish.clause)) items.matched.set(wish, matching(items, wish) + 1)
    return true
  }

  const makerAt = (index: number, granted: readonly Wish[], avoided: readonly Wish[], draw: Draw): Maker => {
    const key = granted.map((wish) => wishes.indexOf(wish)).join()
    const isUsual = index >= prefix && avoided.length === 0
    const known = isUsual ? rest.get(key) : undefined
    if (known !== undefined) return known
    const wished = granted.flatMap(({ clause }) => clauseIn(clause, 'contains') ?? [])
    const away = avoided.flatMap(({ clause }): Clause[] => {
      const { contains } = clause.schema
      const other = isSchema(contains) ? draw.oneOf(negations(contains)) : undefined
      return other === undefined ? [] : [{ schema: other, at: clause.at, isHelp: true }]
    })
    const maker = generator.maker([...clausesAt(index, granted), ...wished, ...away])
    if (isUsual) rest.set(key, maker)
    return maker
  }

  /** The clauses for the item at that index. */
  const clausesAt = (index: number, granted: readonly Wish[]): Clause[] =>
    clauses.flatMap((clause) => {
      const { prefixItems, items } = clause.schema
      if (Array.isArray(prefixItems) && index < prefixItems.length)
        return clauseIn(clause, 'prefixItems', index) ?? []
      if (items !== undefined) return clauseIn(clause, 'items') ?? []
      if (granted.length > 0 || isOneOfSeveral(clauses)) return []
      return clauseIn(clause, 'unevaluatedItems') ?? []
    })

  const isMatch = (value: Json, { schema, at }: Clause): boolean => {
    const { contains } = schema
    return isObject(contains)
      ? generator.accepts(value, [{ schema: contains, at: `${at}/contains` }])
      : contains === true
  }

  return { make }
}
