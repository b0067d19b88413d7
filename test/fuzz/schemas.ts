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
// seed is the same in both. An item counts with its elapsed time, or with its processor time if that is less: waiting for a
// processor does not count. The first item of a schema includes its examination.

const [count = 100_000, seed = 1, part = -1] = process.argv.slice(2).map(Number)
const PROCESSES = 2
const NOW = Date.parse('2026-03-01T12:00:00Z')
/** Milliseconds that one item may take. */
const MAX_ITEM = 2_000
const MAX_LISTED = 30
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

/** Milliseconds of one item, elapsed or of the processor. */
function timed<T>(work: () => T): { readonly result: T; readonly ms: number } {
  const [begin, before] = [performance.now(), process.cpuUsage()]
  const result = work()
  const { user, system } = process.cpuUsage(before)
  return { result, ms: Math.min(performance.now() - begin, (user + system) / 1_000) }
}

function outputsFor(schema: JsonObject, n: number) {
  const issues = schemaIssues(schema, '')
  if (issues.length > 0) throw new Error(`refused: ${JSON.stringify(issues)}: ${JSON.stringify(schema)}`)
  const outputs = new Outputs(schema)
  const items = [0, 1, 2].map((item) => timed(() => outputs.text(new Chance(seed, n, item), NOW)))
  return {
    reason: outputs.unsatisfiable,
    values: items.map(({ result }) => result),
    longest: Math.max(...items.map(({ ms }) => ms)),
  }
}

function tryOne(schema: JsonObject, result: Result, of: Tally, valid: (value: Json) => boolean, n: number) {
  of.schemas++
  const text = JSON.stringify(schema)
  const { reason, values, longest } = outputsFor(schema, n)
  result.longest = Math.max(result.longest, longest)
  if (longest > MAX_ITEM) result.slow.push(`${longest.toFixed(0)} ms: ${text}`)
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
    const properties = { v: wildSchema(new Chance(seed, 'schema', n)) }
    const schema = { type: 'object', properties, required: ['v'] }
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
    `process ${which} at ${n} of ${count}: ${wild.schemas + known.schemas} schemas, ${invalid.length} invalid values, ${missed} of ${known.schemas} known values missed, ${slow.length} items over ${MAX_ITEM} ms, longest ${longest.toFixed(1)} ms\n`,
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

function listed(reasons: Tally['reasons']): string {
  const sorted = Object.entries(reasons).sort((a, b) => b[1] - a[1])
  return sorted.map(([word, times]) => `${word} ${times}`).join(', ')
}

function print({ wild, known, invalid, slow, longest }: Result): void {
  process.stdout.write(
    [
      `${count} schemas of seed ${seed} in ${Math.round(performance.now() / 1_000)} s`,
      `around a known value: a value for ${portion(known)}`,
      `wild: a value for ${portion(wild)}; without one by keyword: ${listed(wild.reasons)}`,
      `invalid values: ${invalid.length}`,
      ...invalid.slice(0, MAX_LISTED),
      `longest item: ${longest.toFixed(1)} ms; over ${MAX_ITEM} ms: ${slow.length}`,
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
