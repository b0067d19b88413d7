import { isObject, type Json } from '../core/json.ts'
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

type Nth = NonNullable<Maker['nth']>

/** One `contains`: the clause that items have to match, and the least and largest number of them. */
interface Wish {
  readonly clause: Clause
  readonly min: number
  readonly max: number
}

/** Makes arrays of a valid length. Each item satisfies the clauses for its index, and all items those for the whole array. */
export class ArrayMaker implements Maker {
  private readonly clauses: Clauses
  private readonly generator: ValueSource
  private readonly wishes: readonly Wish[]
  private readonly prefix: number
  private readonly min: number
  private readonly max: number
  private readonly isUnique: boolean
  /** The makers of items after the prefix, by the numbers of the wishes that they grant. */
  private readonly rest = new Map<string, Maker>()

  constructor(clauses: Clauses, generator: ValueSource) {
    this.clauses = clauses
    this.generator = generator
    this.wishes = given(clauses, 'contains').map(({ clause }) => ({
      clause,
      min: numbersOf([clause], 'minContains')[0] ?? 1,
      max: least([clause], 'maxContains', Infinity),
    }))
    const wanted = this.wishes.reduce((most, { min }) => Math.max(most, min), 0)
    this.min = Math.max(greatest(clauses, 'minItems', 0), wanted)
    this.max = least(clauses, 'maxItems', Infinity)
    this.prefix = given(clauses, 'prefixItems').reduce(
      (most, { value }) => Math.max(most, (value as Json[]).length),
      0,
    )
    this.isUnique = given(clauses, 'uniqueItems').some(({ value }) => value === true)
  }

  make(draw: Draw): Json | undefined {
    const { clauses, min, max } = this
    if (min > max) return draw.fail(clauses, 'minItems', 'leaves no number of items below maxItems')
    if (min > MAX_VALUES)
      return draw.fail(clauses, 'minItems', `is more than ${MAX_VALUES}, the maximum of generated items`)
    const impossible = this.wishes.find((wish) => wish.min > wish.max)
    if (impossible !== undefined)
      return draw.fail([impossible.clause], 'maxContains', 'allows fewer items than contains requires')
    const { failure } = draw
    const items = new Items(this.isUnique)
    const wished = this.wishesByIndex(draw)
    const wishedLength = [...wished.keys()].reduce((most, index) => Math.max(most, index + 1), 0)
    const length = Math.max(this.lengthOf(draw), wishedLength)
    draw.listDepth++
    for (let index = 0; index < length; index++)
      if (!this.add(items, index, wished.get(index) ?? [], draw)) break
    // A `contains` that found no item at its index may find one at another.
    for (let tries = 0; items.list.length < max && tries < TRIES_PER_ITEM; tries++) {
      const open = this.wishes.filter((wish) => items.matching(wish) < wish.min)
      if (open.length === 0 || !this.add(items, items.list.length, open.slice(0, 1), draw)) break
    }
    draw.listDepth--
    if (wished.size > 0) draw.failure = failure
    const isGranted = (wish: Wish) => items.matching(wish) >= wish.min && items.matching(wish) <= wish.max
    if (items.list.length >= min && this.wishes.every(isGranted)) {
      draw.failure = failure
      return items.list
    }
    return this.failed(draw, items)
  }

  private failed(draw: Draw, items: Items): undefined {
    const { length } = items.list
    const isShort = length < this.min && this.wishes.every((wish) => items.matching(wish) >= wish.min)
    // An item that could not be made has already reported the reason.
    if (isShort && !this.isUnique && draw.failure !== undefined) return undefined
    const keyword = isShort ? (this.isUnique ? 'uniqueItems' : 'minItems') : 'contains'
    const why = isShort
      ? `was not satisfied: only ${length} items were found`
      : 'requires items that were not found'
    return draw.fail(this.clauses, keyword, why)
  }

  private lengthOf(draw: Draw): number {
    const { min, max } = this
    if (draw.mode === 'none' || isDeep(draw, this.clauses)) return min
    const [from, to] =
      this.prefix > 0 ? [this.prefix, this.prefix] : (USUAL_LENGTHS[draw.listDepth] ?? [1, 1])
    const fewest = Math.min(max, Math.max(min, from))
    const most = Math.max(fewest, Math.min(max, to))
    return fewest === most ? fewest : draw.chance.int(fewest, most)
  }

