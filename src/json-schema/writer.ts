import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { Chance } from '../core/random.ts'
import { type Clause, clauseIn, Draw, type Maker, type ValueSource } from './draw.ts'
import { allSchemas } from './schema.ts'
import { OutOfSteps, withinSteps } from './steps.ts'

/** The number of cached values of a property, for properties whose values are few or expensive. */
const SLOTS = 256
/** Longer texts are not cached, so that a schema needs little memory. */
const MAX_KEPT_TEXT = 500
const MAX_FIELDS = 500
const STEPS_PER_SLOT = 25_000
const DAY = 86_400_000

/** Keywords of an object with which each property can be made, checked and written separately. */
const INDEPENDENT = new Set(
  '$comment $id $schema additionalProperties default deprecated description examples properties readOnly required title type writeOnly'.split(
    ' ',
  ),
)

/** Text that needs no escapes in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Makes the JSON texts of objects. */
export interface TextWriter {
  /** The text for one draw. */
  readonly text: (draw: Draw) => string
  /** Compiles the checks of each property, one at a time, so that the first text takes no longer than the others. */
  readonly prepare: () => Generator<void, void>
}

/**
 * A writer for objects whose properties are all independent of each other: such an object is valid if each of its values is.
 * Undefined for any other schema. `kept` is a valid object; its values replace those that are not found.
 */
export function writerOf(schema: JsonObject, kept: JsonObject, source: ValueSource): TextWriter | undefined {
  const fields: Field[] = []
  const end = collect({ schema, at: '' }, kept, '', fields, source)
  if (end === undefined || allSchemas(schema).some(({ $dynamicRef }) => $dynamicRef !== undefined))
    return undefined
  return {
    text: (draw) => {
      let text = ''
      for (const field of fields) text += field.text(draw)
      return text + end
    },
    *prepare() {
      for (const field of fields) {
        field.compile()
        yield
      }
    },
  }
}

/** Adds the fields of an object. Returns the text after the last one; undefined if they are too many or not independent. */
function collect(
  { schema, at }: Clause,
  kept: JsonObject,
  before: string,
  fields: Field[],
  source: ValueSource,
): string | undefined {
  const { properties, required = [], type } = schema
  if (type !== 'object' || !isObject(properties) || !Array.isArray(required)) return undefined
  if (!Object.keys(schema).every((keyword) => INDEPENDENT.has(keyword))) return undefined
  const names = Object.keys(properties)
  if (names.length === 0 || names.includes('__proto__')) return undefined
  if (names.some((name) => !Object.hasOwn(kept, name))) return undefined
  if (required.some((name) => !Object.hasOwn(properties, String(name)))) return undefined
  let open = `${before}{`
  for (const name of names) {
    const start = `${open}${JSON.stringify(name)}:`
    const value = kept[name] ?? null
    const clause = clauseIn({ schema, at }, 'properties', name)
    const end =
      clause !== undefined && isObject(value) ? collect(clause, value, start, fields, source) : undefined
    if (end === undefined) fields.push(new Field(clause, start, value, source))
    if (fields.length > MAX_FIELDS) return undefined
    open = `${end ?? ''},`
  }
  return `${open.slice(0, -1)}}`
}

/** One property, with the text before its value. */
class Field {
  private readonly clause: Clause | undefined
  private readonly before: string
  private readonly kept: Json
  private readonly source: ValueSource
  private readonly maker: Maker
  private readonly isVaried: boolean
  private slots: (string | undefined)[] = []
  /** The day that the dates in the slots are relative to. */
  private day = Number.NaN

  constructor(clause: Clause | undefined, before: string, kept: Json, source: ValueSource) {
    this.clause = clause
    this.before = inOnePiece(before)
    this.kept = kept
    this.source = source
    this.maker = source.maker(clause === undefined ? [] : [clause])
    this.isVaried = this.maker.isVaried === true
  }

  text(draw: Draw): string {
    if (this.isVaried) return this.written(this.valid(draw))
    const slot = draw.chance.int(0, SLOTS - 1)
    const day = Math.floor(draw.now / DAY)
    if (day !== this.day) {
      this.slots = []
      this.day = day
    }
    return this.slots[slot] ?? this.fill(slot, day)
  }

  compile(): void {
    try {
      const { clause, kept, source } = this
      if (clause !== undefined) withinSteps(STEPS_PER_SLOT, () => source.accepts(kept, clause))
    } catch (error) {
      if (!(error instanceof OutOfSteps)) throw error
    }
  }

  // Neither the value of a slot nor the cost for an item depends on which item needs the slot first.
  private fill(slot: number, day: number): string {
    const draw = new Draw(new Chance(SLOTS, slot), day * DAY, 'all')
    const text = inOnePiece(this.written(withinSteps(STEPS_PER_SLOT, () => this.valid(draw))))
    if (text.length <= MAX_KEPT_TEXT) this.slots[slot] = text
    return text
  }

  private valid(draw: Draw): Json {
    try {
      const value = this.maker.make(draw)
      if (value === undefined) return this.kept
      return this.clause === undefined || this.source.accepts(value, this.clause) ? value : this.kept
    } catch (error) {
      if (error instanceof OutOfSteps) return this.kept
      throw error
    }
  }

  private written(value: Json): string {
    if (typeof value === 'number') return this.before + value
    return typeof value === 'string' && PLAIN.test(value)
      ? `${this.before}"${value}"`
      : this.before + JSON.stringify(value)
  }
}

/** The same text in one piece. V8 keeps the result of `+` as a tree, whose parts would be copied separately into every item. */
function inOnePiece(text: string): string {
  return Buffer.from(text).toString()
}
