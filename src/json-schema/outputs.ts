import type { ErrorObject } from 'ajv/dist/2020.js'
import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { Draw, type Mode } from './draw.ts'
import { ValueGenerator } from './generate.ts'
import type { RandomSource } from './pattern-text.ts'
import { OutOfSteps, STEPS_PER_PIECE, stepsLeft, stepsSpent, withinSteps } from './steps.ts'
import { SchemaValidator } from './validator.ts'
import { type TextWriter, writerOf } from './writer.ts'

/** Steps for one try to make a value: the longest piece of work. */
const STEPS_PER_TRY = 25_000
/** Steps for the value of one item; an item that needs more gets the value that is kept. */
const STEPS_PER_ITEM = 25_000
/** Steps for all tries together. */
const MAX_STEPS = 200_000
const STEPS_PER_CHECK = 2_000_000
const MAX_ISSUES = 1_000
/** Characters of a schema that takes some milliseconds to copy. */
const LARGE = 50_000

/** The modes in which the first value is searched: most schemas have one with all optional properties. */
const WAYS: readonly Mode[] = [
  ...['all', 'all', 'all', 'all', 'all', 'all', 'none', 'some', 'none', 'some'],
  ...Array.from({ length: 8 }, () => ['some', 'none', 'all']).flat(),
] as Mode[]

interface Parts {
  readonly schema: JsonObject
  readonly validator: SchemaValidator
  readonly generator: ValueGenerator
}

/** The first value that was found, and the mode in which it was. */
interface Found {
  readonly kept: JsonObject
  readonly mode: Mode
}

/** The values for one schema that passed `schemaIssues`. */
export class Outputs {
  private readonly schema: JsonObject
  private made: Parts | undefined
  private decision: Found | Issue | undefined
  private writer: TextWriter | undefined
  private work: Iterator<void, void> | undefined

  constructor(schema: JsonObject) {
    this.schema = schema
  }

  /** Why no value can be made, with the pointer of the keyword that prevents it. Undefined if values can be made. */
  get unsatisfiable(): Issue | undefined {
    const decision = this.decided()
    return 'pointer' in decision ? decision : undefined
  }

  /**
   * The rest of the examination whether a value exists, in pieces of a few milliseconds; undefined when it is complete.
   * Any other call before that does the rest at once, with the same result.
   */
  get pending(): Iterator<void, void> | undefined {
    if (this.decision !== undefined) return undefined
    this.work ??= this.decide()
    return this.work
  }

  /**
   * JSON text of a value that satisfies the schema. The same chance and instant (virtual milliseconds) give the same text.
   * Undefined for a schema without a value: {@link unsatisfiable} has the reason.
   */
  text(chance: RandomSource, now: number): string | undefined {
    const decision = this.decided()
    if ('pointer' in decision) return undefined
    const draw = new Draw(chance, now, decision.mode)
    try {
      return withinSteps(STEPS_PER_ITEM, () => this.written(draw, decision))
    } catch (error) {
      if (error instanceof OutOfSteps) return JSON.stringify(decision.kept)
      throw error
    }
  }

  /** As {@link text}, parsed. */
  make(chance: RandomSource, now: number): JsonObject | undefined {
    const text = this.text(chance, now)
    return text === undefined ? undefined : (JSON.parse(text) as JsonObject)
  }

  /** The issues of a value, with JSON Pointers into it. Empty for a value that satisfies the schema. */
  issues(value: Json): Issue[] {
    try {
      const errors = withinSteps(STEPS_PER_CHECK, () => this.parts.validator.errors(value))
      return errors.slice(0, MAX_ISSUES).map(issueOf)
    } catch (error) {
      if (!(error instanceof OutOfSteps)) throw error
      return [{ pointer: '', detail: `cannot be checked against the output schema: ${error.message}` }]
    }
  }

  private get parts(): Parts {
    for (const work = this.read(); this.made === undefined; ) work.next()
    return this.made
  }

  private *read(): Generator<void, void> {
    const text = JSON.stringify(this.schema)
    // The copy has no object at two places, since facts about a schema are kept by object.
    const schema = JSON.parse(text) as JsonObject
    const isLarge = text.length > LARGE
    if (isLarge) yield
    const validator = new SchemaValidator(schema)
    if (isLarge) yield
    this.made = { schema, validator, generator: new ValueGenerator(schema, validator) }
    if (isLarge) yield
  }

  private decided() {
    for (let { pending } = this; pending !== undefined && pending.next().done !== true; ) {}
    return this.decision ?? { pointer: '', detail: 'no value was looked for' }
  }

