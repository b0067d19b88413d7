import { statSync } from 'node:fs'
import { Agent } from 'node:http'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { load, type Shot, shoot } from './load.ts'
import { installPeers, type Paths, PEERS } from './peers.ts'
import {
  batchBody,
  KEY,
  median,
  type Running,
  scratch,
  startMinimal,
  startOnPort,
  startOurs,
} from './servers.ts'

/**
 * The first part of `npm run bench`: the emulator in ratios to the minimal Express application. `--compare`: beside other npm
 * servers, which are installed into a temporary folder; docs/inside/performance.md shows the table. `--against FILE`: beside the
 * command of another build, such as an earlier version, which runs twice: the second shows how far two runs of one build differ.
 * `--rounds N` takes more time and has less noise.
 */
const { values } = parseArgs({
  options: {
    compare: { type: 'boolean' },
    against: { type: 'string' },
    rounds: { type: 'string', default: '9' },
  },
})
if (values.against !== undefined && !statSync(values.against, { throwIfNoEntry: false })?.isFile()) {
  process.stderr.write(
    `${values.against} is not a file. --against takes the command of a build, its dist/cli.js.\n`,
  )
  process.exit(2)
}
const ROUNDS = Number(values.rounds)
/** Milliseconds of a round, the same for each server, so that the code of all is compiled to the same degree. */
const ROUND_MS = 400
const WARM_UP_MS = 1_500

interface Server {
  readonly name: string
  readonly start: () => Promise<Running>
  readonly paths: Paths
}

const API: Paths = {
  list: '/v1/organization/teamspaces/ts-a/users?limit=100',
  pages: '/v1/pages',
  batches: '/v1/batch-predictions',
}

function servers(): readonly Server[] {
  const emulator = (name: string, cli?: string): Server => ({
    name,
    start: () => startOurs(scratch(), 0, [], cli),
    paths: API,
  })
  const own = [{ name: 'minimal Express', start: startMinimal, paths: API }, emulator('the emulator')]
  if (values.against !== undefined)
    return [...own, emulator('other build', values.against), emulator('other build again', values.against)]
  if (values.compare !== true) return own
  installPeers()
  return [
    ...own,
    ...PEERS.map(({ name, prepare, paths }) => ({
      name,
      paths,
      start: async () => {
        const port = await freePort()
        return startOnPort(prepare(scratch(), port), port, paths.list)
      },
    })),
  ]
}

/**
 * A workload: its request, the maximum number of requests in a round, and the number of connections. Two builds create equally many
 * records: with more of them, each takes longer.
 */
interface Workload {
  readonly what: string
  readonly count?: number
  readonly connections: number
  readonly request: (paths: Paths, id: string) => Pick<Shot, 'method' | 'path' | 'body'>
}

const get = (path: string) => ({ method: 'GET', path })
const post = (path: string, body: string) => ({ method: 'POST', path, body })
const BATCH = batchBody(5_000)

const WORKLOADS: readonly Workload[] = [
  ...[1, 32].flatMap((connections): Workload[] => {
    const what = (name: string) => ({ what: `${name}, ${connections} conn.`, connections })
    const count = values.against === undefined ? {} : { count: 3_000 }
    return [
      { ...what('read one batch'), request: ({ batches }, id) => get(`${batches}/${id}`) },
      { ...what('list 100 users'), request: ({ list }) => get(list) },
      { ...what('create a page'), ...count, request: ({ pages }) => post(pages, '{"name":"Roof plan"}') },
    ]
  }),
  {
    what: 'create a batch of 5,000 items',
    count: 8,
    connections: 1,
    request: ({ batches }) => post(batches, BATCH),
  },
]

type Figures = Map<string, Map<string, number[]>>

function note(figures: Figures, what: string, name: string, value: number): void {
  const row = figures.get(what) ?? new Map<string, number[]>()
  figures.set(what, row.set(name, [...(row.get(name) ?? []), value]))
}

