import { isObject, type Json } from '../core/json.ts'
import {
  type Clause,
  type Clauses,
  clauseIn,
  type Draw,
  given,
  greatest,
  isDeep,
  least,
  MAX_VALUES,
  type Maker,
  numbersOf,
  placeOf,
  type ValueSource,
} from './draw.ts'
import { negations } from './negations.ts'
import { canonical, isSchema } from './schema.ts'
import { spend } from './steps.ts'

// Nested lists grow fast, so deeper ones are shorter.
const USUAL_LENGTHS = [
  [2, 3],
  [1, 2],
] as const
const TRIES_PER_ITEM = 12

/** One `contains`: the clause that items have to match, and the least and largest number of them. */
interface Wish {
  readonly clause: Clause
  readonly min: number
  readonly max: number
}

/** Makes arrays of a valid length. Each item satisfies the clauses for its index, and all items those for the whole array. */
export function arrayMaker(clauses: Clauses, generator: ValueSource): Maker {
  const shape = new ArrayShape(clauses, generator)
  return { make: (draw) => shape.make(draw) }
}

class ArrayShape {
  private readonly clauses: Clauses
  private readonly generator: ValueSource
  private readonly wishes: readonly Wish[]
  private readonly prefix: number
  private readonly min: number
  private readonly max: number
  private readonly isUnique: boolean
  /** Of the items after the prefix. */
  private rest: Maker | undefined

  constructor(clauses: Clauses, generator: ValueSource) {
    this.clauses = clauses
    this.generator = generator
    this.wishes = clauses.flatMap((clause) => wishOf(clause))
    const wanted = Math.max(0, ...this.wishes.map(({ min }) => min))
    this.min = Math.max(greatest(clauses, 'minItems', 0), wanted)
    this.max = least(clauses, 'maxItems', Infinity)
    this.prefix = Math.max(0, ...given(clauses, 'prefixItems').map(({ value }) => (value as Json[]).length))
    this.isUnique = given(clauses, 'uniqueItems').some(({ value }) => value === true)
  }

  make(draw: Draw): Json | undefined {
    const { min, max } = this
    const at = placeOf(this.clauses, 'minItems')
    if (min > max) return draw.fail(at, 'minItems', 'leaves no number of items below maxItems')
    if (min > MAX_VALUES)
      return draw.fail(at, 'minItems', `is more than ${MAX_VALUES}, the maximum of generated items`)
    const impossible = this.wishes.find((wish) => wish.min > wish.max)
    if (impossible !== undefined)
      return draw.fail(impossible.clause.at, 'maxContains', 'allows fewer items than contains requires')
    const { failure } = draw
    const items = new Items(this.isUnique, this.wishes)
    const wished = this.placesOfWishes(draw)
    const length = Math.max(this.lengthOf(draw), (wished.at(-1)?.at ?? -1) + 1)
    draw.listDepth++
    for (let index = 0; index < length; index++) {
      const granted = wished.filter((each) => each.at === index).map(({ wish }) => wish)
      if (!this.add(items, index, granted, draw)) break
    }
    // A `contains` that found no item at its index may find one at another.
    for (let tries = 0; items.list.length < max && tries < TRIES_PER_ITEM; tries++) {
      const open = this.wishes.filter((wish) => items.matching(wish) < wish.min)
      if (open.length === 0 || !this.add(items, items.list.length, open.slice(0, 1), draw)) break
    }
    draw.listDepth--
    if (wished.length > 0) draw.failure = failure
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
    return draw.fail(placeOf(this.clauses, keyword), keyword, why)
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

  /** The indexes of items that have to match a `contains`: after the prefix if there is room, else inside it. */
  private placesOfWishes(draw: Draw): { at: number; wish: Wish }[] {
    const places: { at: number; wish: Wish }[] = []
    for (const wish of this.wishes) {
      const room = Math.min(this.max, this.closedAt()) - this.prefix
      const start = draw.coin(room >= wish.min ? 0.8 : 0)
        ? this.prefix
        : Math.max(0, Math.min(this.prefix, this.max - wish.min))
      const from =
        room < wish.min
          ? draw.chance.int(0, Math.max(0, Math.min(this.prefix + room, this.prefix) - wish.min))
          : start
      for (let n = 0; n < wish.min; n++) places.push({ at: from + n, wish })
    }
    return places.sort((a, b) => a.at - b.at)
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
      spend(2)
      const maker = this.makerAt(index, wishes, tries % 3 < 2 ? full : [], draw)
      const value = maker.make(draw)
      if (value === undefined) {
        if (full.length === 0 && tries > 1) return false
        continue
      }
      if (full.some(({ clause }) => this.isMatch(value, clause))) continue
      if (this.keep(items, value)) return true
      if (maker.nth === undefined || tries < 2) continue
      // Values that can be counted are tried in order.
      for (let next = items.next(maker.nth); next !== undefined; next = items.next(maker.nth)) {
        const other = next
        if (!full.some(({ clause }) => this.isMatch(other, clause)) && this.keep(items, other)) return true
      }
      return false
    }
    return false
  }