  /** The items that have to match a `contains`, by index: after the prefix if there is room, else inside it. */
  private wishesByIndex(draw: Draw): ReadonlyMap<number, Wish[]> {
    const places = new Map<number, Wish[]>()
    for (const wish of this.wishes) {
      const isRoom = Math.min(this.max, this.closedAt()) - this.prefix >= wish.min
      const last = Math.max(0, Math.min(this.prefix, this.max, this.closedAt()) - wish.min)
      const from = isRoom && draw.coin(0.8) ? this.prefix : draw.chance.int(0, last)
      for (let n = from; n < from + wish.min; n++) places.set(n, [...(places.get(n) ?? []), wish])
    }
    return places
  }

  /** The first index at which no item is allowed. */
  private closedAt(): number {
    const isClosed = this.clauses.some(
      ({ schema }) =>
        schema.items === false || (schema.unevaluatedItems === false && schema.contains === undefined),
    )
    return isClosed ? this.prefix : Infinity
  }

  private add(items: Items, index: number, wishes: readonly Wish[], draw: Draw): boolean {
    const avoided = this.wishes.filter((wish) => !wishes.includes(wish) && wish.max < Infinity)
    const full = avoided.filter((wish) => items.matching(wish) >= wish.max)
    for (let tries = 0; tries < TRIES_PER_ITEM; tries++) {
      const maker = this.makerAt(index, wishes, tries % 3 < 2 ? full : [], draw)
      const { nth } = maker
      const fits = (value: Json): boolean =>
        !full.some(({ clause }) => this.isMatch(value, clause)) && this.keep(items, value)
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
      for (let counted = 0; counted < MAX_COUNTED; counted++) {
        const value = items.next(nth)
        draw.count(this.clauses[0]?.at ?? '', String(value).length)
        if (value === undefined || fits(value)) return value !== undefined
      }
      return false
    }
    return false
  }

  private keep(items: Items, value: Json): boolean {
    if (!items.add(value)) return false
    for (const wish of this.wishes)
      if (this.isMatch(value, wish.clause)) items.matched.set(wish, items.matching(wish) + 1)
    return true
  }

  private makerAt(index: number, wishes: readonly Wish[], avoided: readonly Wish[], draw: Draw): Maker {
    const key = wishes.map((wish) => this.wishes.indexOf(wish)).join()
    const isUsual = index >= this.prefix && avoided.length === 0
    const known = isUsual ? this.rest.get(key) : undefined
    if (known !== undefined) return known
    const wished = wishes.flatMap(({ clause }) => clauseIn(clause, 'contains') ?? [])
    const away = avoided.flatMap(({ clause }): Clause[] => {
      const { contains } = clause.schema
      const other = isSchema(contains) ? draw.oneOf(negations(contains)) : undefined
      return other === undefined ? [] : [{ schema: other, at: clause.at, isHelp: true }]
    })
    const maker = this.generator.maker([...this.clausesAt(index, wishes), ...wished, ...away])
    if (isUsual) this.rest.set(key, maker)
    return maker
  }

  /** The clauses for the item at that index. */
  private clausesAt(index: number, wishes: readonly Wish[]): Clause[] {
    return this.clauses.flatMap((clause) => {
      const { prefixItems, items } = clause.schema
      if (Array.isArray(prefixItems) && index < prefixItems.length)
        return clauseIn(clause, 'prefixItems', index) ?? []
      if (items !== undefined) return clauseIn(clause, 'items') ?? []
      if (wishes.length > 0 || isOneOfSeveral(this.clauses)) return []
      return clauseIn(clause, 'unevaluatedItems') ?? []
    })
  }

  private isMatch(value: Json, { schema, at }: Clause): boolean {
    const { contains } = schema
    return isObject(contains)
      ? this.generator.accepts(value, { schema: contains, at: `${at}/contains` })
      : contains === true
  }
}

/** The items of one array; with `uniqueItems` it rejects an item that it already has. */
class Items {
  readonly list: Json[] = []
  private readonly seen: Set<string> | undefined
  readonly matched = new Map<Wish, number>()
  /** How many values of a maker were tried in order. */
  readonly counted = new Map<Nth, number>()

  constructor(isUnique: boolean) {
    this.seen = isUnique ? new Set() : undefined
  }

  /** How many items match a `contains`. */
  matching(wish: Wish): number {
    return this.matched.get(wish) ?? 0
  }

  add(value: Json): boolean {
    const text = this.seen === undefined ? '' : canonical(value)
    if (this.seen?.has(text)) return false
    this.seen?.add(text)
    this.list.push(value)
    return true
  }

  /** The next of the values of a maker. */
  next(nth: Nth): Json | undefined {
    const n = this.counted.get(nth) ?? 0
    this.counted.set(nth, n + 1)
    return nth(n)
  }
}