const START = 'spawn to first 200 (less is better)'
const MEMORY = 'memory at start (less is better)'

/** The servers of a round. What comes first is faster or slower on some machines, so every other round begins with the last. */
function inTurn<T>(servers: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? servers : servers.toReversed()
}

async function measureStarts(all: readonly Server[], figures: Figures): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, start } of inTurn(all, round)) {
      const server = await start()
      note(figures, START, name, server.started)
      note(figures, MEMORY, name, server.memory())
      await server.stop()
    }
  }
}

/** Creates a batch of three items. @returns its id; for a server that stores nothing, its fixed id */
async function batchOn({ port }: Running, { batches }: Paths): Promise<string> {
  const { text } = await shoot(new Agent(), { port, key: KEY, ...post(batches, batchBody(3)) })
  return String((JSON.parse(text) as { id: unknown }).id)
}

async function measureRequests(all: readonly Server[], figures: Figures): Promise<void> {
  const running = await Promise.all(
    all.map(async ({ name, start, paths }) => {
      const server = await start()
      return { name, paths, server, id: await batchOn(server, paths) }
    }),
  )
  for (const { what, count, connections, request } of WORKLOADS) {
    const limit = count === undefined ? { ms: ROUND_MS } : { requests: count }
    const warmUp = count === undefined ? { ms: WARM_UP_MS } : { requests: 2 * count }
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { name, server, paths, id } of inTurn(running, round)) {
        const shot = { port: server.port, key: KEY, ...request(paths, id) }
        const rate = await load(shot, round === 0 ? warmUp : limit, connections)
        if (round > 0) note(figures, what, name, rate)
      }
    }
  }
  await Promise.all(running.map(({ server }) => server.stop()))
}

function print(all: readonly Server[], figures: Figures): void {
  const line = (cells: readonly string[]) => void process.stdout.write(`| ${cells.join(' | ')} |\n`)
  const names = all.map(({ name }) => name)
  const [processor] = cpus()
  process.stdout.write(
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} x ${processor?.model.trim() || process.arch}, ${ROUNDS} rounds\n\n`,
  )
  line(['ratio to the minimal Express application', ...names])
  line(['---', ...names.map(() => '---:')])
  for (const [what, row] of figures) {
    const yardstick = median(row.get(names[0] as string) as number[])
    const ratios = names.map((name) => (median(row.get(name) as number[]) / yardstick).toFixed(2))
    const unit = what === START ? 'ms' : what === MEMORY ? 'MiB' : '/s'
    line([what, `1 (${Math.round(yardstick)}${unit === '/s' ? unit : ` ${unit}`})`, ...ratios.slice(1)])
  }
  if (values.against !== undefined) printAgainst(line, figures)
  else if (values.compare)
    process.stdout.write(`\n${PEERS.map(({ name, lacks }) => `- ${name} ${lacks}.`).join('\n')}\n`)
}

// The quotient of each round, since servers of one round share the speed that the machine has at that time.
function printAgainst(line: (cells: readonly string[]) => void, figures: Figures): void {
  process.stdout.write('\n')
  line(['this build to the other', 'median', 'the other to itself', 'quarter', 'three quarters'])
  line(['---', '---:', '---:', '---:', '---:'])
  for (const [what, row] of figures) {
    const other = row.get('other build') as number[]
    const toOther = (name: string) =>
      (row.get(name) as number[])
        .map((value, round) => value / (other[round] as number))
        .sort((a, b) => a - b)
    const itself = toOther('other build again')
    const at = (share: number) => itself[Math.floor(share * (itself.length - 1))] as number
    line([
      what,
      ...[median(toOther('the emulator')), median(itself), at(0.25), at(0.75)].map((n) => n.toFixed(2)),
    ])
  }
}

const all = servers()
const figures: Figures = new Map()
await measureStarts(all, figures)
await measureRequests(all, figures)
print(all, figures)
