import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { load, shoot } from './load.ts'
import { batchBody, KEY, median, type Running, scratch, startOurs } from './servers.ts'

/**
 * `tsx test/bench/endpoints.ts --against FILE`: what endpoints of the user cost built-in operations. FILE is the command of a
 * build without them, its dist/cli.js. The two builds take turns; each figure is the ratio of this build to the other one, in
 * processor time, which other work of the machine changes less than real time. It never fails.
 */
const { values } = parseArgs({
  options: { against: { type: 'string' }, rounds: { type: 'string', default: '20' } },
})
const { against = '', rounds } = values
const ROUNDS = Number(rounds)
if (!statSync(against, { throwIfNoEntry: false })?.isFile()) {
  process.stderr.write('--against takes the command of another build, its dist/cli.js.\n')
  process.exit(2)
}

const PAGES = 5_000

const WORKLOADS = [
  {
    what: 'a page of one user',
    count: 600,
    method: 'GET',
    path: '/v1/organization/teamspaces/ts-a/users?limit=1',
  },
  {
    what: 'a page of 100 users',
    count: 300,
    method: 'GET',
    path: '/v1/organization/teamspaces/ts-a/users?limit=100',
  },
  { what: 'create a page', count: 300, method: 'POST', path: '/v1/pages', body: '{"name":"Roof plan"}' },
  {
    what: 'create a batch of 1,000 items',
    count: 10,
    method: 'POST',
    path: '/v1/batch-predictions',
    body: batchBody(1_000),
  },
] as const

function quartiles(all: readonly number[]): [low: number, high: number] {
  const sorted = [...all].sort((a, b) => a - b)
  return [sorted[Math.floor(sorted.length / 4)] ?? 0, sorted[Math.floor((3 * sorted.length) / 4)] ?? 0]
}

function print(what: string, ratios: readonly number[], more = ''): void {
  const [low, high] = quartiles(ratios).map((each) => each.toFixed(3))
  process.stdout.write(`| ${what} | ${median(ratios).toFixed(3)} | ${low} to ${high} |${more}\n`)
}

/** Calls each of two in turn, the other one first in every second round. @returns the ratios of the second to the first */
async function inTurns(measure: (which: 0 | 1) => Promise<number>): Promise<number[]> {
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const figures = [0, 0]
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
      figures[which] = await measure(which)
    ratios.push((figures[1] ?? 0) / (figures[0] ?? 1))
  }
  return ratios
}

async function processorOf(server: Running, { count, ...shot }: (typeof WORKLOADS)[number]): Promise<number> {
  const before = server.processor()
  await load({ ...shot, port: server.port, key: KEY }, { requests: count }, 8)
  return server.processor() - before
}

const empty = join(scratch(), 'endpoints')
mkdirSync(empty)
const flags = ['--endpoints', empty]
const startOne = (which: 0 | 1) =>
  startOurs(scratch(), 100, which === 0 ? [] : flags, which === 0 ? against : undefined)

process.stdout.write(`${ROUNDS} rounds, load of the machine ${loadavg()[0]?.toFixed(1)}\n`)
process.stdout.write('| | this build / other build | middle half of the rounds |\n|---|---|---|\n')
const both = [await startOne(0), await startOne(1)] as const
for (const workload of WORKLOADS) {
  for (const server of both) for (let n = 0; n < 3; n++) await processorOf(server, workload)
  print(workload.what, await inTurns((which) => processorOf(both[which], workload)))
}
for (const server of both) await server.stop()

const real: number[] = []
const starts = await inTurns(async (which) => {
  const server = await startOne(which)
  const used = server.processor()
  if (which === 1) real.push(server.started)
  await server.stop()
  return used
})
print('start to the first response, empty folder', starts, ` real time ${median(real).toFixed(0)} ms`)

const own = join(scratch(), 'endpoints')
mkdirSync(own)
writeFileSync(
  join(own, 'search.js'),
  `export default { method: 'GET', path: '/search', handle: ({ query, records, list, caller }) => ({
  body: list(records('pages').visibleTo(caller).filter(({ name }) => name.includes(query.q))),
}) }`,
)
const server = await startOurs(scratch(), PAGES, ['--endpoints', own])
const agent = new Agent({ keepAlive: true })
const times: number[] = []
const used: number[] = []
for (let n = 0; n < 40; n++) {
  const begin = performance.now()
  const before = server.processor()
  const { status } = await shoot(agent, {
    port: server.port,
    method: 'GET',
    path: '/v1/search?q=99',
    key: KEY,
  })
  if (status !== 200) throw new Error(`the search responded with ${status}`)
  if (n < 20) continue
  times.push(performance.now() - begin)
  used.push(server.processor() - before)
}
await server.stop()
const [low, high] = quartiles(times).map((each) => each.toFixed(1))
process.stdout.write(
  `A search over ${PAGES} pages: ${median(times).toFixed(1)} ms over HTTP, middle half ${low} to ${high} ms; ${median(used).toFixed(1)} ms of processor time.\n`,
)
process.exit(0)
