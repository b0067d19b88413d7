import { join } from 'node:path'
import { load, type Shot } from './load.ts'
import {
  ask,
  batchBody,
  median,
  type Running,
  say,
  scratch,
  shotAt,
  startDemo,
  startMinimal,
  startOurs,
} from './servers.ts'

/**
 * `npm run bench`: the cost of the emulator, as ratios to a minimal Express application in the same run. Machines differ
 * and are noisy, so rounds are interleaved, medians are compared, and nothing is asserted. `-- --compare` compares with other
 * npm servers (compare.ts).
 */
const ROUNDS = 5
const CONNECTIONS = 32
const ITEMS = 5_000

const rate = (value: number): string => (value >= 100 ? `${Math.round(value)}/s` : `${value.toFixed(1)}/s`)

/** Measures requests per second of both servers in interleaved rounds; prints both and their ratio. */
async function compare(
  what: string,
  ours: Shot,
  theirs: Shot,
  count: number,
  connections: number,
): Promise<void> {
  const [a, b]: [number[], number[]] = [[], []]
  await load(ours, { requests: Math.ceil(count / 4) }, connections)
  await load(theirs, { requests: Math.ceil(count / 4) }, connections)
  for (let round = 0; round < ROUNDS; round++) {
    a.push(await load(ours, { requests: count }, connections))
    b.push(await load(theirs, { requests: count }, connections))
  }
  say(what, `${(median(a) / median(b)).toFixed(2)}x  (${rate(median(a))} against ${rate(median(b))})`)
}

async function create(server: Running, body: string): Promise<string> {
  const text = await ask(shotAt(server, 'POST', '/v1/batch-predictions', body))
  return (JSON.parse(text) as { id: string }).id
}

async function advance(server: Running, by: string) {
  const text = await ask(shotAt(server, 'POST', '/__emulator/clock/advance', JSON.stringify({ by })))
  return JSON.parse(text) as { readonly events: readonly object[] }
}

async function benchStart(): Promise<void> {
  const [ours, again, theirs]: [number[], number[], number[]] = [[], [], []]
  const kept = scratch()
  await (await startDemo(kept)).stop()
  for (let round = 0; round < ROUNDS + 2; round++) {
    for (const [list, begin] of [
      [theirs, startMinimal],
      [ours, () => startDemo(scratch())],
      [again, () => startDemo(kept)],
    ] as const) {
      const server = await begin()
      list.push(server.started)
      await server.stop()
    }
  }
  const figures = (list: readonly number[]) =>
    `${(median(list) / median(theirs)).toFixed(2)}x  (${median(list).toFixed(0)} ms against ${median(theirs).toFixed(0)} ms)`
  say('spawn to first 200, new sandbox, demo (lower is better)', figures(ours))
  say('spawn to first 200, demo on disk (lower is better)', figures(again))
}

async function benchRequests(ours: Running, theirs: Running): Promise<void> {
  const both = (method: string, path: string, body?: string): [Shot, Shot] => [
    shotAt(ours, method, path, body),
    shotAt(theirs, method, path, body),
  ]
  const read = async (server: Running): Promise<Shot> =>
    shotAt(server, 'GET', `/v1/batch-predictions/${await create(server, batchBody(3))}`)
  const users = both('GET', '/v1/organization/teamspaces/ts-a/users?limit=100')
  const pages = both('POST', '/v1/pages', '{"name":"Roof plan"}')
  const batches = both('POST', '/v1/batch-predictions', batchBody(ITEMS))
  await compare('read a batch, 32 connections', await read(ours), await read(theirs), 6_000, CONNECTIONS)
  await compare('list 100 users, 32 connections', ...users, 4_000, CONNECTIONS)
  await compare('create a page (durable against in memory)', ...pages, 5_000, CONNECTIONS)
  await compare('create a batch of 5,000 items, 1 connection', ...batches, 60, 1)
}

async function benchStream(ours: Running, theirs: Running): Promise<void> {
  const results = async (server: Running): Promise<Shot> =>
    shotAt(server, 'GET', `/v1/batch-predictions/${await create(server, batchBody(ITEMS))}/results`)
  const [own, other] = [await results(ours), await results(theirs)]
  await advance(ours, '1h')
  const lines = await ask(own)
  if (lines.trimEnd().split('\n').length !== ITEMS)
    throw new Error('the stream does not have a line for every item')
  await compare('stream 5,000 result lines, 1 connection', own, other, 20, 1)
}

async function benchLargeEmulator(): Promise<void> {
  const [small, large] = [await startOurs(scratch()), await startOurs(scratch(), 100_000)]
  const shot = (server: Running) => shotAt(server, 'POST', '/v1/pages', '{"name":"x"}')
  await compare('create a page, 100,000 records against none', shot(large), shot(small), 5_000, CONNECTIONS)
  say(
    'memory with 100,000 records',
    `${large.memory().toFixed(0)} MiB against ${small.memory().toFixed(0)} MiB with none`,
  )
  await Promise.all([small.stop(), large.stop()])
}

async function benchAdvance(): Promise<void> {
  const server = await startOurs(scratch())
  for (let n = 0; n < 100; n++) await create(server, batchBody(ITEMS))
  const begin = performance.now()
  const { events } = await advance(server, '30d')
  const seconds = (performance.now() - begin) / 1000
  say('advance 30 days over 100 batches of 5,000 items', `${seconds.toFixed(2)} s, ${events.length} events`)
  say('memory with 100 batches of 5,000 items', `${server.memory().toFixed(0)} MiB`)
  await server.stop()
}

async function benchBoot(): Promise<void> {
  const folder = scratch()
  const first = await startOurs(folder, 70_000)
  await first.stop()
  const { statSync } = await import('node:fs')
  const megabytes = statSync(join(folder, 'data', 'default.json')).size / 1e6
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const server = await startOurs(folder)
    times.push(server.started)
    await server.stop()
  }
  say(`boot on a state file of ${megabytes.toFixed(0)} MB`, `${median(times).toFixed(0)} ms`)
}

async function benchAll(): Promise<void> {
  const [ours, theirs] = [await startOurs(scratch()), await startMinimal()]
  say('memory at start', `${ours.memory().toFixed(0)} MiB against ${theirs.memory().toFixed(0)} MiB`)
  await benchRequests(ours, theirs)
  await benchStream(ours, theirs)
  await Promise.all([ours.stop(), theirs.stop()])
  await benchStart()
  await benchLargeEmulator()
  await benchAdvance()
  await benchBoot()
  await import('./sandboxes.ts')
  await import('./snapshots.ts')
}

if (process.argv.includes('--compare')) await import('./compare.ts')
else await benchAll()
