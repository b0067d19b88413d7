import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { arrayMaker } from './arrays.ts'
import {
  type Clause,
  type Clauses,
  clauseIn,
  type Draw,
  given,
  type Maker,
  NOTHING,
  naming,
  OBJECT,
  placeOf,
  TEXT,
  type ValueSource,
} from './draw.ts'
import { negations } from './negations.ts'
import { numberMaker } from './numbers.ts'
import { objectMaker } from './objects.ts'
import {
  allowsType,
  buildCost,
  CHECKED,
  canonical,
  dependentSchemas,
  hasType,
  isChecked,
  isConditional,
  isSchema,
  own,
  setField,
  subschemas,
  TYPES,
  type TypeName,
} from './schema.ts'
import { OutOfSteps, STEPS_PER_PIECE, spend, spendOnce, stepsSpent, withinSteps } from './steps.ts'
import { stringMaker } from './strings.ts'
import type { SchemaValidator } from './validator.ts'

const ABOUT: Readonly<Record<TypeName, string>> = {
  object:
    'properties required additionalProperties unevaluatedProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas dependencies',
  array: 'items prefixItems contains minItems maxItems uniqueItems unevaluatedItems',
  string: 'pattern format minLength maxLength',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  boolean: '',
  null: '',
}

const SIMPLE = new Set(['const', 'default', 'description', 'enum', 'examples', 'title', 'type'])
const MAX_TRIES = 12
/** Bound on the kept makers of several clauses: conditions can combine clauses in any number of ways. */
const MAX_MAKERS = 5_000
const STEPS_PER_MAKER = 25
const STEPS_PER_NAME = 3
const STEPS_PER_BUILD = 25_000
const MAX_DEPTH = 600

/** Makes values for one schema: keyword by keyword, and by trial and error when keywords depend on each other. */
export class ValueGenerator implements ValueSource {
  private readonly validator: SchemaValidator
  private readonly root: JsonObject
  private readonly single = new Map<JsonObject, Maker>()
  private readonly several = new Map<string, Maker>()
  private readonly numbers = new Map<JsonObject, number>()
  private readonly presences = [new Map<string, JsonObject>(), new Map<string, JsonObject>()] as const

  constructor(root: JsonObject, validator: SchemaValidator) {
    this.root = root
    this.validator = validator
  }

  /** A value for the whole schema, not yet validated. */
  make(draw: Draw): Json | undefined {
    return this.rootMaker().make(draw)
  }

  /** Builds the makers of all schemas, in pieces. Makers that an item builds later count in the steps of that item. */
  *prepare(): Generator<void, void> {
    let since = stepsSpent()
    for (const _ of this.preparations()) {
      if (stepsSpent() - since < STEPS_PER_PIECE) continue
      yield
      since = stepsSpent()
    }
    // The first value of a large schema is a separate piece.
    if (stepsSpent() - since > STEPS_PER_PIECE / 10) yield
  }

  private *preparations(): Generator<void, void> {
    for (const clause of clausesOf(this.root)) {
      this.maker([clause])
      yield
    }
    const root = this.rootMaker()
    yield
    for (const _ of root.prepare?.() ?? []) {
      spendOnce(STEPS_PER_NAME)
      yield
    }
  }

  private rootMaker(): Maker {
    return this.maker([{ schema: this.root, at: '' }, OBJECT])
  }

  /** The maker of values that satisfy every clause, built once. With several clauses, each value costs the steps to build it. */
  maker(clauses: Clauses): Maker {
    const [clause] = clauses
    if (clause === undefined || clauses.length > 1) return this.makerOfSeveral(clauses)
    const known = this.single.get(clause.schema)
    if (known !== undefined) return known
    spendOnce(STEPS_PER_MAKER + buildCost(clause.schema))
    const made = this.built(clauses)
    this.single.set(clause.schema, made)
    return made
  }

  private makerOfSeveral(clauses: Clauses): Maker {
    const key = clauses.map(({ schema }) => this.numberOf(schema)).join(' ')
    const known = this.several.get(key)
    if (known !== undefined) return known
    if (this.several.size >= MAX_MAKERS) this.several.clear()
    const cost = clauses.reduce((sum, { schema }) => sum + buildCost(schema), STEPS_PER_MAKER)
    spendOnce(cost)
    const built = this.built(clauses)
    const isFixed = clauses.every((clause, n) => n === 0 || clause === OBJECT || clause === TEXT)
    const make = (draw: Draw): Json | undefined => {
      spend(cost)
      return built.make(draw)
    }
    const made: Maker = isFixed ? built : { ...built, make }
    this.several.set(key, made)
    return made
  }

  private built(clauses: Clauses): Maker {
    try {
      return naming(clauses[0]?.at ?? '', () => withinSteps(STEPS_PER_BUILD, () => this.build(clauses)))
    } catch (error) {
      if (!(error instanceof OutOfSteps)) throw error
      const make = (): never => {
        throw error
      }
      return { make }
    }
  }

  accepts(value: Json, { schema, at, isHelp }: Clause): boolean {
    return isHelp === true || this.validator.accepts(value, schema, at)
  }

