import { isObject, type Json, pointer } from '../core/json.ts'
import {
  type Clause,
  type Compiler,
  type Conjunction,
  given,
  greatest,
  helper,
  inner,
  isNever,
  least,
  place,
  strings,
} from './clause.ts'
import { own, setMember } from './keywords.ts'
import { attempt, CannotSatisfy, fixedChance, MAX_WEIGHT, type Maker, type RandomSource } from './maker.ts'
import { word } from './text.ts'

/** The most members that an object is given to reach `minProperties`. */
export const MAX_MEMBERS = 10_000

/** Members of an object that names none of its own but says what others look like. */
const USUAL_EXTRAS = 2

/** Makes objects with every required member, and every optional one that the bounds leave room for. */
export function objectMaker(clauses: Conjunction, compiler: Compiler, depth: number): Maker {
  const members = new Members(clauses, compiler, depth)
  members.addRequired()
  for (const name of declaredNames(clauses)) members.addOptional(name)
  members.addExtras()
  return members.maker()
}

/** The names in `properties`, in the order in which the schema lists them. */
function declaredNames(clauses: Conjunction): Set<string> {
  return new Set(
    given(clauses, 'properties').flatMap(({ value }) => (isObject(value) ? Object.keys(value) : [])),
  )
}

class Members {
  private readonly chosen = new Map<string, Maker>()
  private readonly tried = new Map<string, Maker | CannotSatisfy>()
  private readonly most: number
  private readonly clauses: Conjunction
  private readonly compiler: Compiler
  private readonly depth: number
  private readonly acceptsName: (name: string) => boolean
  private weight = 2

  constructor(clauses: Conjunction, compiler: Compiler, depth: number) {
    this.clauses = clauses
    this.compiler = compiler
    this.depth = depth
    this.most = least(clauses, 'maxProperties', Infinity)
    this.acceptsName = this.nameCheck()
  }

  addRequired(): void {
    for (const { clause, value } of given(this.clauses, 'required')) {
      for (const name of this.withDependents(strings(value))) {
        const found = this.member(name)
        if (found instanceof CannotSatisfy) throw this.missing(name, clause, found)
        this.choose(name, found)
      }
    }
    if (this.chosen.size > this.most)
      throw this.at('maxProperties', 'is lower than the number of required members')
    if (this.weight > MAX_WEIGHT) throw this.at('required', tooLarge(this.weight))
  }

  addOptional(name: string): void {
    if (this.chosen.has(name)) return
    const names = this.withDependents([name]).filter((other) => !this.chosen.has(other))
    if (this.chosen.size + names.length > this.most) return
    const found = names.map((other) => this.member(other))
    const failed = found.find((maker) => maker instanceof CannotSatisfy)
    if (failed !== undefined) {
      this.passOver(names, failed)
      return
    }
    const makers = found.filter((maker): maker is Maker => !(maker instanceof CannotSatisfy))
    if (this.weight + makers.reduce((sum, maker) => sum + maker.weight, 0) > MAX_WEIGHT) return
    for (const [index, maker] of makers.entries()) this.choose(names[index] ?? name, maker)
  }

  /** Members with invented names, where `minProperties` or an open map asks for them. */
  addExtras(): void {
    const needed = greatest(this.clauses, 'minProperties', 0)
    if (needed > this.most) throw this.at('minProperties', 'is greater than maxProperties')
    if (needed > MAX_MEMBERS) throw this.at('minProperties', `is more than ${MAX_MEMBERS} members; lower it`)
    const wanted = this.chosen.size === 0 && this.isOpenMap() ? Math.min(USUAL_EXTRAS, this.most) : 0
    const count = Math.max(needed, wanted) - this.chosen.size
    if (count <= 0) return
    const failed = attempt(() => this.addInvented(count))
    if (failed instanceof CannotSatisfy && this.chosen.size < needed)
      throw this.at('minProperties', `asks for more members than the schema lets an object have; lower it`)
  }

  maker(): Maker {
    const entries = this.inDeclaredOrder()
    const make = (chance: RandomSource, wide?: boolean): Json => {
      const object: Record<string, Json> = {}
      for (const [name, maker] of entries) setMember(object, name, maker.make(chance, wide))
      return object
    }
    return { make, weight: this.weight }
  }

  private inDeclaredOrder(): [string, Maker][] {
    const names = new Set([...declaredNames(this.clauses), ...this.chosen.keys()])
    return [...names].flatMap((name): [string, Maker][] => {
      const maker = this.chosen.get(name)
      return maker === undefined ? [] : [[name, maker]]
    })
  }