  private keep(items: Items, value: Json): boolean {
    if (!items.add(value)) return false
    for (const wish of this.wishes) if (this.isMatch(value, wish.clause)) items.note(wish)
    return true
  }

  private makerAt(index: number, wishes: readonly Wish[], avoided: readonly Wish[], draw: Draw): Maker {
    if (index >= this.prefix && wishes.length === 0 && avoided.length === 0) {
      this.rest ??= this.generator.maker(this.clausesAt(index, wishes))
      return this.rest
    }
    const wished = wishes.flatMap(({ clause }) => clauseIn(clause, 'contains') ?? [])
    const away = avoided.flatMap(({ clause }): Clause[] => {
      const { contains } = clause.schema
      const other = isSchema(contains) ? draw.oneOf(negations(contains)) : undefined
      return other === undefined ? [] : [{ schema: other, at: clause.at, isHelp: true }]
    })
    return this.generator.maker([...this.clausesAt(index, wishes), ...wished, ...away])
  }

  /** The clauses for the item at that index. */
  private clausesAt(index: number, wishes: readonly Wish[]): Clause[] {
    return this.clauses.flatMap((clause) => {
      const { prefixItems, items, unevaluatedItems } = clause.schema
      if (Array.isArray(prefixItems) && index < prefixItems.length)
        return clauseIn(clause, 'prefixItems', index) ?? []
      if (items !== undefined) return clauseIn(clause, 'items') ?? []
      if (unevaluatedItems === undefined || wishes.length > 0 || this.isEvaluated(index, clause)) return []
      return clauseIn(clause, 'unevaluatedItems') ?? []
    })
  }

  private isEvaluated(index: number, clause: Clause): boolean {
    return this.clauses.some(({ schema, isHelp }) => {
      if (schema === clause.schema || isHelp) return false
      const { prefixItems, items, unevaluatedItems } = schema
      const inPrefix = Array.isArray(prefixItems) && index < prefixItems.length
      return inPrefix || items !== undefined || unevaluatedItems !== undefined
    })
  }

  private isMatch(value: Json, { schema, at }: Clause): boolean {
    const { contains } = schema
    return isObject(contains)
      ? this.generator.accepts(value, { schema: contains, at: `${at}/contains` })
      : contains === true
  }
}

function wishOf(clause: Clause): Wish[] {
  if (clause.schema.contains === undefined) return []
  const [min = 1] = numbersOf([clause], 'minContains')
  return [{ clause, min, max: least([clause], 'maxContains', Infinity) }]
}

/** The items of one array; with `uniqueItems` it rejects an item that it already has. */
class Items {
  readonly list: Json[] = []
  private readonly seen: Set<string> | undefined
  private readonly matched: Map<Wish, number>
  private readonly counted = new Map<NonNullable<Maker['nth']>, number>()

  constructor(isUnique: boolean, wishes: readonly Wish[]) {
    this.seen = isUnique ? new Set() : undefined
    this.matched = new Map(wishes.map((wish) => [wish, 0]))
  }

  /** How many items match a `contains`. */
  matching(wish: Wish): number {
    return this.matched.get(wish) ?? 0
  }

  note(wish: Wish): void {
    this.matched.set(wish, this.matching(wish) + 1)
  }

  add(value: Json): boolean {
    if (this.seen !== undefined) {
      const text = canonical(value)
      spend(1 + text.length / 50)
      if (this.seen.has(text)) return false
      this.seen.add(text)
    }
    this.list.push(value)
    return true
  }

  /** The next of the values of a maker. */
  next(nth: NonNullable<Maker['nth']>): Json | undefined {
    const n = this.counted.get(nth) ?? 0
    this.counted.set(nth, n + 1)
    spend(1)
    return nth(n)
  }
}
