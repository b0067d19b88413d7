import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sender } from '../../../src/adapters/webhooks/send.ts'
import { type Address, allowTargets, type Resolve, Targets } from '../../../src/adapters/webhooks/targets.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Sent, send } from '../../support/send.ts'
import {
  ALLOWED_ENTRIES,
  ALLOWED_TARGETS,
  OWN_PORT,
  REFUSED_TARGETS,
  resolveTarget,
  USELESS_ENTRIES,
} from '../../support/webhook-targets.ts'
import { type Figure, none, type Proof, tried } from '../proof.ts'
import { type Contact, watched } from './contacts.ts'
import { against } from './emulator.ts'

const NEVER = new AbortController().signal

/** One attempt of the sender with the resolver of the proof. @returns the connections that it started */
function attempt(url: string, entries: readonly string[], resolve: Resolve): Promise<readonly Contact[]> {
  return watched(false, async (contacts) => {
    const targets = new Targets({
      allowed: allowTargets(entries),
      forbiddenPorts: () => [OWN_PORT],
      resolve,
    })
    const headers = { 'X-Emulator-Delivery': 'd1', 'Content-Length': '2' }
    const bounds = { timeout: 5_000, signal: NEVER, inboxStatus: 200, attempt: 'd1/1' }
    await sender(targets)({ url, headers, body: Buffer.from('{}') }, bounds)
    return contacts
  })
}

/** Both tables; each target is really sent to, up to the connection. */
async function tables(found: string[]): Promise<void> {
  for (const [url] of REFUSED_TARGETS) {
    const contacts = await attempt(url, [...ALLOWED_ENTRIES, ...USELESS_ENTRIES], resolveTarget)
    if (contacts.length > 0) found.push(`${url} was contacted`)
  }
  for (const [url, addresses, port] of ALLOWED_TARGETS) {
    const contacts = await attempt(url, ALLOWED_ENTRIES, resolveTarget)
    const wanted = JSON.stringify([{ addresses, port }])
    if (JSON.stringify(contacts) !== wanted) found.push(`${url} led to ${JSON.stringify(contacts)}`)
  }
}

const at = (address: string): Address => ({ address, family: address.includes(':') ? 6 : 4 })

/** Host names that resolve to one address for the check and to another one later. */
async function rebinding(found: string[]): Promise<number> {
  const others = ['169.254.169.254', '10.0.0.1', '0.0.0.0', '::ffff:169.254.169.254', '93.184.216.34']
  for (const other of others) {
    let asked = 0
    const turning: Resolve = async () => [at(asked++ === 0 ? '127.0.0.1' : other)]
    const contacts = await attempt('http://turning.example:9000/', [], turning)
    if (asked !== 1 || contacts.some(({ addresses }) => addresses.join() !== '127.0.0.1'))
      found.push(`a name that turns to ${other} was looked up ${asked} times`)
    const mixed: Resolve = async () => [at('127.0.0.1'), at(other)]
    if ((await attempt('http://mixed.example:9000/', [], mixed)).length > 0)
      found.push(`a name that leads to ${other} as well was contacted`)
  }
  return 2 * others.length
}

