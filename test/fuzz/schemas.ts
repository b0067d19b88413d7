import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { Chance } from '../../src/core/random.ts'
import { schemaIssues } from '../../src/json-schema/check.ts'
import { Outputs } from '../../src/json-schema/outputs.ts'
import { judge } from '../support/judge.ts'
import { knownSchema, wildSchema } from './random-schemas.ts'

// Generates outputs for random schemas: npm run fuzz:schemas [-- COUNT [SEED]]. Half of the schemas are arbitrary, half are
// built around a known value. Two other validators check every output. Two processes share the schemas; the n-th schema of a
// seed is the same in both. A piece of work counts with its elapsed time, or with its processor time if that is less: waiting
// for a processor does not count.

const [count = 100_000, seed = 1, part = -1] = process.argv.slice(2).map(Number)
const PROCESSES = 2
const NOW = Date.parse('2026-03-01T12:00:00Z')
const MAX_SLICE = 50
const MAX_LISTED = 30
/** The first schemas of a process do not count, because code is loaded and compiled for them. */
const WARM_UP = 50
const PROGRESS = 1_000

interface Tally {
  schemas: number
  satisfied: number
  readonly reasons: Record<string, number>
  readonly missed: string[]
}

interface Result {
  readonly wild: Tally
  readonly known: Tally
  readonly invalid: string[]
  readonly slow: string[]
  longest: number
}

const tally = (): Tally => ({ schemas: 0, satisfied: 0, reasons: {}, missed: [] })
const empty = (): Result => ({ wild: tally(), known: tally(), invalid: [], slow: [], longest: 0 })

/** The milliseconds of each piece of work. */
type Pieces = number[]

function timed<T>(pieces: Pieces, byProcessor: boolean, work: () => T): T {
  const before = byProcessor ? process.cpuUsage() : undefined
  const begin = performance.now()
  const result = work()
  const took = performance.now() - begin
  const { user, system } = byProcessor ? process.cpuUsage(before) : { user: Infinity, system: 0 }
  pieces.push(Math.min(took, (user + system) / 1_000))
  return result
}

/** Examines a schema and generates three values, in pieces. */
function outputsFor(schema: JsonObject, n: number, byProcessor = false) {
  const pieces: Pieces = []
  const piece = <T>(work: () => T): T => timed(pieces, byProcessor, work)
  const issues = piece(() => schemaIssues(schema, ''))
  if (issues.length > 0) throw new Error(`refused: ${JSON.stringify(issues)}: ${JSON.stringify(schema)}`)
  const outputs = new Outputs(schema)
  for (let { pending } = outputs; pending !== undefined; ) {
    const work = pending
    if (piece(() => work.next()).done === true) pending = undefined
  }
  const values = [0, 1, 2].map((item) => piece(() => outputs.text(new Chance(seed, n, item), NOW)))
  return { reason: outputs.unsatisfiable, values, longest: Math.max(...pieces) }
}

function tryOne(schema: JsonObject, result: Result, of: Tally, valid: (value: Json) => boolean, n: number) {
  of.schemas++
  const text = JSON.stringify(schema)
  const { reason, values, longest } = outputsFor(schema, n)
  if (n > WARM_UP * PROCESSES) {
    let ms = longest
    // The least of several runs, so that garbage collection and other processes do not count.
    for (let again = 0; again < 3 && ms > MAX_SLICE; again++)
      ms = Math.min(ms, outputsFor(schema, n, true).longest)
    result.longest = Math.max(result.longest, ms)
    if (ms > MAX_SLICE) result.slow.push(`${ms.toFixed(0)} ms: ${text}`)
  }
  if (reason === undefined) {
    of.satisfied++
    for (const value of values)
      if (value === undefined || !valid(JSON.parse(value))) result.invalid.push(`${value}: ${text}`)
    return
  }
  const word = reason.detail.split(' ')[0] ?? ''
  of.reasons[word] = (of.reasons[word] ?? 0) + 1
  if (of === result.known) of.missed.push(`${reason.pointer} ${reason.detail}: ${text}`)
}

