import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Chance } from '../../../src/core/random.ts'
import { later } from '../../../src/core/time/realtime.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { mutateBytes } from './bytes.ts'
import { Connection, openSocket } from './connection.ts'
import { corpus } from './corpus.ts'
import { type OwnProcess, ownProcess } from './emulator.ts'
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

/** F2: malformed requests over raw sockets. */
export const f2: Proof = {
  id: 'F2',
  promise: 'The emulator survives any bytes on a connection and responds to the next request at once.',
  run: (scale, say) => runBytes(SIZES[scale], say, scale === 'long'),
}

/** Sends the corpus, then this many mutations of it. @param timed whether slow normal requests fail the proof */
export async function runBytes(
  { mutations, block }: { readonly mutations: number; readonly block: number },
  say: (line: string) => void,
  timed = false,
  seed = SEED,
): Promise<readonly Figure[]> {
  const emulator = await ownProcess()
  try {
    const run = new Run(emulator, say)
    const entries = corpus(emulator.port)
    for (const { description, bytes } of entries) await run.block(description, [bytes])
    for (let from = 0; from < mutations; from += block) {
      const chance = new Chance(seed, 'bytes', from)
      const count = Math.min(block, mutations - from)
      const sent = Array.from({ length: count }, () =>
        mutateBytes(pick(chance, entries.slice(0, -1)).bytes, chance),
      )
      await run.block(`seed ${seed}, mutations from ${from}`, sent)
      if (from % 10_000 === 0) say(`F2: ${from} mutations`)
    }
    return run.figures(entries.length, mutations, timed, seed)
  } finally {
    await emulator.stop()
  }
}

class Run {
  readonly #emulator: OwnProcess
  readonly #say: (line: string) => void
  readonly #times: number[] = []
  #refused = 0
  #html = 0
  #unformed = 0
  #failed = 0

  constructor(emulator: OwnProcess, say: (line: string) => void) {
    this.#emulator = emulator
    this.#say = say
  }

  /** Sends some bytes, ten connections at a time, then a normal request. */
  async block(description: string, all: readonly Buffer[]): Promise<void> {
    for (let from = 0; from < all.length; from += AT_ONCE) {
      const some = all.slice(from, from + AT_ONCE)
      const responses = await Promise.all(
        some.map((bytes, n) => sendRaw(this.#emulator.port, bytes, (from + n) % 8 === 7)),
      )
      for (const [n, text] of responses.entries()) this.#look(description, text, some[n] ?? Buffer.alloc(0))
    }
    await this.#normal(description)
  }

  #look(description: string, text: string, sent: Buffer): void {
    for (const head of text.match(/^HTTP\/1\.1 \d{3} [\s\S]*?\r\n\r\n/gm) ?? []) {
      const status = Number(head.slice(9, 12))
      if (status >= 500) {
        this.#failed += 1
        this.#complain('a 5xx', description, head, sent)
      }
      // Responses outside the API have no rate-limit headers.
      const isOfControl = sent.includes('__emulator')
      if (!isOfControl && status !== 100 && !/\r\nx-ratelimit-limit: \d/i.test(head)) {
        this.#unformed += 1
        this.#complain('no rate-limit headers', description, head, sent)
      }
    }
    if (/<!doctype|<html|node_modules|\n {4}at /i.test(text)) {
      this.#html += 1
      this.#complain('HTML or a stack', description, text, sent)
    }
  }

  async #normal(description: string): Promise<void> {
    const { port } = this.#emulator
    const connection = new Connection(() => openSocket(port))
    const head = `GET /v1/data-views?limit=1 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${KEYS.KU}\r\n\r\n`
    const started = performance.now()
    const response = await connection.exchange(Buffer.from(head))
    this.#times.push(performance.now() - started)
    connection.close()
    if (typeof response !== 'string' && response.status === 200) return
    this.#refused += 1
    this.#say(`F2: after "${description}" a normal request got ${JSON.stringify(response)}`)
  }

  #complain(what: string, description: string, text: string, sent: Buffer): void {
    if (this.#failed + this.#html + this.#unformed > 20) return
    this.#say(
      `F2: ${what} for ${description}: ${text.slice(0, 300)}\n  sent ${JSON.stringify(sent.toString('latin1').slice(0, 400))}`,
    )
  }

  figures(entries: number, mutations: number, timed: boolean, seed: number): Figure[] {
    const times = this.#times.toSorted((a, b) => a - b)
    const percentile = Math.round(times[Math.floor((times.length - 1) * 0.99)] ?? 0)
    const defects = this.#emulator.said().match(/defect/gi)?.length ?? 0
    if (this.#emulator.said() !== '') this.#say(`F2: it printed ${this.#emulator.said().slice(0, 2_000)}`)
    return [
      tried('seed', seed),
      tried('malformed requests of the corpus', entries),
      tried('byte mutations', mutations),
      tried('normal requests after them', times.length),
      tried('slowest normal request', `${Math.round(times.at(-1) ?? 0)} ms`),
      {
        what: 'normal requests, 99th percentile',
        value: `${percentile} ms`,
        promised: `< ${PROMPT} ms`,
        holds: !timed || percentile < PROMPT,
      },
      none('exits', this.#emulator.isAlive() ? 0 : 1),
      none('internal errors reported by the emulator', defects),
      none('normal requests with another status than 200', this.#refused),
      none('responses with 5xx', this.#failed),
      none('responses without rate-limit headers', this.#unformed),
      none('responses with HTML or a stack', this.#html),
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