  private acceptsAll(value: Json, clauses: Clauses): boolean {
    return clauses.every((clause) => this.accepts(value, clause))
  }

  private numberOf(schema: JsonObject): number {
    const known = this.numbers.get(schema) ?? this.numbers.size
    this.numbers.set(schema, known)
    return known
  }

  private build(clauses: Clauses): Maker {
    if (clauses.some(hasConditions)) return { make: (draw) => this.conditional(clauses, draw) }
    const plain = this.plain(clauses)
    if (!clauses.some(({ schema }) => isChecked(schema))) return plain
    return { make: (draw) => this.tried(clauses, draw, () => plain) }
  }

  /** Validates each value as soon as it is made, so that a difficult value is retried without the values around it. */
  private tried(clauses: Clauses, draw: Draw, maker: (draw: Draw, tries: number) => Maker): Json | undefined {
    const { mode } = draw
    const at = placeOf(clauses, 'if')
    const checked = clauses.filter(({ schema }) => isChecked(schema))
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        if (tries > 4) draw.mode = tries % 2 === 0 ? 'none' : 'some'
        spend(1)
        const value = maker(draw, tries).make(draw)
        if (value !== undefined && this.acceptsAll(value, checked)) return value
      }
      const [keyword = 'type'] = ['if', ...CHECKED].filter((each) => given(clauses, each).length > 0)
      if (draw.failure === undefined)
        draw.fail(placeOf(clauses, keyword) || at, keyword, 'has no value that was found')
      return undefined
    } finally {
      draw.mode = mode
    }
  }

  private conditional(clauses: Clauses, draw: Draw): Json | undefined {
    const lost = clauses.find(
      (clause) => typeof clause.schema.$dynamicRef === 'string' && this.referredTo(clause) === undefined,
    )
    if (lost !== undefined) return draw.fail(lost.at, '$dynamicRef', 'refers to no schema of this document')
    return this.tried(clauses, draw, (each, tries) => this.plain(this.decided(clauses, each, tries)))
  }

  /** Chooses a branch of every condition. The caller has to check the value that is made from the result. */
  private decided(clauses: Clauses, draw: Draw, tries: number): Clause[] {
    const queue = [...clauses]
    const add = (clause: Clause | undefined): void => {
      if (clause !== undefined) queue.push(clause)
    }
    // The loop also visits the clauses that are added to the queue during it.
    for (const clause of queue) {
      spend(1)
      const { schema } = clause
      if (isConditional(schema)) {
        const isMet = draw.coin()
        if (isMet) add(clauseIn(clause, 'if'))
        else if (isSchema(schema.if)) add(help(draw.oneOf(negations(schema.if)), `${clause.at}/if`))
        add(clauseIn(clause, isMet ? 'then' : 'else'))
      }
      for (const [keyword, name] of dependentSchemas(schema)) {
        const isLikely = isNamed(queue, name) && draw.mode !== 'none'
        const isThere = tries === 0 ? isLikely : draw.coin()
        if (isThere) add(clauseIn(clause, keyword, name))
        add(help(this.presence(name, isThere), clause.at))
      }
      const target = this.referredTo(clause)
      if (!queue.some((each) => each.schema === target?.schema)) add(target)
    }
    return queue
  }

  private presence(name: string, isThere: boolean): JsonObject {
    const known = this.presences[isThere ? 0 : 1].get(name)
    if (known !== undefined) return known
    const properties: Record<string, Json> = {}
    setField(properties, name, false)
    const made: JsonObject = isThere ? { required: [name] } : { properties }
    this.presences[isThere ? 0 : 1].set(name, made)
    return made
  }

  /** The schema that `$dynamicRef` refers to. References to other documents are not resolved. */
  private referredTo({ schema }: Clause): Clause | undefined {
    const { $dynamicRef } = schema
    if (typeof $dynamicRef !== 'string') return undefined
    const name = $dynamicRef.replace(/^.*#/, '')
    const pending: Clause[] = [{ schema: this.root, at: '' }]
    for (const clause of pending) {
      const { $dynamicAnchor, $anchor } = clause.schema
      if (name === '' || name === $dynamicAnchor || name === $anchor) return clause
      for (const inner of subschemas(clause.schema, clause.at)) pending.push(inner)
    }
    return undefined
  }

  /** A maker for clauses without open conditions. */
  private plain(clauses: Clauses): Maker {
    const listed = this.listed(clauses)
    if (listed !== undefined) return listed
    const allowed = TYPES.filter((type) => clauses.every(({ schema }) => allowsType(schema, type)))
    const at = placeOf(clauses, 'type')
    if (allowed.length === 0)
      return { make: (draw) => draw.fail(at, 'type', 'leaves no type that every keyword allows') }
    const types = preferred(clauses, allowed)
    const makers = types.map((type) => this.ofType(type, clauses))
    const [only] = makers
    if (makers.length === 1 && only !== undefined) return only
    const isNullable = types.at(-1) === 'null'
    const make = (draw: Draw): Json | undefined => {
      const first =
        isNullable && draw.coin(1 / 8)
          ? makers.length - 1
          : draw.chance.int(0, makers.length - (isNullable ? 2 : 1))
      for (let n = 0; n < makers.length; n++) {
        const value = makers[(first + n) % makers.length]?.make(draw)
        if (value !== undefined) return value
      }
      return undefined
    }
    return { make }
  }

  /** A maker of the values that `enum` and `const` allow; undefined without either. */
  private listed(clauses: Clauses): Maker | undefined {
    const lists = clauses.flatMap(({ schema }) => [
      ...(Array.isArray(schema.enum) ? [schema.enum] : []),
      ...(schema.const === undefined ? [] : [[schema.const]]),
    ])
    const [first, ...others] = lists
    if (first === undefined) return undefined
    const texts = others.map((values) => new Set(values.map(canonical)))
    const excluded = new Set(
      given(clauses, 'not')
        .flatMap(({ value }) => listOf(value))
        .map(canonical),
    )
    const isPlain = clauses.every(({ schema }) => Object.keys(schema).every((keyword) => SIMPLE.has(keyword)))
    const accepts = (value: Json): boolean =>
      isPlain ? clauses.every(({ schema }) => hasType(value, schema.type)) : this.acceptsAll(value, clauses)
    const isAlone = texts.length === 0 && excluded.size === 0
    const values = first.filter((value) => {
      if (isAlone) return accepts(value)
      const text = canonical(value)
      return !excluded.has(text) && texts.every((known) => known.has(text)) && accepts(value)
    })
    const keyword = given(clauses, 'enum').length > 0 ? 'enum' : 'const'
    const at = placeOf(clauses, keyword)
    const make = (draw: Draw): Json | undefined => {
      const value = draw.oneOf(values)
      // The caller that needs a value here reports the failure.
      if (first === NOTHING.enum) return undefined
      if (value === undefined)
        return draw.fail(at, keyword, 'lists no value that satisfies the other keywords')
      draw.count(at, typeof value === 'string' ? value.length : 0)
      return value
    }
    return { make, nth: (n) => values[n] }
  }

  private ofType(type: TypeName, clauses: Clauses): Maker {
    const at = clauses[0]?.at ?? ''
    switch (type) {
      case 'object':
        return nested(at, objectMaker(clauses, this))
      case 'array':
        return nested(at, arrayMaker(clauses, this))
      case 'string':
        return stringMaker(clauses, (text) => this.acceptsAll(text, clauses))
      case 'number':
        return numberMaker(clauses)
      case 'null':
        return { make: (draw) => counted(draw, at, null), nth: (n) => (n === 0 ? null : undefined) }
      default:
        return {
          make: (draw) => counted(draw, at, draw.coin()),
          nth: (n) => (n < 2 ? n === 0 : undefined),
        }
    }
  }
}

