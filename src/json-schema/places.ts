import { pointer } from '../core/json.ts'
import {
  type Clause,
  type Compiler,
  type Conjunction,
  given,
  helper,
  inner,
  isNever,
  place,
} from './clause.ts'
import { lengthOf, negationsOf, type Wish, wishesOf } from './contains.ts'
import { attempt, CannotSatisfy, MAX_WEIGHT, type Maker } from './maker.ts'

/** The most items that an array is given to reach `minItems`. */
export const MAX_GENERATED_ITEMS = 100_000

/** The lengths that an array may have, both inclusive. */
export interface Length {
  readonly from: number
  readonly to: number
}

/**
 * The places of an array: what each one has to hold, and how many there can be. A `contains` is granted places
 * of its own; the others keep away from it once as many items match as may.
 */
export class Places {
  private readonly clauses: Conjunction
  private readonly compiler: Compiler
  private readonly depth: number
  private readonly prefix: number
  private readonly min: number
  /** The number of items after which the next one is impossible. */
  private resource: number
  /** The first place behind all that is granted, and the same with the prefix counted in. */
  private lastGranted = 0
  private settled: number
  /** Places that have to match a `contains`, by index. */
  private readonly granted = new Map<number, { wishes: readonly Wish[]; maker: Maker }>()
  /** The `contains` that places had better not match, each with the first such place. */
  private readonly toAvoid: { clause: Clause; from: number }[] = []
  private readonly known = new Map<string, Maker>()
  private readonly plains = new Map<number, Maker | CannotSatisfy>()

  constructor(clauses: Conjunction, compiler: Compiler, depth: number) {
    this.clauses = clauses
    this.compiler = compiler
    this.depth = depth
    const { min, max } = lengthOf(clauses)
    this.min = min
    this.prefix = Math.max(
      0,
      ...given(clauses, 'prefixItems').map(({ value }) => (Array.isArray(value) ? value.length : 0)),
    )
    this.settled = this.prefix
    if (this.min > MAX_GENERATED_ITEMS)
      throw this.at('minItems', `is more than ${MAX_GENERATED_ITEMS} items; lower it`)
    this.resource = max
    for (let index = 0; index <= this.prefix && index < this.resource; index++) {
      if (this.isImpossible(index, wishesOf(clauses))) this.resource = index
    }
    for (const wish of wishesOf(clauses)) this.grant(wish)
    this.close()
  }

  /** Sets places aside for the items that a `contains` asks for: behind the prefix, inside it, shared. */
  private grant(wish: Wish): void {
    if (wish.min > wish.max)
      throw this.at('maxContains', 'is lower than the matching items that contains asks for')
    if (wish.min > MAX_GENERATED_ITEMS)
      throw this.at('minContains', `is more than ${MAX_GENERATED_ITEMS} items; lower it`)
    let left = wish.min - this.grantUnavoidable(wish)
    for (let index = this.settled; left > 0 && index < this.resource; index++) {
      if (!this.setAside(index, [wish])) break
      left--
    }
    for (let index = 0; left > 0 && index < Math.min(this.prefix, this.resource); index++) {
      if (!this.granted.has(index) && this.setAside(index, [wish])) left--
    }
    for (const [index, { wishes }] of this.granted) {
      if (left > 0 && !wishes.includes(wish) && this.setAside(index, [...wishes, wish])) left--
    }
    if (left > 0) throw this.at('contains', `asks for ${wish.min} matching items, more than there can be`)
    if (wish.max < Infinity) this.keepAway(wish)
  }

  /** The places of the prefix that cannot but match come first, where only so many may match. */
  private grantUnavoidable(wish: Wish): number {
    if (wish.max === Infinity) return 0
    let granted = 0
    for (let index = 0; index < Math.min(this.prefix, this.resource) && granted < wish.min; index++) {
      if (this.avoiding(index, [wish]) === undefined && this.setAside(index, [wish])) granted++
    }
    return granted
  }

  /** Ends the array before the first place that nothing is granted to and nothing can fill. */
  private close(): void {
    for (let index = 0; index <= this.settled && index < this.resource; index++) {
      if (!this.granted.has(index) && this.isImpossible(index, [])) this.resource = index
    }
    if (this.min > this.resource)
      throw this.at('minItems', `asks for more items than the ${this.resource} that are possible`)
  }

  /** How many items to make: a usual number inside the bounds, and fewer in case that those cannot be had. */
  lengths(usual: Length): readonly Length[] {
    const lowest = Math.max(this.min, this.lastGranted)
    if (this.weightOf(lowest) > MAX_WEIGHT)
      throw this.at('minItems', `makes an output of more than ${MAX_WEIGHT} characters and members; lower it`)
    const from = Math.max(lowest, Math.min(this.resource, this.prefix > 0 ? this.prefix : usual.from))
    const to = Math.max(from, Math.min(this.resource, this.prefix > 0 ? this.prefix : usual.to))
    const fewer = [Math.min(lowest + 1, from), lowest].map((length) => ({ from: length, to: length }))
    return this.weightOf(to) > MAX_WEIGHT ? fewer : [{ from, to }, ...fewer]
  }

  /** The makers of the places up to the one from which on all are alike, which comes last; `count` at most. */
  makers(count: number): Maker[] {
    return Array.from({ length: Math.min(count, this.shared + 1) }, (_, index) => this.makerAt(index))
  }

  /** The first place from which on all are alike. */
  private get shared(): number {
    const froms = this.toAvoid.map(({ from }) => from).filter((from) => from < this.resource)
    return Math.max(this.settled, ...froms)
  }