  private addInvented(count: number): void {
    const chance = fixedChance()
    const wanted = this.chosen.size + count
    const names = this.compiler.compile([helper({ type: 'string' }, ''), ...this.nameClauses()], this.depth)
    const ruled = this.nameClauses().length > 0
    for (let tries = 0; this.chosen.size < wanted && tries < 50 + count * 20; tries++) {
      const name = ruled ? String(names.make(chance, tries > count)) : inventedName(tries, chance)
      if (this.chosen.has(name) || this.withDependents([name]).length > 1 || this.hasDependentSchema(name))
        continue
      const maker = this.member(name)
      if (maker instanceof CannotSatisfy) continue
      if (this.weight + maker.weight > MAX_WEIGHT) throw this.at('minProperties', tooLarge(this.weight))
      this.choose(name, maker)
    }
    if (this.chosen.size < wanted) throw this.at('minProperties', 'cannot be reached')
  }

  private choose(name: string, maker: Maker): void {
    if (this.chosen.has(name)) return
    this.chosen.set(name, maker)
    this.weight += name.length + maker.weight
  }

  private member(name: string): Maker | CannotSatisfy {
    const known = this.tried.get(name)
    if (known !== undefined) return known
    const made = this.acceptsName(name)
      ? attempt(() => this.compiler.compile(this.clausesOf(name), this.depth))
      : this.at('propertyNames', `does not allow the name "${name}"; widen it or leave the property out`)
    this.tried.set(name, made)
    return made
  }

  /** What each clause says about the member of that name. */
  private clausesOf(name: string): Clause[] {
    return this.clauses.flatMap((clause) => {
      const { schema } = clause
      if (own(schema.properties, name) !== undefined) return inner(clause, 'properties', name)
      if (schema.additionalProperties !== undefined) return inner(clause, 'additionalProperties')
      if (schema.unevaluatedProperties === undefined || this.isEvaluated(name, clause)) return []
      return inner(clause, 'unevaluatedProperties')
    })
  }

  /** True where a branch of the clause (`then`, a dependent schema) has already dealt with the member. */
  private isEvaluated(name: string, clause: Clause): boolean {
    return this.clauses.some(
      ({ lineage, schema }) =>
        schema !== clause.schema &&
        lineage.includes(clause.schema) &&
        (own(schema.properties, name) ?? schema.additionalProperties ?? schema.unevaluatedProperties) !==
          undefined,
    )
  }

  private withDependents(names: readonly string[]): string[] {
    const all = new Set(names)
    for (const name of all) {
      for (const { value } of given(this.clauses, 'dependentRequired'))
        for (const other of strings(own(value, name))) all.add(other)
    }
    return [...all]
  }

  private hasDependentSchema(name: string): boolean {
    return given(this.clauses, 'dependentSchemas').some(({ value }) => own(value, name) !== undefined)
  }

  private isOpenMap(): boolean {
    const described = given(this.clauses, 'additionalProperties').some(({ value }) => isObject(value))
    return described && declaredNames(this.clauses).size === 0
  }

  private nameClauses(): Clause[] {
    return given(this.clauses, 'propertyNames').map(({ clause }) => inner(clause, 'propertyNames'))
  }

  private nameCheck(): (name: string) => boolean {
    const clauses = this.nameClauses()
    return clauses.length === 0 ? () => true : this.compiler.accepts(clauses)
  }

  // An optional member whose own schema nothing satisfies is a slip worth hearing about. One that is `false`,
  // or that only several schemas together rule out, is how a schema forbids a member.
  private passOver(names: readonly string[], failed: CannotSatisfy): void {
    const [name] = names
    const clauses = name === undefined ? [] : this.clausesOf(name)
    const [only] = clauses
    if (names.length === 1 && name !== undefined && this.acceptsName(name) && only !== undefined)
      if (clauses.length === 1 && !isNever(only)) throw failed
  }

  private missing(name: string, clause: Clause, failed: CannotSatisfy): CannotSatisfy {
    if (this.acceptsName(name) && !this.clausesOf(name).some(isNever)) return failed
    const at = clause.at + pointer('required')
    return new CannotSatisfy(
      at,
      'required',
      `required names "${name}", which the schema forbids; allow it or do not require it`,
    )
  }

  private at(keyword: string, why: string): CannotSatisfy {
    return new CannotSatisfy(place(this.clauses, keyword), keyword, `${keyword} ${why}`)
  }
}

function inventedName(tries: number, chance: RandomSource): string {
  return tries < 20 ? word(chance) : `${word(chance)}_${tries}`
}

function tooLarge(weight: number): string {
  return `makes an output of at least ${weight} characters and members; the most is ${MAX_WEIGHT}`
}
