import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Chance } from '../../../src/core/random.ts'
import { later } from '../../../src/core/time/realtime.ts'
import { KEY } from '../../bench/servers.ts'
import { below, type Figure, none, type Proof, type Scale, timing, tried } from '../proof.ts'
import { Stage } from '../stage.ts'
import { Connection, openSocket } from './connection.ts'
import { corpus } from './corpus.ts'
import { pick } from './values.ts'

const SIZES = {
  short: { mutations: 500, block: 50 },
  long: { mutations: 50_000, block: 100 },
} as const satisfies Record<Scale, object>

const SEED = 20_260_302

/** Connections at the same time, each with its own bytes. */
const AT_ONCE = 10

/** Real milliseconds until the proof closes a connection, which a server may keep open to wait for the rest of a request. */
const PATIENCE = 2_000

/** Maximum real milliseconds of a normal request after a block of malformed ones. */
const PROMPT = 50

/** Tokens with a meaning for an HTTP parser. */
const TOKENS = [
  ...['\r\n', '\n', '\r', '\r\n\r\n', ' ', ':', '\0', '\t', '%', '\xff'],
  ...['HTTP/1.1', 'Content-Length: ', '0\r\n\r\n', 'chunked'],
]

/** Removes, adds, changes or repeats one to four pieces of some bytes, or cuts their end. */
function mutated(bytes: Buffer, chance: Chance): Buffer {
  let text = bytes.toString('latin1')
  for (let times = chance.int(1, 4); times > 0; times--) {
    const at = chance.int(0, text.length)
    const put = pick(chance, [
      '',
      String.fromCharCode(chance.int(0, 255)),
      pick(chance, TOKENS),
      text.slice(at, at + chance.int(1, 64)).repeat(2),
    ])
    const cut = pick(chance, [0, 1, chance.int(1, 64), text.length])
    text = text.slice(0, at) + put + text.slice(at + cut)
  }
  return Buffer.from(text, 'latin1')
}

export const f2: Proof = {
  id: 'F2',
  promise: 'The emulator survives any bytes on a connection and responds to the next request at once.',
  run: async (scale, say) => {
    const { mutations, block } = SIZES[scale]
    await using stage = new Stage()
    const started = stage.start()
    const port = await started.port
    const run = new Run(port, say)
    const entries = corpus(port)
    for (const { description, bytes } of entries) await run.block(description, [bytes])
    for (let from = 0; from < mutations; from += block) {
      const chance = new Chance(SEED, 'bytes', from)
      const sent = Array.from({ length: block }, () =>
        mutated(pick(chance, entries.slice(0, -1)).bytes, chance),
      )
      await run.block(`mutations from ${from}`, sent)
      if (from % 10_000 === 0) say(`F2: ${from} mutations`)
    }
    const { code } = await started.stop()
    const { defects } = started
    if (defects[0] !== undefined) say(`F2: it printed ${defects[0].message}`)
    return [
      tried('seed', SEED),
      tried('malformed requests of the corpus', entries.length),
      tried('byte mutations', mutations),
      ...run.figures(scale),
      none('exits before the end', code ?? -1),
      none('internal errors reported by the emulator', defects.length),
    ]
  },
}

class Run {
  readonly #port: number
  readonly #say: (line: string) => void
  readonly #times: number[] = []
  readonly counts = { refused: 0, html: 0, unformed: 0, failed: 0 }

  constructor(port: number, say: (line: string) => void) {
    this.#port = port
    this.#say = say
  }

  /** Sends some bytes, ten connections at a time, then a normal request. */
  async block(description: string, all: readonly Buffer[]): Promise<void> {
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const some = all.slice(from, from + AT_ONCE)
      const responses = await Promise.all(
        some.map((bytes, n) => sendRaw(this.#port, bytes, (from + n) % 8 === 7)),
      )
      for (const [n, text] of responses.entries()) this.#look(description, text, some[n] ?? Buffer.alloc(0))
    }
    await this.#normal(description)
  }

  #look(description: string, text: string, sent: Buffer): void {
    const complain = (kind: keyof Run['counts'], what: string): void => {
      this.counts[kind] += 1
      if (this.counts.failed + this.counts.html + this.counts.unformed > 20) return
      const bytes = JSON.stringify(sent.toString('latin1').slice(0, 400))
      this.#say(`F2: ${kind} for ${description}: ${what.slice(0, 300)}\n  sent ${bytes}`)
    }
    for (const head of text.match(/^HTTP\/1\.1 \d{3} [\s\S]*?\r\n\r\n/gm) ?? []) {
      const status = Number(head.slice(9, 12))
      if (status >= 500) complain('failed', head)
      // Responses outside the API have no rate-limit headers.
      const isOfControl = sent.includes('__emulator')
      if (!isOfControl && status !== 100 && !/\r\nx-ratelimit-limit: \d/i.test(head))
        complain('unformed', head)
    }
    if (/<!doctype|<html|node_modules|\n {4}at /i.test(text)) complain('html', text)
  }

  async #normal(description: string): Promise<void> {
    const connection = new Connection(() => openSocket(this.#port))
    const host = `Host: 127.0.0.1:${this.#port}`
    const head = `GET /v1/data-views?limit=1 HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${KEY}\r\n\r\n`
    const started = performance.now()
    const response = await connection.exchange(Buffer.from(head))
    this.#times.push(performance.now() - started)
    connection.close()
    if (typeof response !== 'string' && response.status === 200) return
    this.counts.refused += 1
    this.#say(`F2: after "${description}" a normal request got ${JSON.stringify(response)}`)
  }

  figures(scale: Scale): Figure[] {
    const times = this.#times.toSorted((a, b) => a - b)
    const percentile = Math.round(times[Math.floor((times.length - 1) * 0.99)] ?? 0)
    return [
      tried('normal requests after them', times.length),
      tried('slowest normal request', `${Math.round(times.at(-1) ?? 0)} ms`),
      timing(scale, below('normal requests, 99th percentile', percentile, PROMPT, 'ms')),
      none('normal requests with another status than 200', this.counts.refused),
      none('responses with 5xx', this.counts.failed),
      none('responses without rate-limit headers', this.counts.unformed),
      none('responses with HTML or a stack', this.counts.html),
    ]
  }
}

/**
 * Sends bytes over a new connection, ends its side, and collects the response until the connection ends.
 * @param abruptly resets the connection instead, like a client that crashes
 */
function sendRaw(port: number, bytes: Buffer, abruptly: boolean): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const done = (): void => {
      cancel()
      socket.destroy()
      resolve(Buffer.concat(pieces).toString('latin1'))
    }
    const cancel = later(PATIENCE, done)
    socket.on('data', (piece) => pieces.push(piece))
    socket.on('error', done)
    socket.on('close', done)
    if (abruptly) socket.write(bytes, () => socket.resetAndDestroy())
    else socket.end(bytes)
  })
}
