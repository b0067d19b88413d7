import { Agent } from 'node:http'
import { join } from 'node:path'
import { load, type Shot, shoot } from './load.ts'
import {
  batchBody,
  KEY,
  median,
  type Running,
  scratch,
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

const say = (what: string, figures: string): void =>
  void process.stdout.write(`${what.padEnd(58)} ${figures}\n`)
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

async function control(server: Running, method: string, path: string, body?: object) {
  const agent = new Agent()
  const shot = {
    port: server.port,
    method,
    path: `/__emulator${path}`,
    key: KEY,
    ...(body ? { body: JSON.stringify(body) } : {}),
  }
  const { status, text } = await shoot(agent, shot, true)
  if (status !== 200) throw new Error(`${method} ${path} responded with ${status}: ${text}`)
  return JSON.parse(text)
}

async function create(server: Running, path: string, body: string): Promise<string> {
  const { status, text } = await shoot(
    new Agent(),
    { port: server.port, method: 'POST', path, key: KEY, body },
    true,
  )
  if (status !== 200) throw new Error(`POST ${path} responded with ${status}: ${text}`)
  return (JSON.parse(text) as { id: string }).id
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
  const shots = (method: string, path: string, body?: string): [Shot, Shot] => {
    const shot = { method, path, key: KEY, ...(body === undefined ? {} : { body }) }
    return [
      { port: ours.port, ...shot },
      { port: theirs.port, ...shot },
    ]
  }
  const [a, b] = [
    await create(ours, '/v1/batch-predictions', batchBody(3)),
    await create(theirs, '/v1/batch-predictions', batchBody(3)),
  ]
  const read = (server: Running, id: string): Shot => ({
    port: server.port,
    method: 'GET',
    path: `/v1/batch-predictions/${id}`,
    key: KEY,
  })
  await compare('read a batch, 32 connections', read(ours, a), read(theirs, b), 6_000, CONNECTIONS)
  await compare(
    'list 100 users, 32 connections',
    ...shots('GET', '/v1/organization/teamspaces/ts-a/users?limit=100'),
    4_000,
    CONNECTIONS,
  )
  await compare(
    'create a page (durable against in memory)',
    ...shots('POST', '/v1/pages', '{"name":"Roof plan"}'),
    5_000,
    CONNECTIONS,
  )
  await compare(
    'create a batch of 5,000 items, 1 connection',
    ...shots('POST', '/v1/batch-predictions', batchBody(ITEMS)),
    60,
    1,
  )
}

async function benchStream(ours: Running, theirs: Running): Promise<void> {
  const id = await create(ours, '/v1/batch-predictions', batchBody(ITEMS))
  const other = await create(theirs, '/v1/batch-predictions', batchBody(ITEMS))
  await control(ours, 'POST', '/clock/advance', { by: '1h' })
  const results = (server: Running, batch: string): Shot => ({
    port: server.port,
    method: 'GET',
    path: `/v1/batch-predictions/${batch}/results`,
    key: KEY,
  })
  const lines = await shoot(new Agent(), results(ours, id), true)
  if (lines.text.trimEnd().split('\n').length !== ITEMS)
    throw new Error('the stream does not have a line for every item')
  await compare('stream 5,000 result lines, 1 connection', results(ours, id), results(theirs, other), 20, 1)
}

async function benchLargeEmulator(): Promise<void> {
  const [small, large] = [await startOurs(scratch()), await startOurs(scratch(), 100_000)]
  const shot = (server: Running): Shot => ({
    port: server.port,
    method: 'POST',
    path: '/v1/pages',
    key: KEY,
    body: '{"name":"x"}',
  })
  await compare('create a page, 100,000 records against none', shot(large), shot(small), 5_000, CONNECTIONS)
  say(
    'memory with 100,000 records',
    `${large.memory().toFixed(0)} MiB against ${small.memory().toFixed(0)} MiB with none`,
  )
  await Promise.all([small.stop(), large.stop()])
}

async function benchAdvance(): Promise<void> {
  const server = await startOurs(scratch())
  for (let n = 0; n < 100; n++) await create(server, '/v1/batch-predictions', batchBody(ITEMS))
  const begin = performance.now()
  const result = await control(server, 'POST', '/clock/advance', { by: '30d' })
  const seconds = (performance.now() - begin) / 1000
  say(
    'advance 30 days over 100 batches of 5,000 items',
    `${seconds.toFixed(2)} s, ${result.events.length} events`,
  )
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
