import type { ErrorObject } from 'ajv/dist/2020.js'
import { type Issue, isObject, type Json, type JsonObject, pointer } from '../core/json.ts'
import { rethrowNotLoaded } from '../core/load.ts'
import { memoize } from '../core/memoize.ts'
import { Chance } from '../core/random.ts'
import { RegexTimeout, withMatchTime } from '../core/regex.ts'
import { Draw, type Maker, type Mode, newBudget, OutOfBudget } from './draw.ts'
import { makerFor } from './generate.ts'
import type { RandomSource } from './pattern-text.ts'
import { hasPlainValues } from './plain.ts'
import { type SchemaValidator, validatorOf } from './validator.ts'

/** Milliseconds for the patterns of one output. */
const MATCH_MS = 150
/** Attempts inside one try to find the first value. */
const ATTEMPTS_PER_TRY = 50
/** The largest schema, in characters. */
const MAX_SCHEMA = 2_000_000
const MAX_ISSUES = 1_000

/** The modes in which the first value is searched: most schemas have one with all optional properties. */
const WAYS: readonly Mode[] = [
  ...['all', 'all', 'all', 'all', 'all', 'all', 'none', 'some', 'none', 'some'],
  ...Array.from({ length: 8 }, () => ['some', 'none', 'all']).flat(),
] as Mode[]

interface Parts {
  readonly validator: SchemaValidator
  readonly maker: Maker
}

/** The first value that was found, as JSON text, and the mode in which it was. */
interface Found {
  readonly text: string
  readonly mode: Mode
}

const NOT_FOUND = 'has no value that was found'
const NOTHING_FOUND: Issue = { pointer: '/type', detail: `type ${NOT_FOUND}` }

/** The values for one schema that passed `schemaIssues`. */
export class Outputs {
  private readonly schema: JsonObject
  private readonly matchMs: number
  private made: Parts | Issue | undefined
  private decision: Found | Issue | undefined

  /** @param matchMs milliseconds for the patterns of one output; for tests */
  constructor(schema: JsonObject, matchMs = MATCH_MS) {
    this.schema = schema
    this.matchMs = matchMs
  }

  /** Why no value can be made, with the pointer of the keyword that prevents it. Undefined if values can be made. */
  get unsatisfiable(): Issue | undefined {
    if (hasPlainValues(this.schema)) return undefined
    const decision = this.decided
    return 'pointer' in decision ? decision : undefined
  }

  /**
   * JSON text of a value that satisfies the schema. The same chance and instant (virtual milliseconds) give the same text.
   * Undefined for a schema without a value: {@link unsatisfiable} has the reason.
   */
  text(chance: RandomSource, now: number): string | undefined {
    const { decided, parts } = this
    if ('pointer' in decided || 'pointer' in parts) return undefined
    const draw = new Draw(chance, now, decided.mode)
    const made = withMatchTime(this.matchMs, () => this.tried(parts, draw))
    return 'pointer' in made ? decided.text : made.text
  }

  /** The issues of a value, with JSON Pointers into it. Empty for a value that satisfies the schema. */
  issues(value: Json): Issue[] {
    const { parts } = this
    const unchecked = (why: string): Issue[] => [
      { pointer: '', detail: `cannot be checked against the output schema: ${why}` },
    ]
    if ('pointer' in parts) return unchecked(parts.detail)
    try {
      const errors = withMatchTime(this.matchMs, () => parts.validator.errors(value))
      return errors.slice(0, MAX_ISSUES).map(issueOf)
    } catch (error) {
      rethrowNotLoaded(error)
      return unchecked((error as Error).message)
    }
  }

  /** What makes and checks values; an issue if that is not possible for this schema. */
  private get parts(): Parts | Issue {
    this.made ??= withMatchTime(this.matchMs, () => partsOf(this.schema))
    return this.made
  }

  private get decided(): Found | Issue {
    const { parts } = this
    this.decision ??= 'pointer' in parts ? parts : withMatchTime(this.matchMs, () => this.firstOf(parts))
    return this.decision
  }

  private firstOf(parts: Parts): Found | Issue {
    const budget = newBudget()
    let reason: Issue | undefined
    // Whether a value exists does not depend on the seed of a sandbox.
    for (const [n, mode] of WAYS.entries()) {
      const spared = Math.max(0, budget.attempts - ATTEMPTS_PER_TRY)
      const made = this.tried(parts, new Draw(new Chance(0, n), 0, mode, budget, spared))
      if ('text' in made) return { ...made, mode }
      reason ??= made
      if (budget.values < 0 || budget.bytes < 0 || budget.attempts <= 0) break
    }
    return reason ?? NOTHING_FOUND
  }

  private tried({ maker, validator }: Parts, draw: Draw): { readonly text: string } | Issue {
    try {
      const value = maker.make(draw)
      if (isObject(value)) {
        if (validator.accepts(value)) return { text: JSON.stringify(value) }
        const [error] = validator.errors(value)
        if (error !== undefined)
          draw.failure = { pointer: locationIn(error), detail: `${error.keyword} ${NOT_FOUND}` }
      }
      return draw.failure ?? NOTHING_FOUND
    } catch (error) {
      if (!(error instanceof OutOfBudget || error instanceof RegexTimeout)) return refused(error)
      return { pointer: draw.at, detail: `no value was found: ${error.message}` }
    }
  }
}

function partsOf(schema: JsonObject): Parts | Issue {
  const text = JSON.stringify(schema)
  if (text.length > MAX_SCHEMA)
    return { pointer: '', detail: `the schema has more than ${MAX_SCHEMA} characters` }
  try {
    // The copy has no object at two places, since facts about a schema are kept by object.
    const copy = JSON.parse(text) as JsonObject
    const validator = validatorOf(copy)
    const maker = makerFor(copy, validator)
    return 'pointer' in maker ? maker : { validator, maker }
  } catch (error) {
    return refused(error)
  }
}

// Such as a schema that is too large, or a pattern that the compiler cannot use.
function refused(error: unknown): Issue {
  // A package could not be loaded: later it may be.
  rethrowNotLoaded(error)
  return { pointer: '', detail: `the schema cannot be compiled: ${(error as Error).message}` }
}

function issueOf(error: ErrorObject): Issue {
  const { instancePath, keyword, message, params } = error
  const name: unknown = params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName
  const field = typeof name === 'string' ? pointer(name) : ''
  const detail = `${message ?? 'is not allowed'} (${keyword} at ${locationIn(error)} of the output schema)`
  return { pointer: instancePath + field, detail }
}

function locationIn({ schemaPath }: ErrorObject): string {
  return decodeURIComponent(schemaPath.replace(/^#/, ''))
}

/** Schemas whose validators are kept: every batch of a client has the same schema in a new object. */
const MAX_KEPT = 20
const outputsFor = memoize((text) => new Outputs(JSON.parse(text) as JsonObject), MAX_KEPT)

/** The values for a schema, which is examined once as long as it is one of the last {@link MAX_KEPT}. */
export function outputsOf(schema: JsonObject): Outputs {
  return outputsFor(JSON.stringify(schema))
}
