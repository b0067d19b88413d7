import { type Issue, isObject, type Json, type JsonObject } from '../core/json.ts'
import { arrayMaker } from './arrays.ts'
import {
  type Clauses,
  clauseIn,
  type Draw,
  given,
  type Maker,
  NOTHING,
  noValue,
  OutOfBudget,
  placeOf,
  typeClause,
} from './draw.ts'
import { negations, without } from './negations.ts'
import { numberMaker } from './numbers.ts'
import { objectMaker } from './objects.ts'
import {
  allowsType,
  allSchemas,
  CHECKED,
  type Clause,
  canonical,
  dependentSchemas,
  hasType,
  isChecked,
  isConditional,
  isSchema,
  TYPES,
  type TypeName,
  textItems,
} from './schema.ts'
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
const MAX_DEPTH = 600
const MAX_CLAUSES = 1_000

/**
 * The maker of values for one schema, which are not yet validated: keyword by keyword, and by trial and error when keywords depend
 * on each other. An issue for a reference that refers to no schema; references to other documents are not resolved.
 */
export function makerFor(root: JsonObject, validator: SchemaValidator): Maker | Issue {
  const single = new Map<JsonObject, Maker>()
  const anchors = anchorsOf(root)
  const referredTo = ({ $dynamicRef }: JsonObject): Clause | undefined =>
    typeof $dynamicRef === 'string' ? anchors.get($dynamicRef) : undefined

  /** The maker of values that satisfy every clause; that of a single clause is built once. */
  const maker = (clauses: Clauses): Maker => {
    const [clause] = clauses
    if (clause === undefined || clauses.length > 1) {
      const [built, cost] = [build(clauses), buildCost(clauses)]
      const make = (draw: Draw): Json | undefined => {
        draw.count(clause?.at ?? '', 0, cost)
        return built.make(draw)
      }
      return { ...built, make }
    }
    const known = single.get(clause.schema) ?? build(clauses)
    single.set(clause.schema, known)
    return known
  }

  const accepts = (value: Json, clauses: Clauses): boolean =>
    clauses.every(({ schema, isHelp }) => isHelp === true || validator.accepts(value, schema))

  const source = { maker, accepts }

  const build = (clauses: Clauses): Maker => {
    const isOpen = ({ schema }: Clause) =>
      isConditional(schema) || schema.$dynamicRef !== undefined || dependentSchemas(schema).length > 0
    if (clauses.some(isOpen))
      return {
        make: (draw) =>
          tried(clauses, draw, (tries) => {
            const decided = decide(clauses, draw, tries)
            draw.count(clauses[0]?.at ?? '', 0, 8 + buildCost(decided))
            return decidedMaker(decided)
          }),
      }
    const plain = decidedMaker(clauses)
    if (!clauses.some(({ schema }) => isChecked(schema))) return plain
    return { make: (draw) => tried(clauses, draw, () => plain) }
  }

  /** Validates each value as soon as it is made, so that a difficult value is retried without the values around it. */
  const tried = (clauses: Clauses, draw: Draw, maker: (tries: number) => Maker): Json | undefined => {
    const { mode } = draw
    const at = placeOf(clauses, 'if')
    const checked = clauses.filter(({ schema }) => isChecked(schema))
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        if (tries > 0) draw.attempt(at)
        if (tries > 4) draw.mode = tries % 2 === 0 ? 'none' : 'some'
        const { bytes, values } = draw.budget
        const value = maker(tries).make(draw)
        if (value === undefined) continue
        // Schemas inside each other check the same value again, which costs less than making it.
        draw.count(at, (bytes - draw.budget.bytes) / 10, (values - draw.budget.values) / 10)
        if (accepts(value, checked)) return value
      }
      const [keyword = 'type'] = ['if', ...CHECKED].filter((each) => given(clauses, each).length > 0)
      return draw.failure ? undefined : draw.fail(clauses, keyword, 'has no value that was found')
    } finally {
      draw.mode = mode
    }
  }

  /** Chooses a branch of every condition. The caller has to check the value that is made from the result. */
  const decide = (clauses: Clauses, draw: Draw, tries: number): Clause[] => {
    const queue: Clause[] = []
    const named = new Set<string>()
    const add = (clause: Clause | undefined): void => {
      if (clause === undefined) return
      queue.push(clause)
      for (const name of namesIn(clause.schema)) named.add(name)
    }
    for (const clause of clauses) add(clause)
    // The loop also visits the clauses that are added to the queue during it.
    for (const clause of queue) {
      if (queue.length > MAX_CLAUSES)
        throw new OutOfBudget(`more than ${MAX_CLAUSES} schemas apply to one value`)
      const { schema } = clause
      if (isConditional(schema)) {
        const isMet = draw.coin()
        if (isMet) add(clauseIn(clause, 'if'))
        else if (isSchema(schema.if)) add(help(draw.oneOf(negations(schema.if)), `${clause.at}/if`))
        add(clauseIn(clause, isMet ? 'then' : 'else'))
      }
      for (const [keyword, name] of dependentSchemas(schema)) {
        const isLikely = named.has(name) && draw.mode !== 'none'
        const isThere = tries === 0 ? isLikely : tries > 1 && draw.coin()
        if (isThere) add(clauseIn(clause, keyword, name))
        add(help(isThere ? { required: [name] } : without(name), clause.at))
      }
      const target = referredTo(schema)
      if (!queue.some((each) => each.schema === target?.schema)) add(target)
    }
    return queue
  }

  /** A maker for clauses without open conditions. */
  const decidedMaker = (clauses: Clauses): Maker => {
    const listed = listedMaker(clauses)
    if (listed !== undefined) return listed
    const allowed = TYPES.filter((type) => clauses.every(({ schema }) => allowsType(schema.type, type)))
    if (allowed.length === 0) return noValue(clauses, 'type', 'leaves no type that every keyword allows')
    const types = preferred(clauses, allowed)
    const makers = types.map((type) => ofType(type, clauses))
    // Keywords say nothing about values of other types: `{"contains": false}` allows every value that is no array.
    const others = allowed.filter((type) => !types.includes(type))
    const other =
      others.length === 0 ? undefined : ofType(others.includes('string') ? 'string' : 'null', clauses)
    const [only] = makers
    if (makers.length === 1 && only !== undefined && other === undefined) return only
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
      return draw.mode === 'none' ? other?.make(draw) : undefined
    }
    return { ...(makers.length === 1 ? only : {}), make }
  }

  /** A maker of the values that `enum` and `const` allow; undefined without either. */
  const listedMaker = (clauses: Clauses): Maker | undefined => {
    const [first, ...others] = clauses.map(listOf).filter((list) => list !== undefined)
    if (first === undefined) return undefined
    const texts = others.map((values) => new Set(values.map(canonical)))
    const excluded = given(clauses, 'not').flatMap(({ value }) =>
      isObject(value) ? (listOf({ schema: value }) ?? []) : [],
    )
    const unwanted = new Set(excluded.map(canonical))
    const isPlain = clauses.every(({ schema }) => Object.keys(schema).every((keyword) => SIMPLE.has(keyword)))
    const values = first.filter((value) => {
      const text = texts.length + unwanted.size > 0 ? canonical(value) : ''
      if (unwanted.has(text) || !texts.every((known) => known.has(text))) return false
      return isPlain ? clauses.every(({ schema }) => hasType(value, schema.type)) : accepts(value, clauses)
    })
    const keyword = given(clauses, 'enum').length > 0 ? 'enum' : 'const'
    const make = (draw: Draw): Json | undefined => {
      const value = draw.oneOf(values)
      // The caller that needs a value here reports the failure.
      if (first === NOTHING.enum) return undefined
      if (value === undefined)
        return draw.fail(clauses, keyword, 'lists no value that satisfies the other keywords')
      draw.count(placeOf(clauses, keyword), JSON.stringify(value).length)
      return value
    }
    return { make, nth: (n) => values[n] }
  }

  const ofType = (type: TypeName, clauses: Clauses): Maker => {
    const at = clauses[0]?.at ?? ''
    switch (type) {
      case 'object':
        return nested(at, objectMaker(clauses, source))
      case 'array':
        return nested(at, arrayMaker(clauses, source))
      case 'string':
        return stringMaker(clauses, (text) => accepts(text, clauses))
      case 'number':
        return numberMaker(clauses)
      case 'null':
        return { make: (draw) => counted(draw, at, null), nth: (n) => (n === 0 ? null : undefined) }
      default:
        return { make: (draw) => counted(draw, at, draw.coin()), nth: (n) => (n < 2 ? n === 0 : undefined) }
    }
  }

  const top = build([{ schema: root, at: '' }, typeClause('object')])
  const lost = allSchemas(root).find(
    ({ schema }) => typeof schema.$dynamicRef === 'string' && referredTo(schema) === undefined,
  )
  if (lost === undefined) return top
  const detail = `$dynamicRef refers to no schema of this document: none has the $dynamicAnchor of ${JSON.stringify(lost.schema.$dynamicRef)}`
  return { pointer: `${lost.at}/$dynamicRef`, detail }
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
    if (draw.depth > MAX_DEPTH) throw new OutOfBudget(`the value nests more than ${MAX_DEPTH} levels deep`)
    try {
      draw.count(at)
      return maker.make(draw)
    } finally {
      draw.depth--
      draw.mode = mode
    }
  }
  return { make }
}

