import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { shoot } from '../../bench/load.ts'
import { KEY } from '../../bench/servers.ts'
import { below, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { comesTrue, pause, Stage } from '../stage.ts'
import { timing } from '../timing.ts'

interface Plan {
  readonly connections: number
  /** Milliseconds between two bytes of each connection. */
  readonly drip: number
  /** Milliseconds during which other requests are served. */
  readonly meanwhile: number
}

const PLANS: Readonly<Record<Scale, Plan>> = {
  short: { connections: 20, drip: 100, meanwhile: 1_500 },
  long: { connections: 500, drip: 1_000, meanwhile: 14_000 },
}

/** Milliseconds after which an incomplete head is cut, and the permitted delay. */
const HEADERS_TIMEOUT = 10_000
const LATE = 2_000

/** A connection whose request never ends. */
class Dripping {
  readonly #socket: Socket
  readonly #begun = performance.now()
  readonly #timer: NodeJS.Timeout
  #said = ''
  /** Milliseconds until the server closed it; undefined while it is open. */
  lived: number | undefined

  constructor(port: number, drip: number) {
    this.#socket = connect(port, '127.0.0.1')
    // Bytes after the cut cause a reset.
    this.#socket.on('error', () => {})
    this.#socket.write(`GET /v1/data-views HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: `)
    this.#timer = setInterval(() => this.#socket.write('x'), drip)
    this.#socket.setEncoding('latin1').on('data', (text) => {
      this.#said += text
    })
    const end = (): void => {
      clearInterval(this.#timer)
      this.lived ??= performance.now() - this.#begun
    }
    this.#socket.on('end', end).on('close', end)
  }

  /** Whether it got an error response of the API with the reason of the cut. */
  get isAnswered(): boolean {
    const [head = '', body = ''] = this.#said.split('\r\n\r\n')
    const headers = [
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'x-emulator-request-id',
    ]
    const lines = head.toLowerCase().split('\r\n')
    return (
      head.startsWith('HTTP/1.1 408 ') &&
      headers.every((name) => lines.some((line) => line.startsWith(`${name}:`))) &&
      body.includes('"status_code":408')
    )
  }

  destroy(): void {
    clearInterval(this.#timer)
    this.#socket.destroy()
  }
}

/** Sends requests as ordinary clients do. @returns the duration of each response, and the number of missing ones */
async function ordinary(port: number, ms: number): Promise<{ took: number[]; lost: number }> {
  const agent = new Agent({ keepAlive: true })
  const end = performance.now() + ms
  const took: number[] = []
  let lost = 0
  while (performance.now() < end) {
    const begun = performance.now()
    const response = await shoot(agent, { port, method: 'GET', path: '/v1/data-views', key: KEY }).catch(
      () => undefined,
    )
    took.push(performance.now() - begun)
    if (response?.status !== 200) lost += 1
    await pause(20)
  }
  agent.destroy()
  return { took: took.sort((a, b) => a - b), lost }
}

async function run(scale: Scale, say: (line: string) => void): Promise<readonly Figure[]> {
  await using stage = new Stage()
  const { connections, drip, meanwhile } = PLANS[scale]
  const started = stage.start()
  const port = await started.port
  const dripping = Array.from({ length: connections }, () => new Dripping(port, drip))
  try {
    const { took, lost } = await ordinary(port, meanwhile)
    const p99 = took[Math.floor(took.length * 0.99)] ?? 0
    say(`${took.length} ordinary requests beside ${connections} dripping ones`)
    const figures = [
      tried('connections that drip', connections),
      tried('other requests during this time', took.length),
      none('of them without a response', lost),
      timing(scale, below('their 99 %', Math.round(p99), 50, 'ms')),
      ...(scale === 'long' ? cut(dripping) : []),
    ]
    const { code } = await started.stop()
    const closed = await comesTrue(() => dripping.every(({ lived }) => lived !== undefined))
    return [...figures, none('open after the end', closed ? 0 : 1), none('exit code', code ?? -1)]
  } finally {
    for (const each of dripping) each.destroy()
  }
}

function cut(dripping: readonly Dripping[]): readonly Figure[] {
  const lives = dripping.map(({ lived }) => lived ?? Number.POSITIVE_INFINITY)
  const early = lives.filter((lived) => lived < HEADERS_TIMEOUT - 100)
  return [
    below('the longest lived', Math.round(Math.max(...lives)), HEADERS_TIMEOUT + LATE + 1, 'ms'),
    none('cut too early', early.length),
    none('cut without 408 and rate-limit headers', dripping.filter(({ isAnswered }) => !isAnswered).length),
  ]
}

export const s3: Proof = {
  id: 'S3',
  promise: 'Requests that never end do not block other clients, and are cut with a response.',
  run,
}
