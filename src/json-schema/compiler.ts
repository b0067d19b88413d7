import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { validatorOf } from './ajv.ts'
import { arrayMaker } from './arrays.ts'
import { type Compiler, type Conjunction, given, impliedTypes, isNever, place } from './clause.ts'
import { conditionalMaker, hasConditions, NOTHING } from './conditions.ts'
import { canonical, hasType, subschemas, TYPES, type TypeName } from './keywords.ts'
import { anyOf, attempt, CannotSatisfy, checked, choice, isMaker, type Maker } from './maker.ts'
import { numberMaker } from './numbers.ts'
import { objectMaker } from './objects.ts'
import { stringMaker } from './strings.ts'

// Conditions inside conditions multiply. The budget keeps the worst schema at a second or two, and grows with
// the schema so that a large plain one is never refused for it.
const BUDGET = 30_000
const BUDGET_PER_SCHEMA = 40
const COST_OF_A_CHECK = 10

/** Compiles one schema, part by part. */
export class SchemaCompiler implements Compiler {
  private left: number
  private readonly known = new Map<JsonObject, Map<number, Maker | CannotSatisfy>>()
  private readonly sizes = new Map<JsonObject, number>()

  constructor(root: JsonObject) {
    this.left = BUDGET + BUDGET_PER_SCHEMA * this.sizeOf(root)
  }

  accepts(clauses: Conjunction): (value: Json) => boolean {
    const size = clauses.reduce((sum, { schema }) => sum + this.sizeOf(schema), 0)
    this.spend(COST_OF_A_CHECK * size, clauses)
    return validatorOf(clauses.map(({ schema }) => schema))
  }

  /** A maker of values that satisfy every clause; a schema on its own is compiled once per depth. */
  compile(clauses: Conjunction, depth: number): Maker {
    const [only] = clauses
    if (only === undefined || clauses.length > 1) return this.build(clauses, depth)
    const byDepth = this.known.get(only.schema) ?? new Map<number, Maker | CannotSatisfy>()
    this.known.set(only.schema, byDepth)
    const made = byDepth.get(depth) ?? attempt(() => this.build(clauses, depth))
    byDepth.set(depth, made)
    if (made instanceof CannotSatisfy) throw made
    return made
  }

  private build(clauses: Conjunction, depth: number): Maker {
    if (!hasConditions(clauses)) return this.plain(clauses, depth)
    const accepts = this.accepts(clauses)
    const keyword = given(clauses, 'if').length > 0 ? 'if' : 'dependentSchemas'
    const why = `no value was found on either side of ${keyword}; loosen the schemas that it brings in`
    const otherwise = new CannotSatisfy(place(clauses, keyword), keyword, why)
    return conditionalMaker(clauses, (settled) => checked(this.plain(settled, depth), accepts, otherwise))
  }

  /** A maker for clauses without open conditions. */
  private plain(clauses: Conjunction, depth: number): Maker {
    this.spend(1, clauses)
    const never = clauses.find(isNever)
    if (never !== undefined) throw new CannotSatisfy(never.at, 'false', NOTHING)
    const maker = this.listed(clauses) ?? this.typed(clauses, depth)
    const excluded = given(clauses, 'not').at(-1)
    if (excluded === undefined) return maker
    const why = 'no value was found outside of what another schema excludes; loosen one of the two'
    return checked(maker, this.accepts(clauses), new CannotSatisfy(excluded.clause.at, 'not', why))
  }