/** A receiver on this machine that responds with a status and a Location. */
async function receiver(status: number, location?: () => string) {
  let hits = 0
  const server = createServer((req, res) => {
    hits += 1
    req.resume()
    res.writeHead(status, location === undefined ? {} : { location: location() }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise((resolve) => server.close(resolve))
  return { url: `http://127.0.0.1:${port}/hook`, port, hits: () => hits, close }
}

/** Spellings of the emulator's own port, which serves the control interface. */
const OWN = [
  'http://127.0.0.1:PORT/__emulator/reset',
  'http://localhost:PORT/__emulator/reset',
  'http://LOCALHOST:PORT/__emulator/reset',
  'http://[::1]:PORT/__emulator/reset',
  'http://[::ffff:127.0.0.1]:PORT/__emulator/reset',
  'http://127.1:PORT/__emulator/reset',
  'http://127.9.9.9:PORT/__emulator/reset',
  'http://2130706433:PORT/__emulator/reset',
  'http://0x7f.0.0.1:PORT/__emulator/reset',
  'http://0177.1:PORT/__emulator/reset',
  'http://0:PORT/__emulator/reset',
  'http://0.0.0.0:PORT/__emulator/reset',
  'http://[::]:PORT/__emulator/reset',
  'https://127.0.0.1:PORT/__emulator/reset',
] as const

const BATCH = {
  prompt: 'p',
  output_schema: { type: 'object', properties: {} },
  model: 'm',
  items: [{ file_id: 'f', custom_id: 'c' }],
}

/** End to end: subscriptions of a running emulator, a batch that ends, deliveries. */
async function wholeWay(found: string[]): Promise<number> {
  const codes = [301, 302, 303, 307, 308]
  const settings = { 'batch.unknown_files': 'accept' }
  return against({ settings }, async ({ emulator, defects }) => {
    const call = (method: string, path: string, json?: unknown): Promise<Sent> =>
      send({ emulator }, method, `/__emulator${path}`, { authorization: undefined, json })
    const trap = await receiver(200)
    const last = await receiver(200)
    const onward = [
      () => trap.url,
      () => `http://127.0.0.1:${emulator.port}/__emulator/reset`,
      () => 'http://169.254.169.254/latest',
      () => 'file:///etc/passwd',
    ]
    const redirecting = await Promise.all(
      codes.flatMap((code) => onward.map((location) => receiver(code, location))),
    )
    // This emulator has another port than the table, and another server may listen on that one.
    const literals = REFUSED_TARGETS.map(([url]) => url).filter(
      (url) => /^https?:\/\/[[\d]/.test(url) && !url.includes(`:${OWN_PORT}`),
    )
    const refused = [...OWN.map((url) => url.replace('PORT', String(emulator.port))), ...literals]
    const urls = [last.url, ...redirecting.map(({ url }) => url), ...refused]
    for (const url of refused)
      if ((await call('POST', '/webhooks', { url, secret: 's' })).status === 200)
        found.push(`a subscription of ${url} was accepted`)
    // The URL of a record is not checked when the record is written, as in fixtures: the sender has to refuse it.
    let subscribed = 0
    for (const [index, url] of urls.entries()) {
      const record = { url, secret: 's', created_at: '2026-01-01T00:00:00.000Z' }
      if ((await call('PUT', `/state/webhooks/hook-${index}`, record)).status === 201) subscribed += 1
    }
    const authorization = `Bearer ${KEYS.KU}`
    const { body } = await send({ emulator }, 'POST', '/v1/batch-predictions', { json: BATCH, authorization })
    const before = JSON.stringify(emulator.sandbox.document().collections.users)
    const contacts = await watched(true, async (begun) => {
      await call('POST', `/batches/${body.id}/complete`)
      await call('POST', '/clock/advance', { by: '1s' })
      return [...begun]
    })
    const allowed = new Set([last.port, ...redirecting.map(({ port }) => port)])
    const leftover = contacts.filter(({ port, addresses }) => !allowed.has(port) || addresses.join() !== HERE)
    for (const contact of leftover) found.push(`contacted ${JSON.stringify(contact)}`)
    for (const { port } of [last, ...redirecting]) {
      const count = contacts.filter((each) => each.port === port).length
      if (count !== 1) found.push(`the receiver at ${port} was contacted ${count} times`)
    }
    const deliveries = (await call('GET', '/webhooks/deliveries')).body.data as { status: string }[]
    if (deliveries.length !== subscribed) found.push(`${deliveries.length} deliveries of ${subscribed}`)
    const unended = deliveries.filter(({ status }) => status !== 'delivered' && status !== 'failed')
    if (unended.length > 0) found.push(`${unended.length} deliveries have no end`)
    if (trap.hits() > 0) found.push('a redirect was followed')
    if (JSON.stringify(emulator.sandbox.document().collections.users) !== before)
      found.push('the sandbox changed')
    if (defects.length > 0) found.push(`defects: ${defects}`)
    await Promise.all([trap, last, ...redirecting].map(({ close }) => close()))
    return urls.length
  })
}

const HERE = '127.0.0.1'

async function run(): Promise<readonly Figure[]> {
  const found: string[] = []
  await tables(found)
  const turning = await rebinding(found)
  const subscribed = await wholeWay(found)
  return [
    tried('targets allowed', ALLOWED_TARGETS.length),
    tried('targets refused', REFUSED_TARGETS.length),
    tried('names whose address changes', turning),
    tried('subscriptions tested end to end, with redirects and the own port', subscribed),
    none(`unexpected or missing contacts${found.length === 0 ? '' : `: ${found[0]}`}`, found.length),
  ]
}

export const x3: Proof = {
  id: 'X3',
  promise: 'Webhooks reach only this machine and targets that are allowed by host and port.',
  run,
}
