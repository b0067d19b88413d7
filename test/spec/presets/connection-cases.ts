import { Agent } from 'node:http'
import { viaHttp } from '../../support/wire-client.ts'
import { armed, type PresetCase, USERS } from './setup.ts'
import { dechunk, parse, seen, split } from './views.ts'

/** How a connection ended, and what of the response had arrived by then: `rst: head and part of the body`. */
function onWire({ end, text }: { readonly end: string; readonly text: string }): string {
  const { head, body } = split(text)
  if (!head.startsWith('HTTP/1.1 200')) return `${end}: ${head}`
  const payload = body.includes('\r\n') ? Buffer.concat(dechunk(body).chunks).toString() : body
  const arrived =
    parse(payload) !== undefined ? ' and whole body' : body === '' ? '' : ' and part of the body'
  return `${end}: head${arrived}`
}

/**
 * Creates a page twice, each time with the rule armed again: first as bytes, then through the client.
 * @param raw how a raw socket sees the end of the connection, and the client the response
 * @param made the number of pages that exist after both requests
 */
function connection(
  preset: string,
  raw: string,
  client: string,
  made: 0 | 2,
  { untilHeld = false, stays = false } = {},
): PresetCase {
  return armed(
    preset,
    async ({ sandbox, ...subject }) => {
      const wire = await subject.raw('POST', '/pages', { json: { name: 'raw' }, untilHeld })
      await subject.arm(preset)
      const view = await subject.call('POST', '/pages', { json: { name: 'client' }, untilHeld })
      const pages = sandbox.store.rows('pages').size
      if (stays) await subject.clear()
      return [onWire(wire), seen(view), pages, seen(await subject.post('/pages', { name: 'then' }))]
    },
    [raw, client, made, '200'],
  )
}

export const connectionCases: readonly PresetCase[] = [
  connection('fin-before-headers', 'fin: ', 'broken', 2),
  connection('rst-before-headers', 'rst: ', 'broken', 2),
  connection(
    'browser-network-error',
    'fin: HTTP/1.1 502 Bad Gateway\r\nContent-Length: 1\r\nContent-Length: 2',
    'broken',
    0,
  ),
  connection('cut-after-headers', 'rst: head', '200, then broken', 2),
  connection('cut-mid-body', 'rst: head and part of the body', '200, then broken', 2),
  connection('chunked-truncated', 'fin: head and whole body', '200, then broken', 2),
  connection('content-length-too-long', 'fin: head and whole body', '200, then broken', 2),
  connection('never-answers', 'open: ', 'timeout', 0, { untilHeld: true, stays: true }),
  connection('stall-after-headers', 'open: head', '200, then timeout', 2, { untilHeld: true }),
  connection('offline', 'rst: ', 'broken', 0, { stays: true }),
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
      return [end, parse(split(text).body)?.name, sizes.every((size) => size % 16 === 0), sizes.length > 1]
    },
    expected: ['fin', 'x', true, true],
  },
  armed(
    'stale-keepalive',
    async ({ baseUrl, raw, sandbox }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const client = viaHttp(agent)
      const headers = { Authorization: 'Bearer live_owner' }
      const first = await client(`${baseUrl}${USERS}`, { headers })
      const second = await client(`${baseUrl}/pages`, { method: 'POST', headers, body: '{"name":"x"}' })
      agent.destroy()
      const another = (await raw('GET', USERS)).text.slice(0, 12)
      return [seen(first), seen(second), sandbox.store.rows('pages').size, another]
    },
    ['200', 'broken', 0, 'HTTP/1.1 200'],
  ),
]
