import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { validatorOf, validatorOfSchema } from './output/ajv.ts'
import { arrayMaker } from './output/arrays.ts'
import {
  type Clause,
  type Compiler,
  type Conjunction,
  clauseOf,
  given,
  helper,
  impliedTypes,
  isNever,
  place,
  sameValue,
  strings,
} from './output/clause.ts'
import { canonical, hasType, own, put, type Schema, TYPES, type TypeName } from './output/keywords.ts'
import { attempt, CannotSatisfy, type Chance, checked, choice, type Maker, oneOf } from './output/maker.ts'
import { perSchema } from './output/memo.ts'
import { negations } from './output/negation.ts'
import { numberMaker } from './output/numbers.ts'
import { objectMaker } from './output/objects.ts'
import { stringMaker } from './output/strings.ts'

export { CannotSatisfy, type Chance } from './output/maker.ts'

/** Makes one output. The same chance gives the same output; it never fails and always satisfies the schema. */
export type OutputGenerator = (chance: Chance) => JsonObject

/**
 * Compiles a schema that `checkOutputSchema` has accepted into a generator of outputs (Limits, Batch
 * predictions). Optional properties are always there unless a bound such as `maxProperties` or another schema
 * rules them out. Throws `CannotSatisfy` where no output can be found; one is made at once to be sure.
 *
 * @example
 * const generate = outputGenerator({ type: 'object', properties: { total: { type: 'integer', minimum: 1 } } })
 * generate(chance) // { total: 417 }
 */
export const outputGenerator: (schema: JsonObject) => OutputGenerator = perSchema((schema) => {
  const root = clauseOf(schema, '')
  const compiler = new SchemaCompiler()
  const otherwise = new CannotSatisfy(
    '',
    'type',
    'no output was found that satisfies the whole schema; loosen the keywords that work against each other',
  )
  const whole = helper({ type: 'object' }, '')
  const maker = checked(compiler.compile([whole, root], 0), validatorOfSchema(schema), otherwise)
  return (chance) => {
    const output = maker.make(chance)
    return isObject(output) ? output : {}
  }
})

// Conditions inside conditions multiply; these keep the worst schema below about a second.
const MAX_COMPILATIONS = 50_000
const COST_OF_A_CHECK = 50
const RARELY = 1 / 8

class SchemaCompiler implements Compiler {
  private left = MAX_COMPILATIONS
  private readonly known = new Map<JsonObject, Map<number, Maker | CannotSatisfy>>()

  accepts(clauses: Conjunction): (value: Json) => boolean {
    this.spend(COST_OF_A_CHECK, clauses)
    return validatorOf(clauses.map(({ schema }) => schema))
  }

  /** A maker of values that satisfy every clause; a schema on its own is compiled once per depth. */
  compile(clauses: Conjunction, depth: number): Maker {
    const [only] = clauses
    if (only === undefined || clauses.length > 1 || only.settled.length > 0) return this.build(clauses, depth)
    const byDepth = this.known.get(only.schema) ?? new Map<number, Maker | CannotSatisfy>()
    this.known.set(only.schema, byDepth)
    const made = byDepth.get(depth) ?? attempt(() => this.build(clauses, depth))
    byDepth.set(depth, made)
    if (made instanceof CannotSatisfy) throw made
    return made
  }

  private build(clauses: Conjunction, depth: number): Maker {
    const [first] = clauses
    if (--this.left < 0)
      throw new CannotSatisfy(
        first?.at ?? '',
        'if',
        'the conditions combine in too many ways; use fewer of them',
      )
    const never = clauses.find(isNever)
    if (never !== undefined)
      throw new CannotSatisfy(never.at, 'false', 'the schema false allows no value at all')
    for (const clause of clauses) {
      const { schema, settled } = clause
      if (isCondition(schema) && !settled.includes('if')) return this.conditional(clauses, clause, depth)
      const names = isObject(schema.dependentSchemas) ? Object.keys(schema.dependentSchemas) : []
      const name = names.find((candidate) => !settled.includes(`dependent ${candidate}`))
      if (name !== undefined) return this.dependent(clauses, clause, name, depth)
    }
    return this.plain(clauses, depth)
  }

  private spend(cost: number, clauses: Conjunction): void {
    this.left -= cost
    if (this.left >= 0) return
    const why = 'the conditions of the schema combine in too many ways; use fewer of them'
    throw new CannotSatisfy(clauses[0]?.at ?? '', 'if', why)
  }