  private *decide(): Generator<void, void> {
    try {
      yield* this.read()
      const { validator, generator } = this.parts
      yield* validator.compile()
      yield* generator.prepare()
    } catch (error) {
      this.decision = refused(error, '')
      return
    }
    let reason: Issue | undefined
    const start = stepsSpent()
    let since = start
    for (const [n, mode] of WAYS.entries()) {
      const draw = new Draw(new FixedChance(n), 0, mode, true)
      try {
        let left = STEPS_PER_TRY
        const value = withinSteps(left, () => {
          const made = this.parts.generator.make(draw)
          left = stepsLeft()
          return made
        })
        if (stepsSpent() - since >= STEPS_PER_PIECE) {
          yield
          since = stepsSpent()
        }
        const kept = withinSteps(left, () => this.accepted(draw, value))
        if (kept !== undefined) {
          yield* this.prepareWriter({ kept, mode })
          this.decision = { kept, mode }
          return
        }
        reason ??= draw.failure
      } catch (error) {
        reason ??= refused(error, draw.at)
      }
      if (stepsSpent() - start > MAX_STEPS) break
      if (stepsSpent() - since < STEPS_PER_PIECE) continue
      yield
      since = stepsSpent()
    }
    this.decision = reason ?? { pointer: '/type', detail: 'type has no value that was found' }
  }

  private *prepareWriter({ kept, mode }: Found): Generator<void, void> {
    const { schema, generator } = this.parts
    this.writer = mode === 'all' ? writerOf(schema, kept, generator) : undefined
    let since = stepsSpent()
    for (const _ of this.writer?.prepare() ?? []) {
      if (stepsSpent() - since < STEPS_PER_PIECE) continue
      yield
      since = stepsSpent()
    }
  }

  private written(draw: Draw, { kept }: Found): string {
    return this.writer?.text(draw) ?? JSON.stringify(this.tried(draw) ?? kept)
  }

  private tried(draw: Draw): JsonObject | undefined {
    return this.accepted(draw, this.parts.generator.make(draw))
  }

  private accepted(draw: Draw, value: Json | undefined): JsonObject | undefined {
    const { validator } = this.parts
    if (value === undefined || !isObject(value)) return undefined
    if (validator.accepts(value)) return value
    const [error] = validator.errors(value)
    if (error !== undefined)
      draw.failure = { pointer: placeIn(error), detail: `${error.keyword} has no value that was found` }
    return undefined
  }
}

function refused(error: unknown, at: string): Issue {
  if (!(error instanceof Error)) throw error
  if (error instanceof OutOfSteps)
    return { pointer: error.at ?? at, detail: `no value was found within the budget: ${error.message}` }
  // Such as a reference without a target, which only the compiler finds.
  return { pointer: at, detail: `cannot be compiled: ${error.message}` }
}

function issueOf(error: ErrorObject): Issue {
  const { instancePath, keyword, message, params } = error
  const name: unknown = params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName
  const field = typeof name === 'string' ? pointer(name) : ''
  const detail = `${message ?? 'is not allowed'} (${keyword} at ${placeIn(error)} of the output schema)`
  return { pointer: instancePath + field, detail }
}

/** JSON Pointer of the keyword; that of an error in a part is among its parameters. */
function placeIn({ schemaPath, params }: ErrorObject): string {
  return typeof params.place === 'string' ? params.place : schemaPath.replace(/^#/, '')
}

/** Always the same sequence (a 32-bit xorshift): whether a value exists does not depend on the seed of a sandbox. */
class FixedChance implements RandomSource {
  private state: number

  constructor(n: number) {
    this.state = (0x9e3779b9 + Math.imul(n, 0x85ebca6b)) | 1
  }

  next(): number {
    this.state ^= this.state << 13
    this.state ^= this.state >>> 17
    this.state ^= this.state << 5
    return (this.state >>> 0) / 2 ** 32
  }

  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }
}

const MAX_TEXTS = 100
const MAX_TEXT_LENGTH = 100_000
const byIdentity = new WeakMap<JsonObject, Outputs>()
const byText = new Map<string, Outputs>()

/**
 * The values for a schema, which is examined once. The result is kept as long as the schema object exists; for the last
 * hundred schemas also by content, since every batch of a client has the same schema in a new object.
 */
export function outputsOf(schema: JsonObject): Outputs {
  const known = byIdentity.get(schema)
  if (known !== undefined) return known
  const text = JSON.stringify(schema)
  const made = byText.get(text) ?? new Outputs(schema)
  byIdentity.set(schema, made)
  if (text.length > MAX_TEXT_LENGTH) return made
  byText.delete(text)
  byText.set(text, made)
  for (const oldest of byText.keys()) {
    if (byText.size <= MAX_TEXTS) break
    byText.delete(oldest)
  }
  return made
}