/** Tests every second schema, as one of two processes. */
function share(which: number): Result {
  const result = empty()
  for (let pair = which; 2 * pair < count; pair += PROCESSES) {
    const [n, next] = [2 * pair, 2 * pair + 1]
    const schema = {
      type: 'object',
      properties: { v: wildSchema(new Chance(seed, 'schema', n)) },
      required: ['v'],
    }
    tryOne(schema, result, result.wild, judge(schema), n)
    if (next >= count) break
    const made = knownSchema(new Chance(seed, 'schema', next))
    const whole = { ...made.schema, type: 'object' }
    const valid = judge(whole)
    if (valid(made.value)) tryOne(whole, result, result.known, valid, next)
    if ((pair - which) % PROGRESS === 0) report(which, next, result)
  }
  return result
}

function report(which: number, n: number, { wild, known, invalid, slow, longest }: Result): void {
  const missed = known.schemas - known.satisfied
  process.stderr.write(
    `process ${which} at ${n} of ${count}: ${wild.schemas + known.schemas} schemas, ${invalid.length} invalid values, ${missed} of ${known.schemas} known values missed, ${slow.length} pieces over ${MAX_SLICE} ms, longest ${longest.toFixed(1)} ms\n`,
  )
}

function add(to: Tally, { schemas, satisfied, reasons, missed }: Tally): void {
  to.schemas += schemas
  to.satisfied += satisfied
  to.missed.push(...missed)
  for (const [word, times] of Object.entries(reasons)) to.reasons[word] = (to.reasons[word] ?? 0) + times
}

async function all(): Promise<Result> {
  const result = empty()
  const parts = Array.from({ length: PROCESSES }, async (_, which) => {
    const child = fork(fileURLToPath(import.meta.url), [`${count}`, `${seed}`, `${which}`])
    const [part] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [Result | number]
    if (typeof part !== 'object') throw new Error(`process ${which} ended with ${part}`)
    add(result.wild, part.wild)
    add(result.known, part.known)
    result.invalid.push(...part.invalid)
    result.slow.push(...part.slow)
    result.longest = Math.max(result.longest, part.longest)
  })
  await Promise.all(parts)
  return result
}

function portion({ schemas, satisfied }: Tally): string {
  return `${satisfied} of ${schemas} (${((100 * satisfied) / Math.max(1, schemas)).toFixed(2)} %)`
}

const listed = (reasons: Tally['reasons']): string =>
  Object.entries(reasons)
    .sort((a, b) => b[1] - a[1])
    .map(([word, times]) => `${word} ${times}`)
    .join(', ')

function print({ wild, known, invalid, slow, longest }: Result): void {
  process.stdout.write(
    [
      `${count} schemas of seed ${seed} in ${Math.round(performance.now() / 1_000)} s`,
      `around a known value: a value for ${portion(known)}`,
      `wild: a value for ${portion(wild)}; without one by keyword: ${listed(wild.reasons)}`,
      `invalid values: ${invalid.length}`,
      ...invalid.slice(0, MAX_LISTED),
      `longest piece: ${longest.toFixed(1)} ms; over ${MAX_SLICE} ms: ${slow.length}`,
      ...slow.slice(0, MAX_LISTED),
      `known values that were not found: ${known.schemas - known.satisfied}; by keyword: ${listed(known.reasons)}`,
      ...known.missed.slice(0, MAX_LISTED),
      '',
    ].join('\n'),
  )
  process.exitCode = invalid.length > 0 || slow.length > 0 || known.satisfied < 0.995 * known.schemas ? 1 : 0
}

// Otherwise Node would look for a source map of every compiled validator.
process.setSourceMapsEnabled(false)
if (part < 0) print(await all())
else {
  const result = share(part)
  process.send?.(result)
}
