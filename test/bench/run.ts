import { statSync } from 'node:fs'
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
 * and are noisy, so rounds are interleaved, medians are compared, and nothing is asserted. compare.ts has the table of common
 * requests, and with `-- --compare` or `--against FILE` only that, beside other servers.
 */
const ROUNDS = 5
const CONNECTIONS = 32
const ITEMS = 5_000

const rate = (value: number): string => (value >= 100 ? `${Math.round(value)}/s` : `${value.toFixed(1)}/s`)

/** Measures requests per second of two servers in interleaved rounds; prints both and their ratio. */
async function compare(what: string, ours: Shot, theirs: Shot, requests: number, connections: number) {
  const [a, b]: [number[], number[]] = [[], []]
  for (const shot of [ours, theirs]) await load(shot, { requests: Math.ceil(requests / 4) }, connections)
  for (let round = 0; round < ROUNDS; round++) {
    a.push(await load(ours, { requests }, connections))
    b.push(await load(theirs, { requests }, connections))
  }
  say(what, `${(median(a) / median(b)).toFixed(2)}x  (${rate(median(a))} against ${rate(median(b))})`)
}

async function create(server: Running): Promise<string> {
  const text = await ask(shotAt(server, 'POST', '/v1/batch-predictions', batchBody(ITEMS)))
  return (JSON.parse(text) as { id: string }).id
}

async function advance(server: Running, by: string) {
  const text = await ask(shotAt(server, 'POST', '/__emulator/clock/advance', JSON.stringify({ by })))
  return JSON.parse(text) as { readonly events: readonly object[] }
}

async function benchStart(): Promise<void> {
  const kept = scratch()
  const starts = { new: () => startDemo(scratch()), 'on disk': () => startDemo(kept), minimal: startMinimal }
  const times: Record<string, number[]> = { new: [], 'on disk': [], minimal: [] }
  await (await startDemo(kept)).stop()
  for (let round = 0; round < ROUNDS + 2; round++) {
    for (const [name, start] of Object.entries(starts)) {
      const server = await start()
      times[name]?.push(server.started)
      await server.stop()
    }
  }
  const theirs = median(times.minimal ?? [])
  for (const name of ['new', 'on disk']) {
    const ours = median(times[name] ?? [])
    const figures = `${(ours / theirs).toFixed(2)}x  (${ours.toFixed(0)} ms against ${theirs.toFixed(0)} ms)`
    say(`spawn to first 200, demo ${name} (lower is better)`, figures)
  }
}

async function benchStream(): Promise<void> {
  const [ours, theirs] = [await startOurs(scratch()), await startMinimal()]
  const results = async (server: Running): Promise<Shot> =>
    shotAt(server, 'GET', `/v1/batch-predictions/${await create(server)}/results`)
  const [own, other] = [await results(ours), await results(theirs)]
  await advance(ours, '1h')
  const lines = await ask(own)
  if (lines.trimEnd().split('\n').length !== ITEMS)
    throw new Error('the stream does not have a line for every item')
  await compare('stream 5,000 result lines, 1 connection', own, other, 20, 1)
  await Promise.all([ours.stop(), theirs.stop()])
}

async function benchLargeEmulator(): Promise<void> {
  const [small, large] = [await startOurs(scratch()), await startOurs(scratch(), 100_000)]
  const shot = (server: Running) => shotAt(server, 'POST', '/v1/pages', '{"name":"x"}')
  await compare('create a page, 100,000 records against none', shot(large), shot(small), 5_000, CONNECTIONS)
  const memory = `${large.memory().toFixed(0)} MiB against ${small.memory().toFixed(0)} MiB with none`
  say('memory with 100,000 records', memory)
  await Promise.all([small.stop(), large.stop()])
}

async function benchAdvance(): Promise<void> {
  const server = await startOurs(scratch())
  for (let n = 0; n < 100; n++) await create(server)
  const begin = performance.now()
  const { events } = await advance(server, '30d')
  const seconds = (performance.now() - begin) / 1000
  say('advance 30 days over 100 batches of 5,000 items', `${seconds.toFixed(2)} s, ${events.length} events`)
  say('memory with 100 batches of 5,000 items', `${server.memory().toFixed(0)} MiB`)
  await server.stop()
}

async function benchBoot(): Promise<void> {
  const folder = scratch()
  await (await startOurs(folder, 70_000)).stop()
  const megabytes = statSync(join(folder, 'data', 'default.json')).size / 1e6
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const server = await startOurs(folder)
    times.push(server.started)
    await server.stop()
  }
  say(`boot on a state file of ${megabytes.toFixed(0)} MB`, `${median(times).toFixed(0)} ms`)
}

await import('./compare.ts')
if (process.argv.length === 2) {
  for (const part of [benchStart, benchStream, benchLargeEmulator, benchAdvance, benchBoot]) await part()
  await import('./sandboxes.ts')
  await import('./snapshots.ts')
}
