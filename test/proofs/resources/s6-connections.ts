import { connect, type Socket } from 'node:net'
import { below, type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { comesTrue, Stage } from '../stage.ts'
import { timing } from '../timing.ts'

/** The number of open connections; it is the maximum of the emulator. */
const HELD = 1_000

/** Connections that are opened at the same time. */
const WAVE = 50

/** Connections that are opened when the maximum is reached. */
const NEWCOMERS: Readonly<Record<Scale, number>> = { short: 50, long: 1_000 }

/** A connection, the received text, and whether the emulator has closed it. */
class Line {
  readonly #socket: Socket
  readonly #port: number
  #hear: () => void = () => {}
  text = ''
  isOver = false

  constructor(port: number) {
    this.#port = port
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('error', () => {})
    this.#socket.setEncoding('latin1').on('data', (data) => {
      this.text += data
      this.#hear()
    })
    const over = (): void => {
      this.isOver = true
      this.#hear()
    }
    this.#socket.on('end', over).on('close', over)
  }

  /** Requests the health. @returns whether a response arrived */
  async ask(): Promise<boolean> {
    this.#send('GET', '/__emulator/health', '')
    await this.#heard()
    return this.text.startsWith('HTTP/1.1 200 ')
  }

  /** Waits for a request that never arrives. Resolves when the emulator has started the wait. */
  async wait(): Promise<void> {
    const json = JSON.stringify({ match: { method: 'PUT' }, timeout_ms: 600_000 })
    const type = `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n`
    this.#send('POST', '/__emulator/requests/wait', `${type}Expect: 100-continue\r\n`)
    await this.#heard()
    this.text = ''
    this.#socket.write(json)
  }

  #send(method: string, path: string, headers: string): void {
    this.#socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${this.#port}\r\n${headers}\r\n`)
  }

  #heard(): Promise<void> {
    return new Promise((resolve) => {
      this.#hear = () => {
        if (this.text.includes('\r\n\r\n') || this.isOver) resolve()
      }
      this.#hear()
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Requests the health over new connections, one after the other; the connections stay open. */
async function newcomers(port: number, count: number, lines: Line[]) {
  let [refused, slowest] = [0, 0]
  for (let n = 0; n < count; n++) {
    const begun = performance.now()
    const line = new Line(port)
    lines.push(line)
    if (!(await line.ask())) refused += 1
    slowest = Math.max(slowest, performance.now() - begun)
  }
  return { refused, slowest: Math.round(slowest) }
}

/** Opens connections up to the maximum. Those of a wave have the same age, and are older than those of the next wave. */
async function inWaves(port: number, lines: Line[], begin: (line: Line) => Promise<unknown>): Promise<void> {
  while (lines.length < HELD) {
    const wave = Array.from({ length: WAVE }, () => new Line(port))
    lines.push(...wave)
    await Promise.all(wave.map(begin))
  }
}

async function idle(port: number, scale: Scale): Promise<readonly Figure[]> {
  const lines: Line[] = []
  try {
    await inWaves(port, lines, (line) => line.ask())
    const all = [...lines]
    const count = NEWCOMERS[scale]
    const { refused, slowest } = await newcomers(port, count, lines)
    const oldest = all.slice(0, count)
    const areOver = await comesTrue(() => oldest.every(({ isOver }) => isOver))
    return [
      tried('idle connections', HELD),
      tried('new ones in addition to them', count),
      none('of them without a response', refused),
      timing(scale, below('slowest of them', slowest, 250, 'ms')),
      none('older ones kept open', areOver ? 0 : oldest.filter(({ isOver }) => !isOver).length),
      none('newer ones closed', all.slice(count).filter(({ isOver }) => isOver).length),
    ]
  } finally {
    for (const line of lines) line.close()
  }
}

async function waiting(port: number, scale: Scale): Promise<readonly Figure[]> {
  const lines: Line[] = []
  const some: Line[] = []
  try {
    await inWaves(port, lines, (line) => line.wait())
    const count = NEWCOMERS.short
    const { refused, slowest } = await newcomers(port, count, some)
    await comesTrue(() => lines.some(({ isOver }) => isOver))
    const ended = lines.filter(({ text }) => text !== '')
    const told = ended.filter(({ text }) => /^HTTP\/1\.1 503 .*"error":"service_unavailable"/s.test(text))
    return [
      tried('connections that wait', HELD),
      none('new ones in addition to them without a response', refused),
      timing(scale, below('slowest of them', slowest, 250, 'ms')),
      none('waits ended without a 503', lines.filter(({ isOver }) => isOver).length - told.length),
      none(
        'waits ended beyond the oldest',
        ended.filter((line) => !lines.slice(0, WAVE).includes(line)).length,
      ),
      // The first newcomer replaces a wait; each later one replaces an earlier newcomer, which is idle by then.
      none('waits ended other than one', Math.abs(ended.length - 1)),
    ]
  } finally {
    for (const line of [...lines, ...some]) line.close()
  }
}

async function run(scale: Scale, say: (line: string) => void): Promise<readonly Figure[]> {
  await using stage = new Stage()
  const started = stage.start()
  const port = await started.port
  const figures: Figure[] = []
  for (const part of [idle, waiting]) {
    figures.push(...(await part(port, scale)))
    say(part.name)
  }
  const notices = started.log.filter(({ message }) => message.includes('connections are open'))
  const { code } = await started.stop()
  return [
    ...figures,
    none('notices other than one', Math.abs(notices.length - 1)),
    none('exit code', code ?? -1),
  ]
}

export const s6: Proof = {
  id: 'S6',
  promise:
    'Idle and waiting connections do not block other clients: at the limit the oldest of them are closed.',
  run,
}