function help(schema: JsonObject | undefined, at: string): Clause | undefined {
  return schema === undefined ? undefined : { schema, at, isHelp: true }
}

/** The schemas by the references that lead to them. */
function anchorsOf(root: JsonObject): ReadonlyMap<string, Clause> {
  const anchors = new Map<string, Clause>()
  for (const clause of allSchemas(root).reverse()) {
    for (const name of [clause.schema.$dynamicAnchor, clause.schema.$anchor])
      if (typeof name === 'string') anchors.set(`#${name}`, clause)
  }
  return anchors.set('#', { schema: root, at: '' })
}

function namesIn({ properties, required }: JsonObject): string[] {
  return [...Object.keys(isObject(properties) ? properties : {}), ...textItems(required)]
}

/** The values that building a maker for several clauses counts as, or for one whose conditions are decided for each value. */
function buildCost(clauses: Clauses): number {
  let size = 0
  for (const { schema } of clauses)
    size += 5 + namesIn(schema).length + (Array.isArray(schema.enum) ? schema.enum.length / 5 : 0)
  return (size * clauses.length) / 100
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

/** The values that `enum` and `const` of one schema allow. */
function listOf({ schema }: Pick<Clause, 'schema'>): readonly Json[] | undefined {
  const { const: only, enum: list } = schema
  if (only === undefined) return Array.isArray(list) ? list : undefined
  return Array.isArray(list) ? list.filter((value) => canonical(value) === canonical(only)) : [only]
}
