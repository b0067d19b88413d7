import { Agent } from 'node:http'
import { parseArgs } from 'node:util'
import { idleLoop } from '../proofs/resources/idle-loop.ts'
import { startProbed } from '../proofs/resources/probe.ts'
import { pause, Stage } from '../proofs/stage.ts'
import { type Shot, shoot } from './load.ts'
import { batchBody, KEY, type Running, scratch, startOurs } from './servers.ts'

/**
 * `npm run bench -- --stalls`: the longest wait of a request. Prints the 99th percentile of creations during checkpoints of
 * 100,000 records, compared with an idle emulator, and the longest time for which the event loop was blocked during
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

/** The milliseconds of many creations, one after the other. */
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
  // The rounds alternate, so that both see the same noise. Each creation makes the next checkpoint due.
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

/** A client that repeats its request, with a pause in milliseconds, until the end. */
async function client(shot: Shot, rest: number, end: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let sent = 0
  for (; performance.now() < end; sent++) {
    const { status } = await shoot(agent, shot)
    if (status !== 200 && status !== 204)
      throw new Error(`${shot.method} ${shot.path} responded with ${status}: the load must not cause errors`)
    await pause(rest)
  }
  agent.destroy()
  return sent
}

async function benchMixedLoad(): Promise<void> {
  await using stage = new Stage()
  const probed = await startProbed(stage)
  const send = (request: Omit<Shot, 'port' | 'key'>): Shot => ({ port: probed.port, key: KEY, ...request })
  const batch = await shoot(new Agent(), send(post('/v1/batch-predictions', batchBody(5_000))), true)
  const { id } = JSON.parse(batch.text) as { id: string }
  await shoot(new Agent(), send(post(`/__emulator/batches/${id}/complete`, '{}')))
  const load: readonly (readonly [Omit<Shot, 'port' | 'key'>, rest: number])[] = [
    [get(`/v1/batch-predictions/${id}`), 20],
    [get('/v1/organization/teamspaces/ts-a/users?limit=100'), 50],
    [page, 50],
    [get('/__emulator/clock'), 100],
    [get('/__emulator/requests?limit=20'), 500],
    [post('/v1/batch-predictions', batchBody(500)), 1_000],
    [get(`/v1/batch-predictions/${id}/results`), 1_000],
    [post('/__emulator/clock/advance', '{"by":"1m"}'), 1_000],
  ]
  const run = async (seconds: number): Promise<number> => {
    const end = performance.now() + seconds * 1000
    const counts = await Promise.all(load.map(([shot, rest]) => client(send(shot), rest, end)))
    return counts.reduce((sum, each) => sum + each, 0)
  }
  // Runs everything for some seconds first, so that the code is compiled.
  await run(5)
  using machine = idleLoop()
  await probed.lateness()
  const sent = await run(SECONDS)
  const { stalls, longest, p99 } = await probed.lateness()
  const own = await machine.longestOwn(stalls)
  const ms = (value: number): string => `${value.toFixed(1)} ms`
  say(
    `longest stall in ${SECONDS} s of mixed load, ${Math.round(sent / SECONDS)} requests/s`,
    `${ms(own)} (with the stalls of the machine ${ms(longest)}, of an idle process ${ms((await machine.lateness()).longest)}; p99 ${ms(p99)})`,
  )
}

await benchCheckpoints()
await benchMixedLoad()
