import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { aPage, type FaultDraft, type Finding, type SandboxClient } from '../../src/index.ts'
import { serving } from '../support/http-server.ts'
import { newBatch, read, sharedEmulator } from './emulator.ts'

// A verdict and its fix are one thing: for each verdict, a client that has it, and the same client after the fix.

const { sandbox: newSandbox } = sharedEmulator()

type Use = (sandbox: SandboxClient, isFixed: boolean) => Promise<unknown>

const USERS = '/organization/teamspaces/teamspace-harbor/users'

/** Reads a path until it succeeds, with these waits in seconds. */
async function retry(sandbox: SandboxClient, path: string, waits: readonly number[]): Promise<void> {
  for (const wait of waits) {
    if ((await read(sandbox, path)) === 200) return
    await sandbox.clock.advance(`${wait}s`)
  }
  expect(await read(sandbox, path)).toBe(200)
}

const arm = (sandbox: SandboxClient, preset: string, times: number) => sandbox.faults.arm({ preset, times })

async function page(sandbox: SandboxClient, query: string): Promise<string[]> {
  const response = await sandbox.fetch(`${USERS}?${query}`)
  const { data = [] } = (await response.json()) as { readonly data?: { readonly id: string }[] }
  return data.map(({ id }) => id)
}

/** Receives the webhooks of one batch. @param respond the status of each, or undefined for none at all */
async function receive(
  sandbox: SandboxClient,
  respond: (delivery: {
    readonly body: string
    readonly headers: NodeJS.Dict<string | string[]>
    readonly n: number
  }) => number | undefined | Promise<number | undefined>,
): Promise<void> {
  let n = 0
  const { port } = await serving(async (request, response) => {
    const body = await text(request)
    const status = await respond({ body, headers: request.headers, n: n++ })
    if (status !== undefined) response.writeHead(status).end()
  })
  await sandbox.webhooks.create({ url: `http://127.0.0.1:${port}/` })
  await newBatch(sandbox, 'order-1')
  await sandbox.clock.advance('1h')
}

const SECRET = 'webhook-secret'

