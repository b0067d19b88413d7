import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { Chance } from '../../src/core/random.ts'
import { schemaIssues } from '../../src/json-schema/check.ts'
import { Outputs } from '../../src/json-schema/outputs.ts'
import { knownSchema, wildSchema } from './random-schemas.ts'

// Makes outputs for random schemas: npm run fuzz:schemas [-- COUNT [SEED]]. Half of the schemas are wild, half are made
// around a known value. A stock validator judges every output; processor time shows the longest piece of work.

const [count = 100_000, seed = 1] = process.argv.slice(2).map(Number)
const NOW = Date.parse('2026-03-01T12:00:00Z')
const MAX_SLICE = 50
const MAX_LISTED = 30

interface Tally {
  schemas: number
  satisfied: number
  readonly reasons: Map<string, number>
  readonly missed: string[]
}

const tally = (): Tally => ({ schemas: 0, satisfied: 0, reasons: new Map(), missed: [] })
const wild = tally()
const known = tally()
const invalid: string[] = []
const slow: string[] = []
let longest = 0

/** Processor time of one piece of work. That of the collector and of the compiler of V8 is in it. */
function timed<T>(pieces: number[], work: () => T): T {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  pieces.push((user + system) / 1_000)
  return result
}

/**
 * The stock validator, in both of its modes: one skips `contains` on an array that is shorter than its prefixItems, the
 * other can take an `if` with `required: [""]` and `contains` for met. A value is invalid where both say so.
 */
function judge(schema: JsonObject): (value: Json) => boolean {
  const checks = [true, false].map((allErrors) => {
    const ajv = new Ajv2020({
      strict: false,
      logger: false,
      allErrors,
      ownProperties: true,
      validateSchema: false,
    })
    formats.default(ajv)
    return ajv.compile<Json>(schema)
  })
  return (value) => checks.some((check) => check(value))
}

/** Examines a schema and makes three values, piece by piece. */
function outputsFor(schema: JsonObject, n: number) {
  const pieces: number[] = []
  const issues = timed(pieces, () => schemaIssues(schema, ''))
  if (issues.length > 0) throw new Error(`refused: ${JSON.stringify(issues)}: ${JSON.stringify(schema)}`)
  const outputs = new Outputs(schema)
  for (let { pending } = outputs; pending !== undefined; ) {
    const work = pending
    if (timed(pieces, () => work.next()).done === true) pending = undefined
  }
  const values = [0, 1, 2].map((item) => timed(pieces, () => outputs.make(new Chance(seed, n, item), NOW)))
  return { reason: outputs.unsatisfiable, values, longest: Math.max(...pieces) }
}

function tryOne(schema: JsonObject, of: Tally, valid: (value: Json) => boolean, n: number): void {
  of.schemas++
  const text = JSON.stringify(schema)
  const made = outputsFor(schema, n)
  let ms = made.longest
  // The least of three: what the work takes, whatever else the process does.
  for (let again = 0; again < 2 && ms > MAX_SLICE; again++) ms = Math.min(ms, outputsFor(schema, n).longest)
  if (n > 20) longest = Math.max(longest, ms)
  if (n > 20 && ms > MAX_SLICE) slow.push(`${ms.toFixed(0)} ms: ${text}`)
  const { reason, values } = made
  if (reason === undefined) {
    of.satisfied++
    for (const value of values)
      if (value === undefined || !valid(value)) invalid.push(`${JSON.stringify(value)}: ${text}`)
    return
  }
  const word = reason.detail.split(' ')[0] ?? ''
  of.reasons.set(word, (of.reasons.get(word) ?? 0) + 1)
  if (of === known && of.missed.length < MAX_LISTED)
    of.missed.push(`${reason.pointer} ${reason.detail}: ${text}`)
}

function run(): void {
  for (let n = 0; n < count; n++) {
    const chance = new Chance(seed, 'schema', n)
    if (n % 2 === 0) {
      const schema = { type: 'object', properties: { v: wildSchema(chance) }, required: ['v'] }
      tryOne(schema, wild, judge(schema), n)
    } else {
      const { value, schema } = knownSchema(chance)
      const whole = { ...schema, type: 'object' }
      const valid = judge(whole)
      if (valid(value)) tryOne(whole, known, valid, n)
    }
    if (n % 5_000 === 4_999) process.stderr.write(`${n + 1} schemas\n`)
  }
}

function share({ schemas, satisfied }: Tally): string {
  return `${satisfied} of ${schemas} (${((100 * satisfied) / Math.max(1, schemas)).toFixed(2)} %)`
}

run()
const listed = (reasons: ReadonlyMap<string, number>): string =>
  [...reasons]
    .sort((a, b) => b[1] - a[1])
    .map(([word, times]) => `${word} ${times}`)
    .join(', ')
process.stdout.write(
  [
    `around a known value: a value for ${share(known)}`,
    `wild: a value for ${share(wild)}; without one by keyword: ${listed(wild.reasons)}`,
    `invalid values: ${invalid.length}`,
    ...invalid.slice(0, MAX_LISTED),
    `longest piece: ${longest.toFixed(1)} ms of processor time; over ${MAX_SLICE} ms: ${slow.length}`,
    ...slow.slice(0, MAX_LISTED),
    `known values that were not found: ${known.schemas - known.satisfied}; by keyword: ${listed(known.reasons)}`,
    ...known.missed,
    '',
  ].join('\n'),
)
process.exitCode = invalid.length > 0 || known.satisfied < 0.995 * known.schemas ? 1 : 0
