import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { verdicts } from '../../src/core/conduct/verdicts.ts'
import { aPage, type FaultDraft, type Finding, type SandboxClient } from '../../src/index.ts'
import { conclusionVerdicts } from '../../src/tools/certify/verdicts.ts'
import { cases } from './cases.ts'
import { newBatch, read, sharedEmulator } from './emulator.ts'

// A verdict and its fix are one thing: for each verdict, a client that has it, and the same client after the fix.

const { sandbox: newSandbox } = sharedEmulator()

/** The same client with its bug, and with the fix of the finding. */
type Use = (sandbox: SandboxClient, isFixed: boolean) => Promise<unknown>

/**
 * How each verdict is shown: by a client here; `gallery` for one of the thirty, whose repair `gallery.test.ts` runs; `programme` for a
 * case that the correct client passes in `certified.slow.test.ts`.
 */
type Row = Use | 'gallery' | { readonly programme: string }

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
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const status = await respond({ body, headers: request.headers, n: n++ })
    if (status !== undefined) response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await sandbox.webhooks.create({ url })
  await newBatch(sandbox, 'order-1')
  await sandbox.clock.advance('1h')
  server.closeAllConnections()
  server.close()
}

const SECRET = 'webhook-secret'

const rows: Readonly<Record<string, Row>> = {
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
  'response.refused': { programme: 'read/unknown-field' },
  'result.wrong': { programme: 'read/empty-json-body' },
  'client.ended': { programme: 'read/malformed-json' },
  'webhook.misjudged': { programme: 'webhook/stale-signature' },
  ...Object.fromEntries(cases.map(({ verdict }) => [verdict, 'gallery' as const])),
}

// `gallery.test.ts` demands a client or a test for each verdict.
test('every row is about a verdict', () => {
  const codes = [...verdicts, ...conclusionVerdicts].map(({ code }) => code)
  expect(codes).toEqual(expect.arrayContaining(Object.keys(rows)))
})

const clients = Object.entries(rows).flatMap(([code, row]) =>
  typeof row === 'function' ? [[code, row] as const] : [],
)

test.for(clients)('a client that does what the fix of %s says has no finding', async ([code, use]) => {
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
})