  /** The values that `enum` and `const` leave, if there is either. */
  private listed(clauses: Conjunction): Maker | undefined {
    const [first, ...others] = clauses.flatMap(({ schema }) => [
      ...(Array.isArray(schema.enum) ? [schema.enum] : []),
      ...(schema.const === undefined ? [] : [[schema.const]]),
    ])
    if (first === undefined) return undefined
    const texts = others.map((values) => new Set(values.map(canonical)))
    const common = first.filter((value) => texts.every((known) => known.has(canonical(value))))
    const simple = clauses.every(({ schema }) => Object.keys(schema).every((keyword) => SIMPLE.has(keyword)))
    const accepts = simple ? ofAllTypes(clauses) : this.accepts(clauses)
    const keyword = given(clauses, 'enum').length > 0 ? 'enum' : 'const'
    const why = `no value that ${keyword} lists satisfies the keywords beside it; change one of the two`
    return choice(common.filter(accepts), new CannotSatisfy(place(clauses, keyword), keyword, why))
  }

  private typed(clauses: Conjunction, depth: number): Maker {
    const allowed = TYPES.filter((type) => allows(clauses, type))
    if (allowed.length === 0)
      throw new CannotSatisfy(
        place(clauses, 'type'),
        'type',
        'the types asked for exclude each other; agree on one',
      )
    const implied = given(clauses, 'type').length > 0 ? [] : impliedTypes(clauses)
    const [preferred, others] = implied.length > 0 ? [implied, allowed] : [likely(allowed), allowed]
    const made = preferred.map((type) => attempt(() => this.ofType(type, clauses, depth)))
    const makers = made.filter(isMaker)
    if (makers.length > 0) return anyOf(makers, preferred.includes('null') && made.length === makers.length)
    const failed = made.find((maker) => maker instanceof CannotSatisfy)
    const remaining = others.filter((type) => !preferred.includes(type))
    for (const type of remaining) {
      const spare = attempt(() => this.ofType(type, clauses, depth))
      if (isMaker(spare)) return spare
    }
    throw failed ?? new CannotSatisfy(place(clauses, 'type'), 'type', 'no value of the type was found')
  }

  private ofType(type: TypeName, clauses: Conjunction, depth: number): Maker {
    if (type === 'object') return objectMaker(clauses, this, depth)
    if (type === 'array') return arrayMaker(clauses, this, depth)
    if (type === 'string') return stringMaker(clauses)
    if (type === 'number') return numberMaker(clauses, isWhole(clauses))
    if (type === 'null') return { make: () => null, weight: 1, values: [null] }
    return { make: (chance) => chance.next() < 0.5, weight: 1, values: [true, false] }
  }

  private sizeOf(schema: JsonObject): number {
    const known = this.sizes.get(schema)
    if (known !== undefined) return known
    let size = 1
    for (const { schema: inner } of subschemas(schema, '')) size += isObject(inner) ? this.sizeOf(inner) : 1
    this.sizes.set(schema, size)
    return size
  }

  private spend(cost: number, clauses: Conjunction): void {
    this.left -= cost
    if (this.left >= 0) return
    const why = 'the conditions of the schema combine in too many ways; use fewer of them'
    throw new CannotSatisfy(clauses[0]?.at ?? '', 'if', why)
  }
}

const SIMPLE = new Set(['const', 'default', 'description', 'enum', 'examples', 'title', 'type'])

function typesOf(schema: JsonObject): Json[] {
  return Array.isArray(schema.type) ? [...schema.type] : [schema.type ?? null]
}

function allows(clauses: Conjunction, type: TypeName): boolean {
  return clauses.every(({ schema }) => {
    const types = typesOf(schema)
    return (
      schema.type === undefined || types.includes(type) || (type === 'number' && types.includes('integer'))
    )
  })
}

function isWhole(clauses: Conjunction): boolean {
  return clauses.some(({ schema }) => schema.type !== undefined && !typesOf(schema).includes('number'))
}

function ofAllTypes(clauses: Conjunction): (value: Json) => boolean {
  return (value) => clauses.every(({ schema }) => hasType(value, schema.type))
}

/** With nothing said, a text is the most useful value. */
function likely(allowed: readonly TypeName[]): readonly TypeName[] {
  return allowed.length === TYPES.length ? ['string'] : allowed
}
