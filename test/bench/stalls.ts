import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Shot, shoot } from './load.ts'
import { batchBody, KEY, type Running, scratch, startOurs } from './servers.ts'

/**
 * `npm run bench -- --stalls`: how long a request may have to wait. The 99th percentile of creations beside checkpoints of
 * 100,000 records, against that of a quiet emulator; and the longest time for which the event loop was kept in
 * `--seconds N` (600) of mixed load.
 */
const { values } = parseArgs({
  options: { stalls: { type: 'boolean' }, seconds: { type: 'string', default: '600' } },
})
const SECONDS = Number(values.seconds)
const RECORDS = 100_000
const CREATIONS = 20_000

const say = (what: string, figures: string): void =>
  void process.stdout.write(`${what.padEnd(58)} ${figures}\n`)

const get = (path: string) => ({ method: 'GET', path })
const post = (path: string, body: string) => ({ method: 'POST', path, body })
const page = post('/v1/pages', '{"name":"Roof plan"}')

/** Milliseconds of each of many creations, one after the other. */
async function creations({ port }: Running, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const begin = performance.now()
    await shoot(agent, { port, key: KEY, ...page })
    times.push(performance.now() - begin)
  }
  agent.destroy()
  return times.sort((a, b) => a - b)
}

async function benchCheckpoints(): Promise<void> {
  const [quiet, large] = [await startOurs(scratch()), await startOurs(scratch(), RECORDS)]
  const figures: Record<'quiet' | 'large', number[]> = { quiet: [], large: [] }
  // In turns, so that both see the same noise. Each creation makes the next checkpoint due.
  for (let round = 0; round < 10; round++) {
    figures.quiet.push(...(await creations(quiet, CREATIONS / 10)))
    figures.large.push(...(await creations(large, CREATIONS / 10)))
  }
  const p99 = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
  const [a, b] = [p99(figures.large), p99(figures.quiet)]
  say(
    `create a page, p99 beside checkpoints of ${RECORDS} records`,
    `${(a / b).toFixed(2)}x  (${a.toFixed(2)} ms against ${b.toFixed(2)} ms)`,
  )
  await Promise.all([quiet.stop(), large.stop()])
}

/** A client that sends its request again and again until the time is over. */
async function client(shot: Shot, end: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let sent = 0
  for (; performance.now() < end; sent++) {
    const { status } = await shoot(agent, shot)
    if (status !== 200 && status !== 204)
      throw new Error(`${shot.method} ${shot.path} answered ${status}: it was to be load, not errors`)
  }
  agent.destroy()
  return sent
}

async function benchMixedLoad(): Promise<void> {
  const folder = scratch()
  const file = join(folder, 'stall.json')
  process.env.STALL_FILE = file
  process.env.NODE_OPTIONS = `--require ${resolve('test/bench/stall-probe.cjs')}`
  const server = await startOurs(folder)
  delete process.env.NODE_OPTIONS
  const { port } = server
  const send = (request: Omit<Shot, 'port' | 'key'>): Shot => ({ port, key: KEY, ...request })
  const batch = await shoot(new Agent(), send(post('/v1/batch-predictions', batchBody(100))), true)
  const { id } = JSON.parse(batch.text) as { id: string }
  // A second of everything first: code that runs for the first time has to be compiled.
  const load: readonly Shot[] = [
    get(`/v1/batch-predictions/${id}`),
    get('/v1/organization/teamspaces/ts-a/users?limit=100'),
    page,
    post('/v1/batch-predictions', batchBody(500)),
    get('/__emulator/requests?limit=20'),
    get('/__emulator/clock'),
    post('/__emulator/clock/advance', '{"by":"1m"}'),
  ].map(send)
  const run = async (seconds: number): Promise<number> => {
    const end = performance.now() + seconds * 1000
    const counts = await Promise.all(load.map((shot) => client(shot, end)))
    return counts.reduce((sum, each) => sum + each, 0)
  }
  await run(2)
  server.signal('SIGUSR2')
  const sent = await run(SECONDS)
  await server.stop()
  const { max, p99, p999 } = JSON.parse(readFileSync(file, 'utf8')) as Record<'max' | 'p99' | 'p999', number>
  say(
    `longest stall in ${SECONDS} s of mixed load, ${Math.round(sent / SECONDS)} requests/s`,
    `${max.toFixed(1)} ms (p99.9 ${p999.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms)`,
  )
}

await benchCheckpoints()
await benchMixedLoad()