  /** Values of both branches where both can be made, each checked, since a branch is chosen by its outcome. */
  private conditional(clauses: Conjunction, clause: Clause, depth: number): Maker {
    const rest = settle(clauses, clause, 'if')
    const condition = clause.schema.if
    const branch = (keyword: string): Clause[] =>
      clause.schema[keyword] === undefined ? [] : [sameValue(clause, keyword)]
    const accepts = this.accepts(clauses)
    const otherwise = new CannotSatisfy(
      place(clauses, 'if'),
      'if',
      'no value was found for either branch of if, then and else; loosen one of them',
    )
    const make = (branches: Conjunction): Maker | CannotSatisfy =>
      attempt(() => checked(this.compile([...rest, ...branches], depth), accepts, otherwise))
    const positive = make([sameValue(clause, 'if'), ...branch('then')])
    const steered = isSchema(condition) ? negations(condition) : []
    const negatives = steered.map(
      (other) => () => make([helper(other, `${clause.at}/if`), ...branch('else')]),
    )
    const made = [positive, ...untilMade(negatives)]
    const makers = made.filter((maker) => isMaker(maker))
    if (makers.length === 0) throw otherFault(clause.at, made) ?? otherwise
    return anyOf(makers)
  }

  /** The property that a dependent schema waits for is included if it is known and the schema can be met. */
  private dependent(clauses: Conjunction, clause: Clause, name: string, depth: number): Maker {
    const rest = settle(clauses, clause, `dependent ${name}`)
    const at = clause.at
    const schema = sameValue(clause, 'dependentSchemas', name)
    const present = (): Maker => this.compile([...rest, schema, helper({ required: [name] }, at)], depth)
    const absent = (): Maker => this.compile([...rest, helper({ properties: forbidden(name) }, at)], depth)
    const [preferred, second] = isNamed(clauses, name) ? [present, absent] : [absent, present]
    const made = attempt(preferred)
    if (!(made instanceof CannotSatisfy)) return made
    const other = attempt(second)
    if (other instanceof CannotSatisfy) throw made
    return other
  }

  private plain(clauses: Conjunction, depth: number): Maker {
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
    const makers = made.filter((maker) => isMaker(maker))
    if (makers.length > 0) return anyOf(makers, preferred.includes('null') && made.length === makers.length)
    const failed = made.find((maker) => maker instanceof CannotSatisfy)
    const remaining = others.filter((type) => !preferred.includes(type))
    const spare = untilMade(
      remaining.map((type) => () => attempt(() => this.ofType(type, clauses, depth))),
    ).at(-1)
    if (spare !== undefined && isMaker(spare)) return spare
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
}

const SIMPLE = new Set(['const', 'default', 'description', 'enum', 'examples', 'title', 'type'])

function isCondition(schema: JsonObject): boolean {
  return schema.if !== undefined && (schema.then !== undefined || schema.else !== undefined)
}

function isSchema(value: Json | undefined): value is Schema {
  return typeof value === 'boolean' || isObject(value)
}

function isMaker(made: Maker | CannotSatisfy): made is Maker {
  return !(made instanceof CannotSatisfy)
}

function settle(clauses: Conjunction, clause: Clause, what: string): Clause[] {
  return clauses.map((other) =>
    other === clause ? { ...clause, settled: [...clause.settled, what] } : other,
  )
}

/** What came of the attempts, up to the first that succeeded. */
function untilMade(attempts: readonly (() => Maker | CannotSatisfy)[]): (Maker | CannotSatisfy)[] {
  const made: (Maker | CannotSatisfy)[] = []
  for (const work of attempts) {
    const maker = work()
    made.push(maker)
    if (isMaker(maker)) break
  }
  return made
}

/** A fault that lies outside of the condition itself, and so is the better one to tell. */
function otherFault(
  at: string,
  made: readonly (Maker | CannotSatisfy | undefined)[],
): CannotSatisfy | undefined {
  const own = ['if', 'then', 'else'].map((keyword) => `${at}/${keyword}`)
  return made.find(
    (fault): fault is CannotSatisfy =>
      fault instanceof CannotSatisfy && !own.some((place) => `${fault.pointer}/`.startsWith(`${place}/`)),
  )
}

function forbidden(name: string): JsonObject {
  const properties: Record<string, Json> = {}
  put(properties, name, false)
  return properties
}

/** True where some clause speaks of the property, so that an output is likely to have it. */
function isNamed(clauses: Conjunction, name: string): boolean {
  return clauses.some(
    ({ schema }) => own(schema.properties, name) !== undefined || strings(schema.required).includes(name),
  )
}

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

/** Picks one of the makers for each value; where the last one makes null, it gets its turn only now and then. */
function anyOf(makers: readonly Maker[], nullLast = false): Maker {
  const [first, ...others] = makers
  if (first === undefined || others.length === 0) return first ?? { make: () => null, weight: 1 }
  const usual = nullLast ? makers.slice(0, -1) : makers
  const last = nullLast ? makers.at(-1) : undefined
  const make = (chance: Chance, wide?: boolean): Json => {
    if (last !== undefined && chance.next() < RARELY) return last.make(chance)
    return (oneOf(usual, chance) ?? first).make(chance, wide)
  }
  const weight = Math.min(...makers.map((maker) => maker.weight))
  const values = makers.map((maker) => maker.values)
  return values.every((list) => list !== undefined)
    ? { make, weight, values: values.flat() }
    : { make, weight }
}
