import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { KEY } from '../../bench/servers.ts'
import { Client } from '../client.ts'
import { below, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { pause, Stage } from '../stage.ts'
import { timing } from '../timing.ts'
import { idleLoop } from './idle-loop.ts'
import { type Probed, startProbed } from './probe.ts'

/** Items of a batch, and the approximate bytes of each result line. */
interface Plan {
  readonly items: number
  readonly bytes: number
}

const PLANS: Readonly<Record<Scale, readonly Plan[]>> = {
  short: [{ items: 200, bytes: 20_000 }],
  long: [
    { items: 5_000, bytes: 20_000 },
    { items: 5_000, bytes: 1_000 },
    { items: 5_000, bytes: 150 },
  ],
}

/** Maximum milliseconds that other requests may wait. */
const STALL = 20

/** A schema with enough properties for lines of this length. */
function schemaOf(bytes: number): object {
  const count = Math.ceil(bytes / 500)
  const names = Array.from({ length: count }, (_, n) => `field_${n}`)
  const length = Math.floor(bytes / count) - 20
  const field = { type: 'string', minLength: length, maxLength: length }
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, field])),
    required: names,
  }
}

async function finished(client: Client, { items, bytes }: Plan): Promise<string> {
  const { id } = await client.post('/v1/batch-predictions', {
    prompt: 'Read the invoice.',
    model: 'model-1',
    output_schema: schemaOf(bytes),
    items: Array.from({ length: items }, (_, n) => ({ file_id: 'file-1', custom_id: `item-${n}` })),
  })
  await client.post(`/__emulator/batches/${id}/complete`)
  return id
}

/** Reads a stream as fast as possible, in a separate process. @returns its bytes and lines */
async function readFast(port: number, path: string): Promise<{ bytes: number; lines: number }> {
  const script = `const { get } = require('node:http')
    const headers = { authorization: 'Bearer ${KEY}' }
    get({ host: '127.0.0.1', port: ${port}, path: ${JSON.stringify(path)}, headers }, (res) => {
      let [bytes, lines] = [0, 0]
      res.on('data', (data) => {
        bytes += data.length
        for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, at + 1)) lines += 1
      })
      res.on('end', () => console.log(JSON.stringify({ bytes, lines })))
    })`
  const child = spawn(process.execPath, ['--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(child.stdout))
}

async function stream(probed: Probed, plan: Plan, scale: Scale): Promise<readonly Figure[]> {
  const client = new Client(probed.port)
  const path = `/v1/batch-predictions/${await finished(client, plan)}/results`
  await probed.lateness()
  using machine = idleLoop()
  let [isOver, others, slowest] = [false, 0, 0]
  const decision = readFast(probed.port, path).finally(() => {
    isOver = true
  })
  while (!isOver) {
    const begun = performance.now()
    await client.get('/v1/data-views')
    slowest = Math.max(slowest, performance.now() - begun)
    others += 1
    await pause(2)
  }
  const { bytes, lines } = await decision
  const loop = await probed.lateness()
  const stall = await machine.longestOwn(loop.stalls)
  const idle = await machine.lateness()
  client.close()
  const what = `${plan.items} x ${Math.round(bytes / plan.items)} bytes`
  return [
    none(`${what}: lines missing`, plan.items - lines),
    timing(scale, below(`${what}: longest stall of the event loop`, round1(stall), STALL, 'ms')),
    tried(`${what}: with the stalls of the machine`, `${round1(loop.longest)} ms`),
    tried(`${what}: other requests during the stream`, others),
    tried(`${what}: slowest of them, as its client sees it`, `${round1(slowest)} ms`),
    tried(`${what}: longest stall of an idle process during the stream`, `${round1(idle.longest)} ms`),
  ]
}

const round1 = (value: number): number => Math.round(value * 10) / 10

async function run(scale: Scale, say: (line: string) => void): Promise<readonly Figure[]> {
  await using stage = new Stage()
  const probed = await startProbed(stage)
  const figures: Figure[] = []
  // A first stream, so that the code is compiled.
  await stream(probed, { items: 100, bytes: 1_000 }, 'short')
  for (const plan of PLANS[scale]) {
    const found = await stream(probed, plan, scale)
    figures.push(...found)
    say(found.map(({ what, value }) => `${what}: ${value}`).join(', '))
  }
  const { code } = await probed.started.stop()
  return [...figures, none('exit code', code ?? -1)]
}

export const s5: Proof = {
  id: 'S5',
  promise: 'While a fast client reads a stream of results, other requests are served between its lines.',
  run,
}
