import { Agent } from 'node:http'
import { viaHttp } from '../../support/wire-client.ts'
import { type PresetCase, USERS } from './preset-case.ts'
import { dechunk, outcome, parse, split } from './views.ts'

interface WireCase {
  /** The view of a raw socket: how it ends, and the parts that have arrived by then. */
  readonly raw: {
    readonly end: 'fin' | 'rst' | 'open'
    readonly head: boolean
    readonly body: 'none' | 'part' | 'whole'
  }
  /** The outcome for an HTTP client, as of `outcome`. */
  readonly client: object
  /** The number of pages that exist after both requests. */
  readonly made: number
  /** Whether the preset stays until its rule is removed. */
  readonly stays?: boolean
}

const BROKEN = { status: null, broke: 'broken' }

/** Creates a page twice, each time with the rule armed again: first as bytes, then through the client. */
function connection(
  preset: string,
  { raw, client, made, stays = false }: WireCase,
  untilHeld = false,
): PresetCase {
  return {
    preset,
    run: async (subject) => {
      const pages = () => subject.sandbox.store.rows('pages').size
      await subject.arm(preset)
      const seen = await subject.raw('POST', '/pages', {
        json: { name: 'raw' },
        untilHeld,
      })
      await subject.arm(preset)
      const view = await subject.call('POST', '/pages', {
        json: { name: 'client' },
        untilHeld,
      })
      const made = pages()
      if (stays) await subject.clear()
      const then = await subject.call('POST', '/pages', { json: { name: 'then' } })
      const { head, body } = split(seen.text)
      const whole = parse(body.includes('\r\n') ? dechunk(body).payload : body) !== undefined
      return {
        raw: {
          end: seen.end,
          head: head.startsWith('HTTP/1.1 200'),
          body: whole ? 'whole' : body === '' ? 'none' : 'part',
        },
        client: outcome(view),
        made,
        then: then.status,
      }
    },
    expected: { raw, client, made, then: 200 },
  }
}

export const connectionCases: readonly PresetCase[] = [
  connection('fin-before-headers', {
    raw: { end: 'fin', head: false, body: 'none' },
    client: BROKEN,
    made: 2,
  }),
  connection('rst-before-headers', {
    raw: { end: 'rst', head: false, body: 'none' },
    client: BROKEN,
    made: 2,
  }),
  connection('browser-network-error', {
    raw: { end: 'fin', head: false, body: 'none' },
    client: BROKEN,
    made: 0,
  }),
  connection('cut-after-headers', {
    raw: { end: 'rst', head: true, body: 'none' },
    client: { status: 200, broke: 'broken' },
    made: 2,
  }),
  connection('cut-mid-body', {
    raw: { end: 'rst', head: true, body: 'part' },
    client: { status: 200, broke: 'broken' },
    made: 2,
  }),
  connection('chunked-truncated', {
    raw: { end: 'fin', head: true, body: 'whole' },
    client: { status: 200, broke: 'broken' },
    made: 2,
  }),
  connection('content-length-too-long', {
    raw: { end: 'fin', head: true, body: 'whole' },
    client: { status: 200, broke: 'broken' },
    made: 2,
  }),
  connection(
    'never-answers',
    {
      raw: { end: 'open', head: false, body: 'none' },
      client: { status: null, broke: 'timeout' },
      made: 0,
      stays: true,
    },
    true,
  ),
  connection(
    'stall-after-headers',
    { raw: { end: 'open', head: true, body: 'none' }, client: { status: 200, broke: 'timeout' }, made: 2 },
    true,
  ),
  connection('offline', {
    raw: { end: 'rst', head: false, body: 'none' },
    client: BROKEN,
    made: 0,
    stays: true,
  }),
  {
    preset: 'slow',
    run: async (subject) => {
      await subject.arm('slow')
      const order: string[] = []
      const late = subject.call('GET', USERS).then(({ status }) => order.push(`slow ${status}`))
      await subject.control('GET', '/clock').then(() => order.push('control'))
      await late
      return order
    },
    expected: ['control', 'slow 200'],
  },
  {
    preset: 'slow-drip',
    run: async (subject) => {
      await subject.arm('slow-drip', { do: [{ pace: { bytes: 16, gap_ms: 20, max_ms: 60_000 } }] })
      const { pieces, end, text } = await subject.raw('POST', '/pages', { json: { name: 'x' } })
      const { body } = split(text)
      // A late first or last piece can contain other bytes.
      const sizes = pieces.slice(1, -1).map((piece) => piece.length)
      const inSixteens = sizes.every((size) => size % 16 === 0)
      return { end, whole: parse(body)?.name, inSixteens, several: sizes.length > 1 }
    },
    expected: { end: 'fin', whole: 'x', inSixteens: true, several: true },
  },
  {
    preset: 'stale-keepalive',
    run: async (subject) => {
      await subject.arm('stale-keepalive')
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const client = viaHttp(agent)
      const headers = { Authorization: 'Bearer live_owner' }
      const url = `http://127.0.0.1:${subject.port}/@${subject.sandbox.name}/v1`
      const first = await client(url + USERS, { headers })
      const second = await client(`${url}/pages`, { method: 'POST', headers, body: '{"name":"x"}' })
      agent.destroy()
      return {
        first: first.status,
        second: outcome(second),
        pages: subject.sandbox.store.rows('pages').size,
        another: (await subject.raw('GET', USERS)).text.slice(0, 12),
      }
    },
    expected: { first: 200, second: BROKEN, pages: 0, another: 'HTTP/1.1 200' },
  },
]
