import { Agent } from 'node:http'
import { viaHttp } from '../../support/wire-client.ts'
import { armed, type PresetCase, USERS } from './preset-case.ts'
import { dechunk, outcome, parse, split } from './views.ts'

/**
 * Creates a page twice, each time with the rule armed again: first as bytes, then through the client.
 * @param raw how a raw socket sees the end of the connection, the head and the body that have arrived by then
 * @param client the status and the end for an HTTP client
 * @param made the number of pages that exist after both requests
 */
function connection(
  preset: string,
  raw: readonly [end: 'fin' | 'rst' | 'open', head: 'head' | 'no head', body: 'none' | 'part' | 'whole'],
  client: readonly [status: number | null, broke: 'broken' | 'timeout'],
  made: number,
  { untilHeld = false, stays = false } = {},
): PresetCase {
  const [status, broke] = client
  return {
    preset,
    run: async ({ sandbox, ...subject }) => {
      await subject.arm(preset)
      const seen = await subject.raw('POST', '/pages', { json: { name: 'raw' }, untilHeld })
      await subject.arm(preset)
      const view = await subject.call('POST', '/pages', { json: { name: 'client' }, untilHeld })
      const pages = sandbox.store.rows('pages').size
      if (stays) await subject.clear()
      const then = await subject.post('/pages', { name: 'then' })
      const { head, body } = split(seen.text)
      const whole = parse(body.includes('\r\n') ? dechunk(body).payload : body) !== undefined
      const shown = [
        seen.end,
        head.startsWith('HTTP/1.1 200') ? 'head' : 'no head',
        whole ? 'whole' : body === '' ? 'none' : 'part',
      ]
      return { raw: shown, client: outcome(view), made: pages, then: then.status }
    },
    expected: { raw, client: { status, broke }, made, then: 200 },
  }
}

export const connectionCases: readonly PresetCase[] = [
  connection('fin-before-headers', ['fin', 'no head', 'none'], [null, 'broken'], 2),
  connection('rst-before-headers', ['rst', 'no head', 'none'], [null, 'broken'], 2),
  connection('browser-network-error', ['fin', 'no head', 'none'], [null, 'broken'], 0),
  connection('cut-after-headers', ['rst', 'head', 'none'], [200, 'broken'], 2),
  connection('cut-mid-body', ['rst', 'head', 'part'], [200, 'broken'], 2),
  connection('chunked-truncated', ['fin', 'head', 'whole'], [200, 'broken'], 2),
  connection('content-length-too-long', ['fin', 'head', 'whole'], [200, 'broken'], 2),
  connection('never-answers', ['open', 'no head', 'none'], [null, 'timeout'], 0, {
    untilHeld: true,
    stays: true,
  }),
  connection('stall-after-headers', ['open', 'head', 'none'], [200, 'timeout'], 2, { untilHeld: true }),
  connection('offline', ['rst', 'no head', 'none'], [null, 'broken'], 0, { stays: true }),
  armed(
    'slow',
    async (subject) => {
      const order: string[] = []
      const late = subject.get(USERS).then(({ status }) => order.push(`slow ${status}`))
      await subject.control('GET', '/clock').then(() => order.push('control'))
      await late
      return order
    },
    ['control', 'slow 200'],
  ),
  {
    preset: 'slow-drip',
    run: async (subject) => {
      await subject.arm('slow-drip', { do: [{ pace: { bytes: 16, gap_ms: 20, max_ms: 60_000 } }] })
      const { pieces, end, text } = await subject.raw('POST', '/pages', { json: { name: 'x' } })
      // A late first or last piece can contain other bytes.
      const sizes = pieces.slice(1, -1).map((piece) => piece.length)
      const inSixteens = sizes.every((size) => size % 16 === 0)
      return [end, parse(split(text).body)?.name, inSixteens, sizes.length > 1]
    },
    expected: ['fin', 'x', true, true],
  },
  armed(
    'stale-keepalive',
    async (subject) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const client = viaHttp(agent)
      const headers = { Authorization: 'Bearer live_owner' }
      const url = `http://127.0.0.1:${subject.port}/@${subject.sandbox.name}/v1`
      const first = await client(url + USERS, { headers })
      const second = await client(`${url}/pages`, { method: 'POST', headers, body: '{"name":"x"}' })
      agent.destroy()
      const pages = subject.sandbox.store.rows('pages').size
      const another = (await subject.raw('GET', USERS)).text.slice(0, 12)
      return [first.status, outcome(second), pages, another]
    },
    [200, { status: null, broke: 'broken' }, 0, 'HTTP/1.1 200'],
  ),
]
