import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { Chance } from '../../src/core/random.ts'
import { schemaIssues } from '../../src/json-schema/check.ts'
import { Outputs } from '../../src/json-schema/outputs.ts'

// The cost of very large schemas: npm run fuzz:large. The check at creation is one uninterrupted piece of work; it grows with
// the body, like reading it. Memory is measured after 300 values. tsx would add a third to it, because it names each
// function.

const NOW = Date.parse('2026-03-01T12:00:00Z')
const VALUES = 300

const list = <T>(size: number, of: (n: number) => T): T[] => Array.from({ length: size }, (_, n) => of(n))
const text = { type: 'string' }
const wide = (size: number, of: (n: number) => Json, more: object = {}): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(list(size, (n) => [`field_${n}`, of(n)])),
  ...more,
})
const nested = (levels: number, width: number): Json =>
  levels === 0
    ? text
    : wide(width, () => nested(levels - 1, width), { required: list(width, (n) => `field_${n}`) })
const deep = (levels: number): JsonObject =>
  (levels === 0 ? text : wide(1, () => deep(levels - 1))) as JsonObject

const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  '40 properties': wide(40, () => text),
  '1,000 properties, no others': wide(1_000, () => text, { additionalProperties: false }),
  '10,000 properties': wide(10_000, () => text),
  '20,000 bounded numbers': wide(20_000, (n) => ({ type: 'number', minimum: n, maximum: n + 5 })),
  '1,000 formats': wide(1_000, () => ({ type: 'string', format: 'uuid' })),
  '500 patterns': wide(500, (n) => ({ type: 'string', pattern: `^[A-Z]{${(n % 20) + 1}}-\\d{4}$` })),
  '1,000 lists of objects': wide(1_000, () => ({ type: 'array', items: wide(5, () => text) })),
  '200 conditions': wide(200, (n) =>
    wide(3, () => text, { if: { required: ['field_0'] }, then: { required: [`field_${n % 3}`] } }),
  ),
  'five levels of five': nested(5, 5) as JsonObject,
  'four levels of twelve': nested(4, 12) as JsonObject,
  '250 levels': deep(250),
  'an enum of 100,000': wide(1, () => ({ enum: list(100_000, (n) => `value ${n}`) })),
  '150 properties and unevaluatedProperties': wide(140, () => text, { unevaluatedProperties: false }),
  'a text of a million characters': wide(1, () => ({ type: 'string', minLength: 1_000_000 })),
  'a list of 20,000': wide(1, () => ({ type: 'array', items: { type: 'integer' }, minItems: 20_000 })),
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heap = (): number => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

/** Elapsed milliseconds, or processor time if that is less. */
function timed(work: () => unknown): number {
  const [begin, before] = [performance.now(), process.cpuUsage()]
  work()
  const { user, system } = process.cpuUsage(before)
  return Math.min(performance.now() - begin, (user + system) / 1_000)
}

function measure(schema: JsonObject) {
  const check = timed(() => schemaIssues(schema, ''))
  const before = heap()
  const outputs = new Outputs(schema)
  let [examine, done] = [0, false]
  while (!done)
    examine = Math.max(
      examine,
      timed(() => (done = outputs.pending?.next().done !== false)),
    )
  let value = 0
  for (let n = 0; n < VALUES; n++)
    value = Math.max(
      value,
      timed(() => outputs.text(new Chance(1, n), NOW)),
    )
  const memory = heap() - before
  return { check, examine, value, memory, reason: outputs.unsatisfiable?.detail ?? 'made' }
}

process.setSourceMapsEnabled(false)
for (const schema of Object.values(SCHEMAS).slice(0, 3)) measure(schema)
for (const [what, schema] of Object.entries(SCHEMAS)) {
  const rounds = list(3, () => measure(schema))
  const least = (of: (round: ReturnType<typeof measure>) => number) => Math.min(...rounds.map(of)).toFixed(1)
  process.stdout.write(
    `${what.padEnd(42)} check ${least((r) => r.check)} ms, examined in pieces of ${least((r) => r.examine)} ms, a value ${least((r) => r.value)} ms, ${least((r) => r.memory)} MiB, ${(JSON.stringify(schema).length / 1024).toFixed(0)} KiB: ${rounds[0]?.reason}\n`,
  )
}