/** By verdict. `gallery.test.ts` and `certified.slow.test.ts` show the others, with their repairs. */
const uses: Readonly<Record<string, Use>> = {
  'retry.no-growth': async (sandbox, isFixed) => {
    await arm(sandbox, 'server-error', 3)
    await retry(sandbox, '/data-views', isFixed ? [1, 2, 4] : [1, 1, 1])
  },
  'retry.no-jitter': async (sandbox, isFixed) => {
    for (const part of [0, 0.2, 0.5]) {
      await arm(sandbox, 'server-error', 1)
      await retry(sandbox, '/data-views', [isFixed ? 1 + part : 1])
    }
  },
  'key.reused': async (sandbox, isFixed) => {
    await newBatch(sandbox, 'monday')
    await newBatch(sandbox, isFixed ? 'tuesday' : 'monday', { prompt: 'Read the vendor.' })
  },
  'request.changed': async (sandbox, isFixed) => {
    await arm(sandbox, 'server-error', 1)
    await read(sandbox, '/data-views')
    await sandbox.clock.advance('1s')
    await fetch(
      `${sandbox.baseUrl}/data-views`,
      isFixed ? { headers: { authorization: `Bearer ${sandbox.apiKey}` } } : {},
    )
  },
  'stream.abandoned': async (sandbox, isFixed) => {
    // More than the buffers of both sockets hold.
    const output = { text: 'x'.repeat(20_000) }
    await sandbox.settings.change({ 'batch.outcomes': [{ match: {}, output }] })
    const items = Array.from({ length: 1_000 }, (_, n) => ({ file_id: 'file-invoice-1', custom_id: `i${n}` }))
    const id = await newBatch(sandbox, 'order-1', { items })
    await sandbox.clock.advance({ until: { batch: id } })
    const path = `/batch-predictions/${id}/results`
    const headers = { authorization: `Bearer ${sandbox.apiKey}` }
    const [stream] = await once(get(`${sandbox.baseUrl}${path}`, { headers }), 'response')
    await once(stream, 'readable')
    stream.destroy()
    // The end of the connection is noticed a little later.
    const isNoticed = async () =>
      (await sandbox.conduct()).findings.some((each) => each.code === 'stream.abandoned')
    await vi.waitUntil(isNoticed, { timeout: 25_000 })
    if (isFixed) await read(sandbox, path)
  },
  'page.skipped': async (sandbox, isFixed) => {
    await read(sandbox, '/data-views?limit=2')
    await read(sandbox, `/data-views?limit=2&offset=${isFixed ? 2 : 3}`)
  },
  'page.doubled': async (sandbox, isFixed) => {
    const ids = await page(sandbox, 'limit=5')
    await page(sandbox, `limit=5&after=${ids.at(isFixed ? -1 : 0)}`)
  },
  'page.invalid-cursor': async (sandbox, isFixed) => {
    const ids = await page(sandbox, 'limit=5')
    await page(sandbox, `limit=5&after=${isFixed ? ids.at(-1) : 'page-2'}`)
  },
  'poll.finished': async (sandbox, isFixed) => {
    const id = await newBatch(sandbox, 'order-1')
    await sandbox.clock.advance({ until: { batch: id } })
    for (let poll = 0; poll < (isFixed ? 1 : 8); poll++) {
      await read(sandbox, `/batch-predictions/${id}`)
      await sandbox.clock.advance('2s')
    }
  },
  'poll.too-fast': async (sandbox, isFixed) => {
    await arm(sandbox, 'batch-stuck', 1)
    const id = await newBatch(sandbox, 'order-1')
    for (let poll = 0; poll < 12; poll++) {
      await read(sandbox, `/batch-predictions/${id}`)
      await sandbox.clock.advance(isFixed ? '2s' : '100ms')
    }
  },
  'job.results-unread': async (sandbox, isFixed) => {
    const id = await newBatch(sandbox, 'order-1')
    await sandbox.batches.complete(id)
    if (isFixed) await read(sandbox, `/batch-predictions/${id}/results`)
    await sandbox.batches.cleanup(id)
  },
  'request.unread-field': (sandbox, isFixed) =>
    sandbox.fetch('/pages', { json: { ...aPage(), ...(!isFixed && { colour: 'red' }) } }),
  'request.credential-in-url': (sandbox, isFixed) =>
    read(sandbox, isFixed ? '/data-views' : '/data-views?api_key=live_demo_owner'),
  'webhook.slow': async (sandbox, isFixed) => {
    if (!isFixed) await sandbox.settings.change({ 'webhooks.timeout': '50ms' })
    await receive(sandbox, () => (isFixed ? 204 : undefined))
  },
  'webhook.failing': (sandbox, isFixed) => receive(sandbox, () => (isFixed ? 204 : 500)),
  'webhook.unverified': async (sandbox, isFixed) => {
    await sandbox.settings.change({ 'webhooks.signature': { header: 'X-Signature', secret: SECRET } })
    await sandbox.faults.arm({ match: { webhook: '*' }, do: [{ deliver: { sign: 'wrong' } }] })
    await receive(sandbox, ({ body, headers }) => {
      const own = createHmac('sha256', SECRET).update(body).digest('hex')
      return isFixed && headers['x-signature'] !== own ? 401 : 204
    })
  },
  'webhook.repeated': async (sandbox, isFixed) => {
    await sandbox.settings.change({ 'webhooks.retry': ['10s'] })
    const handled = new Set<unknown>()
    await receive(sandbox, async ({ body, headers, n }) => {
      const { 'x-emulator-delivery': id } = headers
      const about = JSON.stringify(body).match(/[\da-f]{24}/)?.[0]
      if (!isFixed || !handled.has(id)) await sandbox.fetch('/pages', { json: { name: `Results ${about}` } })
      handled.add(id)
      return n === 0 ? 500 : 204
    })
  },
  'fault.not-met': async (sandbox, isFixed) => {
    const rule: FaultDraft = { preset: 'server-error', match: { operation: 'agents.list' }, times: 1 }
    await sandbox.faults.arm(rule)
    await retry(sandbox, isFixed ? '/agents' : '/data-views', [1])
  },
}

test.for(Object.entries(uses))(
  'a client that does what the fix of %s says has no finding',
  async ([code, use]) => {
    const found = async (isFixed: boolean) => {
      await using sandbox = await newSandbox()
      await use(sandbox, isFixed)
      return (await sandbox.conduct()).findings
    }
    const before = (await found(false)).map((each) => each.code)
    expect(before).toContain(code)
    // The fix may not cause another error or warning.
    const isLeft = (each: Finding) =>
      each.code === code || (each.severity !== 'note' && !before.includes(each.code))
    expect((await found(true)).filter(isLeft).map((each) => each.message)).toEqual([])
  },
)
