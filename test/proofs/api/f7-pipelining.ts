import { connect, type Socket } from 'node:net'
import { Client } from '../client.ts'
import { below, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { type Probed, startProbed } from '../resources/probe.ts'
import { pause, Stage } from '../stage.ts'
import { timing } from '../timing.ts'

interface Plan {
  readonly connections: number
  /** Requests on each connection, sent at once. */
  readonly requests: number
  /** Milliseconds during which no response is read. */
  readonly unread: number
}

const PLANS: Readonly<Record<Scale, Plan>> = {
  short: { connections: 2, requests: 100, unread: 500 },
  long: { connections: 8, requests: 1_000, unread: 20_000 },
}

/** The number of requests of a client that reads all responses in the end. */
const READ = 20

const STATUS_LINE = 'HTTP/1.1 200 OK\r\n'

/** MiB in addition to the memory of the process when it was ready. */
const MAX_MEMORY = 200

function requestsOf(port: number, count: number, last: string): string {
  const head = `GET /__emulator/state HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`
  return `${`${head}\r\n`.repeat(count - 1)}${head}Connection: ${last}\r\n\r\n`
}

/** A client that sends requests and does not read. */
function sender(port: number, bytes: string): Socket {
  const socket = connect(port, '127.0.0.1')
  // The emulator may cut the connection, and the proof closes it at the end.
  socket.on('error', () => {})
  socket.pause()
  socket.write(bytes)
  return socket
}

async function unread({ port, resident }: Probed, plan: Plan, scale: Scale): Promise<readonly Figure[]> {
  const before = resident().now
  const client = new Client(port)
  const senders = Array.from({ length: plan.connections }, () =>
    sender(port, requestsOf(port, plan.requests, 'keep-alive')),
  )
  let failed = 0
  const end = performance.now() + plan.unread
  while (performance.now() < end) {
    await client.get('/__emulator/health').catch(() => {
      failed += 1
    })
    await pause(50)
  }
  const above = Math.round(resident().most - before)
  for (const each of senders) each.destroy()
  client.close()
  return [
    tried('requests whose responses are not read', `${plan.connections} x ${plan.requests}`),
    tried('resident memory at the start', `${Math.round(before)} MiB`),
    // The amount of garbage at a given moment depends on the machine.
    timing(scale, below('most memory above the start', above, MAX_MEMORY, 'MiB')),
    none('other requests without a response during this time', failed),
  ]
}

/** The statuses of all responses to a client that starts to read late. */
async function readLate({ port }: Probed): Promise<readonly Figure[]> {
  const socket = sender(port, requestsOf(port, READ, 'close'))
  await pause(200)
  let tail = ''
  let responses = 0
  socket.on('data', (data: Buffer) => {
    const text = tail + data.toString('latin1')
    responses += text.split(STATUS_LINE).length - 1
    // A status line may arrive in two chunks; keep its first part, but never count a line twice.
    tail = text.slice(-STATUS_LINE.length + 1)
  })
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
  return [tried('requests that are read late', READ), none('of them without a response', READ - responses)]
}

async function run(scale: Scale, say: (line: string) => void): Promise<readonly Figure[]> {
  await using stage = new Stage()
  const probed = await startProbed(stage, ['--fixtures', 'large'])
  const figures = [...(await unread(probed, PLANS[scale], scale))]
  say(`unread: ${Math.round(probed.resident().most)} MiB resident at most`)
  figures.push(...(await readLate(probed)))
  const { code } = await probed.started.stop()
  return [...figures, none('exit code', code ?? -1)]
}

export const f7: Proof = {
  id: 'F7',
  promise:
    'The memory of a connection is bounded for any pipelined requests, even if their responses are not read.',
  run,
}