  /** The least size of an array of so many items. */
  weightOf(count: number): number {
    let weight = 2
    for (let index = 0; index < Math.min(count, this.shared); index++)
      weight += this.makerAt(index).weight + 1
    const alike = count - this.shared
    return alike > 0 ? weight + alike * (this.makerAt(this.shared).weight + 1) : weight
  }

  private makerAt(index: number): Maker {
    const granted = this.granted.get(index)
    if (granted !== undefined) return granted.maker
    const place = Math.min(index, this.prefix)
    const avoided = this.toAvoid.filter(({ from }) => index >= from)
    const key = `${place} ${avoided.length}`
    const made = this.known.get(key) ?? this.avoiding(place, avoided) ?? this.plain(place)
    if (made instanceof CannotSatisfy) throw made
    this.known.set(key, made)
    return made
  }

  /** Makes items for a place without a thought for `contains`. */
  private plain(index: number): Maker | CannotSatisfy {
    const place = Math.min(index, this.prefix)
    const known = this.plains.get(place)
    if (known !== undefined) return known
    const made = attempt(() => this.compiler.compile(this.clausesOf(place, []), this.depth))
    this.plains.set(place, made)
    return made
  }

  /** Makes items for a place that match none of the `contains`, as far as that can be done. */
  private avoiding(index: number, wishes: readonly Pick<Wish, 'clause'>[]): Maker | undefined {
    let made: Maker | undefined
    let kept: Conjunction = this.clausesOf(index, [])
    for (const { clause } of wishes) {
      for (const other of negationsOf(clause)) {
        const tried = [...kept, helper(other, clause.at + pointer('contains'))]
        const maker = attempt(() => this.compiler.compile(tried, this.depth))
        if (maker instanceof CannotSatisfy) continue
        kept = tried
        made = maker
        break
      }
    }
    return made
  }

  private setAside(index: number, wishes: readonly Wish[]): boolean {
    const maker = this.twin(index, wishes) ?? this.wishedFor(index, wishes)
    if (maker instanceof CannotSatisfy) return false
    this.granted.set(index, { wishes, maker })
    this.lastGranted = Math.max(this.lastGranted, index + 1)
    this.settled = Math.max(this.settled, this.lastGranted)
    return true
  }

  /** The maker of the place before, where both are behind the prefix and wished for by the same one. */
  private twin(index: number, wishes: readonly Wish[]): Maker | undefined {
    const before = index > this.prefix ? this.granted.get(index - 1) : undefined
    const same = before?.wishes.length === 1 && wishes.length === 1 && before.wishes[0] === wishes[0]
    return same ? before.maker : undefined
  }

  private wishedFor(index: number, wishes: readonly Wish[]): Maker | CannotSatisfy {
    const wished = wishes.map(({ clause }) => inner(clause, 'contains'))
    return attempt(() => this.compiler.compile([...this.clausesOf(index, wishes), ...wished], this.depth))
  }

  /** Once as many items may match as are allowed, the rest must not; where they cannot but match, it ends. */
  private keepAway(wish: Wish): void {
    let spare = wish.max - [...this.granted.values()].filter(({ wishes }) => wishes.includes(wish)).length
    let from = 0
    while (from < this.settled && (this.granted.has(from) || spare > 0))
      if (!this.granted.has(from++)) spare--
    if (from === this.settled) from += spare
    this.toAvoid.push({ clause: wish.clause, from })
    for (let index = from; index <= Math.max(from, this.settled) && index < this.resource; index++) {
      if (!this.granted.has(index) && this.avoiding(index, [wish]) === undefined) this.resource = index
    }
  }

  private isImpossible(index: number, wishes: readonly Wish[]): boolean {
    const clauses = this.clausesOf(index, wishes)
    const changed = wishes.length > 0 && clauses.length !== this.clausesOf(index, []).length
    const made = changed ? attempt(() => this.compiler.compile(clauses, this.depth)) : this.plain(index)
    if (!(made instanceof CannotSatisfy)) return false
    const [only] = clauses
    if (clauses.length === 1 && only !== undefined && !isNever(only)) throw made
    return true
  }

  /** What each clause says about the item at that place; `wishes` are the `contains` that it matches. */
  private clausesOf(index: number, wishes: readonly Wish[]): Clause[] {
    return this.clauses.flatMap((clause) => {
      const { prefixItems, items: rest, unevaluatedItems } = clause.schema
      if (Array.isArray(prefixItems) && index < prefixItems.length) return inner(clause, 'prefixItems', index)
      if (rest !== undefined) return inner(clause, 'items')
      if (unevaluatedItems === undefined || this.isEvaluated(index, clause, wishes)) return []
      return inner(clause, 'unevaluatedItems')
    })
  }

  /** True where a branch of the clause, or a `contains` that the item matches, has already dealt with it. */
  private isEvaluated(index: number, clause: Clause, wishes: readonly Wish[]): boolean {
    if (wishes.some((wish) => wish.clause.lineage.includes(clause.schema))) return true
    return this.clauses.some(({ lineage, schema }) => {
      if (schema === clause.schema || !lineage.includes(clause.schema)) return false
      const { prefixItems } = schema
      const inPrefix = Array.isArray(prefixItems) && index < prefixItems.length
      return inPrefix || schema.items !== undefined || schema.unevaluatedItems !== undefined
    })
  }

  private at(keyword: string, why: string): CannotSatisfy {
    return new CannotSatisfy(place(this.clauses, keyword), keyword, `${keyword} ${why}`)
  }
}