function counted(draw: Draw, at: string, value: Json): Json {
  draw.count(at)
  return value
}

/** A maker that counts one level of depth, so that a recursive schema ends. */
function nested(at: string, maker: Maker): Maker {
  const make = (draw: Draw): Json | undefined => {
    const { mode } = draw
    draw.at = at
    draw.depth++
    if (draw.depth > MAX_DEPTH) throw new OutOfSteps(`the value nests more than ${MAX_DEPTH} levels deep`)
    try {
      draw.count(at)
      return maker.make(draw)
    } finally {
      draw.depth--
      draw.mode = mode
    }
  }
  return { ...maker, make }
}

function help(schema: JsonObject | undefined, at: string): Clause | undefined {
  return schema === undefined ? undefined : { schema, at, isHelp: true }
}

function clausesOf(schema: JsonObject): Clause[] {
  const all: Clause[] = [{ schema, at: '' }]
  for (const clause of all) for (const inner of subschemas(clause.schema, clause.at)) all.push(inner)
  return all
}

function hasConditions({ schema }: Clause): boolean {
  return isConditional(schema) || schema.$dynamicRef !== undefined || dependentSchemas(schema).length > 0
}

function isNamed(clauses: Clauses, name: string): boolean {
  return clauses.some(({ schema }) => {
    const { required } = schema
    return own(schema.properties, name) !== undefined || (Array.isArray(required) && required.includes(name))
  })
}

/** The types to make: those in `type`, else those that the keywords apply to, else string. */
function preferred(clauses: Clauses, allowed: readonly TypeName[]): readonly TypeName[] {
  const isNamedByUser = clauses.some(({ schema, isHelp }) => schema.type !== undefined && !isHelp)
  if (isNamedByUser) return allowed
  const keywords = new Set(clauses.flatMap(({ schema }) => Object.keys(schema)))
  const implied = allowed.filter((type) => ABOUT[type].split(' ').some((keyword) => keywords.has(keyword)))
  if (implied.length > 0) return implied
  return allowed.includes('string') ? ['string'] : allowed
}

function listOf(schema: Json): readonly Json[] {
  if (!isObject(schema)) return []
  return [
    ...(Array.isArray(schema.enum) ? schema.enum : []),
    ...(schema.const === undefined ? [] : [schema.const]),
  ]
}
