import { readFileSync } from 'node:fs'
import { readFixtures } from '../../../src/adapters/fixtures.ts'
import { shippedFile } from '../../../src/adapters/package.ts'
import { fitsGlob } from '../../../src/core/log/glob.ts'
import { Chance } from '../../../src/core/random.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { outputsOf } from '../../../src/json-schema/outputs.ts'
import { guardJson } from '../../../src/server/http/json-body.ts'
import { builtState, startAt } from '../../support/built-state.ts'
import { below, type Figure, type Proof, type Scale, timing } from '../proof.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const EMPTY = JSON.parse(readFileSync(shippedFile('fixtures', 'empty.json'), 'utf8'))
const MIB = 1024 * 1024
const TRIES = 3

/** Processor time in milliseconds, the least of three runs, so that other load on the machine does not count. */
async function costOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < TRIES; n++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

const INVOICE = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    issued_on: { type: 'string', format: 'date' },
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
    total: { type: 'number', multipleOf: 0.01, minimum: 0 },
    paid: { type: 'boolean' },
  },
}

function outputs(count: number): void {
  const made = outputsOf(INVOICE)
  const chance = new Chance(1, 'outputs')
  for (let n = 0; n < count; n++) made.text(chance, NOW)
}

function plainText(): Buffer {
  const body = Buffer.alloc(100 * MIB, 'x')
  body.write('["')
  body.write('","', 50 * MIB)
  body.write('"]', 100 * MIB - 2)
  return body
}

async function records(count: number): Promise<number> {
  const generate = { users: count, memberships: count, conversations: count, messages: count }
  const fixtures = await readFixtures({ ...EMPTY, generate })
  const start = startAt(NOW)
  return costOf(() => builtState(fixtures, start, workspaceService))
}

async function run(scale: Scale): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  const cost = async (what: string, bound: number, work: () => unknown) => {
    figures.push(timing(scale, below(what, Math.round(await costOf(work)), bound, 'ms')))
  }
  const text = plainText()
  await cost('guard of 100 MiB of plain text', 200, () => guardJson(text))
  const escaped = Buffer.from(`"${'\\"'.repeat(25 * MIB)}"`)
  await cost('guard of 50 MiB of escaped quotes', 250, () => guardJson(escaped))
  const objects = Buffer.from(`{"items":[${'{},'.repeat(30_000_000)}{}]}`, 'latin1')
  await cost('guard of 30 million objects', 250, () => guardJson(objects))
  outputs(500)
  await cost('outputs of a batch of 5,000 items', 1_000, () => outputs(5_000))
  await cost('100 globs that almost fit everywhere', 1_000, () => {
    for (let n = 0; n < 100; n++) fitsGlob(`*${'a'.repeat(6_000)}b*`, 'a'.repeat(12_000))
  })
  await records(1_000)
  const growth = (await records(12_000)) / (await records(3_000))
  // Linear work needs four times as long, quadratic work sixteen times.
  figures.push(timing(scale, below('times as long for four times as many records', Math.round(growth), 9)))
  return figures
}

export const t1: Proof = {
  id: 'T1',
  promise: 'The time of a request is proportional to its size, and short.',
  run,
}
