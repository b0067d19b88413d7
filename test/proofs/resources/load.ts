import { Agent } from 'node:http'
import { connect } from 'node:net'
import { shoot } from '../../bench/load.ts'
import { KEY } from '../../bench/servers.ts'
import { pause } from '../stage.ts'

const WORKERS = 32

const SCHEMA = {
  type: 'object',
  properties: Object.fromEntries(
    ['vendor', 'total', 'street', 'city', 'note'].map((name) => [name, { type: 'string' }]),
  ),
}

function batch(items: number): string {
  return JSON.stringify({
    prompt: 'Read the vendor and the total.',
    output_schema: SCHEMA,
    model: 'model-1',
    items: Array.from({ length: items }, (_, n) => ({ file_id: 'file-1', custom_id: `item-${n}` })),
  })
}

export interface Heard {
  requests: number
  readonly unexpected: string[]
}

interface Ask {
  readonly method: string
  readonly path: string
  readonly expect: readonly number[]
  readonly body?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A client of one emulator for one round of load, with its own connections. */
export class Round {
  readonly #port: number
  readonly #heard: Heard
  readonly #agent = new Agent({ keepAlive: true, maxSockets: WORKERS })
  readonly #batches: string[] = []
  #large = ''
  #next = 0

  constructor(port: number, heard: Heard) {
    this.#port = port
    this.#heard = heard
  }

  /** Resets the sandbox and creates the records that the load reads. */
  async begin(): Promise<void> {
    await this.control('POST', '/reset')
    this.#large = await this.#create({ ...CREATE, body: batch(5_000) })
    await this.control('POST', `/batches/${this.#large}/complete`)
    for (let n = 0; n < 5; n++) await this.#create(CREATE)
  }

  /** Sends this many requests per second for this many milliseconds; fewer if responses are late. */
  async load(rate: number, ms: number): Promise<void> {
    const begun = performance.now()
    const end = begun + ms
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        for (;;) {
          const n = this.#next++
          const due = begun + (n / rate) * 1_000
          if (due >= end || performance.now() >= end) return
          if (due > performance.now()) await pause(due - performance.now())
          await this.#step(n)
        }
      }),
    )
  }

  async control(method: string, path: string, body: object = {}): Promise<string> {
    const json = method === 'GET' ? {} : { body: JSON.stringify(body) }
    return this.#ask({ method, path: `/__emulator${path}`, expect: [200, 201, 204], ...json })
  }

  /** Reads the results or the stream of events slowly, a few bytes per second. @returns a function that stops it */
  readSlowly(feed: boolean): () => void {
    const path = feed ? '/__emulator/events' : `/v1/batch-predictions/${this.#large}/results`
    const socket = connect(this.#port, '127.0.0.1')
    const host = `Host: 127.0.0.1:${this.#port}`
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\n${host}\r\nAuthorization: Bearer ${KEY}\r\n\r\n`)
    socket.on('data', () => socket.pause())
    const sip = setInterval(() => socket.resume(), 250)
    return () => {
      clearInterval(sip)
      socket.destroy()
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  async #step(n: number): Promise<void> {
    const mixed = MIX[n % MIX.length]
    const some = this.#batches[n % this.#batches.length] ?? ''
    const asked = mixed?.(n, some, this.#large) ?? CREATE
    if (asked === CREATE) await this.#create({ ...CREATE, headers: { 'idempotency-key': `key-${n}` } })
    else await this.#ask(asked)
  }

  async #create(ask: Ask): Promise<string> {
    const text = await this.#ask(ask)
    const id = text.startsWith('{') ? (JSON.parse(text) as { id?: string }).id : undefined
    if (id === undefined) return ''
    this.#batches.push(id)
    if (this.#batches.length > 50) this.#batches.shift()
    return id
  }

  async #ask({ expect, key = KEY, ...ask }: Ask): Promise<string> {
    this.#heard.requests += 1
    try {
      const { status, text } = await shoot(this.#agent, { port: this.#port, key, ...ask })
      if (!expect.includes(status))
        this.#note(`${ask.method} ${ask.path} got ${status}: ${text.slice(0, 200)}`)
      return text
    } catch (error) {
      this.#note(`${ask.method} ${ask.path}: ${error}`)
      return ''
    }
  }

  // Bounded, because a server that has ended would fill the memory of the proof.
  #note(what: string): void {
    if (this.#heard.unexpected.length < 1_000) this.#heard.unexpected.push(what)
  }
}

const CREATE: Ask = { method: 'POST', path: '/v1/batch-predictions', body: batch(3), expect: [200] }
const get = (path: string, expect = [200]): Ask => ({ method: 'GET', path, expect })
const post = (path: string, body: object, expect = [200]): Ask => {
  return { method: 'POST', path, body: JSON.stringify(body), expect }
}

/** Twenty requests, repeated. `n` counts them; `some` is one of the latest batches, `large` one with 5,000 results. */
const MIX: readonly ((n: number, some: string, large: string) => Ask)[] = [
  () => get('/v1/organization/teamspaces/ts-a/users?limit=100'),
  () => get('/v1/organization/teamspaces/ts-a/users?limit=10'),
  () => get('/v1/data-views'),
  () => get('/v1/organization/mcp-servers'),
  (_, some) => get(`/v1/batch-predictions/${some}`),
  () => CREATE,
  (_, some) => get(`/v1/batch-predictions/${some}`),
  (n) => post('/v1/pages', { name: `Page ${n}` }),
  (_, some) => get(`/v1/batch-predictions/${some}`),
  (_, some) => post(`/v1/batch-predictions/${some}/cancel`, {}, [200, 409]),
  (n) => ({ ...CREATE, headers: { 'idempotency-key': `again-${Math.floor(n / 100)}` } }),
  (n) => ({ ...CREATE, headers: { 'idempotency-key': `again-${Math.floor(n / 100)}` } }),
  (_, some) => get(`/v1/batch-predictions/${some}/results`, [200, 409]),
  () => get('/v1/nowhere', [404]),
  () => post('/v1/pages', { nam: 1 }, [400]),
  () => ({ ...get('/v1/data-views', [401]), key: 'live_nobody' }),
  () => ({ method: 'POST', path: '/v1/pages', body: '{', expect: [400] }),
  () => get('/__emulator/requests?limit=20'),
  () => post('/__emulator/clock/advance', { by: '1s' }),
  (n, some, large) => get(`/v1/batch-predictions/${n % 500 === 19 ? large : some}/results`, [200, 409]),
]
