import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Emulator, startEmulator } from 'agent-workspace-emulator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtInScenarios } from '../../src/adapters/scenarios/built-in.ts'
import { baseCollections, KEYS, START } from '../support/base-state.ts'
import { aBatch, someItems } from '../support/batches.ts'
import { controlOf } from '../support/control.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { bearer, type ClientView, viaFetch } from '../support/wire-client.ts'
import { parse } from './presets/views.ts'

// All tests share one emulator, so that its scripts are loaded once. Each test has its own sandbox.
let emulator: Emulator

beforeAll(async () => {
  const files = [{ id: 'file-pdf', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 }]
  const fixtures = { collections: { ...baseCollections, files } }
  const start = { port: 0, clock: START, rate: 0, ephemeral: true, scenarios: 'scenarios' }
  emulator = await startEmulator({ ...start, fixtures })
})

afterAll(() => emulator.close())

/** Starts a shipped scenario in a sandbox with its name. */
async function under(name: string) {
  const { baseUrl, batches, clock, scenarios, settings, webhooks } = await emulator.sandbox(name)
  await scenarios.start(name)
  const call = (method: string, path: string, json?: unknown, headers = {}): Promise<ClientView> =>
    viaFetch(`${baseUrl}${path}`, {
      method,
      headers: { ...bearer(KEYS.KU), ...headers },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
  return {
    ...{ batches, call, settings, webhooks },
    create: async (changes: Parameters<typeof aBatch>[0] = {}): Promise<string> =>
      parse((await call('POST', '/batch-predictions', aBatch(changes))).body).id,
    advance: (by: string) => clock.advance(by),
    poll: async (id: string) => parse((await call('GET', `/batch-predictions/${id}`)).body),
    results: (id: string) => call('GET', `/batch-predictions/${id}/results`),
    cancel: (id: string) => call('POST', `/batch-predictions/${id}/cancel`),
  }
}

const linesIn = (text = ''): string[] => text.trim().split('\n')

test('every shipped scenario is valid and has a description', async () => {
  const { data } = (await controlOf(emulator)('GET', '/scenarios')).body
  const files = readdirSync('scenarios').filter((file) => !file.startsWith('_'))
  expect(data.map(({ file }: { file: string }) => file.split('/').at(-1))).toEqual(files.sort())
  // The description is also read from the source of the script, without running it.
  const read = new Map((await builtInScenarios(resolve('scenarios'))).map((each) => [each.name, each]))
  for (const { name, valid, error, description } of data)
    expect([valid, error, description]).toEqual([true, null, read.get(name)?.description])
})

test('happy-path: four polls show four states up to completed', async () => {
  const { create, poll, results } = await under('happy-path')
  const id = await create()
  const seen = []
  for (let n = 0; n < 4; n++) seen.push((await poll(id)).status)
  expect(seen).toEqual(['in_progress', 'in_progress', 'finalizing', 'completed'])
  expect((await results(id)).status).toBe(200)
})

test('rate-limit-storm: each policy refuses a creation once, and polls have Retry-After in four forms', {
  tags: ['R266'],
}, async () => {
  const { call, poll } = await under('rate-limit-storm')
  const policies = []
  let created = await call('POST', '/batch-predictions', aBatch())
  for (; created.status === 429; created = await call('POST', '/batch-predictions', aBatch())) {
    policies.push(created.headers.ratelimit?.split(';')[0])
    expect(created.headers['retry-after']).toBe('1')
  }
  const names = ['org-concurrency', 'org-enqueued-items', 'org-create-rate', 'global-capacity']
  expect(policies).toEqual(names.map((name) => `"${name}"`))
  const { id } = parse(created.body)
  const waits = []
  for (let n = 0; n < 10; n++) {
    const { status, headers } = await call('GET', `/batch-predictions/${id}`)
    if (status === 429) waits.push(headers['retry-after'] ?? null)
  }
  expect(waits).toEqual(['1', 'Sun, 01 Mar 2026 12:00:01 GMT', null, '0'])
  expect((await poll(id)).id).toBe(id)
})

test('flaky-network: a client that retries with a key completes one batch, exactly once', async () => {
  const { batches, call, advance } = await under('flaky-network')
  const meets: string[] = []
  const persistent = async (method: string, path: string, json?: unknown): Promise<ClientView> => {
    for (let n = 0; n < 6; n++) {
      const view = await call(method, path, json, { 'Idempotency-Key': 'one-batch' })
      if (view.error === undefined && view.status === 200) return view
      meets.push(view.error === undefined ? String(view.status) : 'broken')
    }
    throw new Error(`${method} ${path} never came through`)
  }
  const { id } = parse((await persistent('POST', '/batch-predictions', aBatch())).body)
  for (let n = 0; n < 3; n++) await persistent('GET', `/batch-predictions/${id}`)
  await advance('1h')
  const { body } = await persistent('GET', `/batch-predictions/${id}/results`)
  expect(linesIn(body)).toHaveLength(3)
  expect(meets.slice(0, 4)).toEqual(['broken', 'broken', '503', 'broken'])
  expect(await batches.list()).toHaveLength(1)
})

test('partial-failure: the batch completes, but some of its items are errored', async () => {
  const { create, poll, results, advance } = await under('partial-failure')
  const id = await create({ items: [...someItems(5), { custom_id: 'bad-scan', file_id: 'file-pdf' }] })
  await advance('1h')
  expect(await poll(id)).toMatchObject({ status: 'completed', request_counts: { succeeded: 4, errored: 2 } })
  const lines = linesIn((await results(id)).body).map(parse)
  const failed = lines.filter(({ error }) => error != null).map(({ custom_id }) => custom_id)
  expect(failed).toEqual(['item-2', 'bad-scan'])
})

test('expired-batch: the window ends with some items finished and the rest expired', async () => {
  const { create, poll, advance } = await under('expired-batch')
  const id = await create({ items: 40 })
  await advance('24h')
  const request_counts = { total: 40, succeeded: 24, expired: 16 }
  expect(await poll(id)).toMatchObject({ status: 'expired', request_counts })
})

test('cleaned-up-results: 410 as soon as the batch has ended, in each way', async () => {
  const { batches, cancel, create, poll, results, advance, settings } = await under('cleaned-up-results')
  await settings.change({ 'batch.pace': { validating: 'hold' } })
  const { complete, expire, fail } = batches
  const ends = { completed: complete, failed: fail, expired: expire, cancelled: cancel }
  for (const [status, end] of Object.entries(ends)) {
    const id = await create()
    await end(id)
    await advance('1m')
    expect(await poll(id)).toMatchObject({ status, results_url: null })
    expect((await results(id)).status).toBe(410)
  }
})

test('idempotency-conflict: in use, then lost, then replayed', async () => {
  const { batches, call } = await under('idempotency-conflict')
  const send = (body: object) => call('POST', '/batch-predictions', body, { 'Idempotency-Key': 'k-1' })
  expect((await send(aBatch())).status).toBe(409)
  expect((await send(aBatch())).error).toBeDefined()
  const replay = await send(aBatch())
  expect((await batches.list()).map(({ id }) => id)).toEqual([parse(replay.body).id])
  expect((await send(aBatch({ prompt: 'Another.' }))).status).toBe(409)
})

test('cancel-race: the first cancel is too late, the next one takes 10 s', async () => {
  const { cancel, create, poll, advance } = await under('cancel-race')
  const [first, second] = [await create(), await create()]
  await advance('2s')
  expect((await cancel(first)).status).toBe(409)
  expect((await poll(first)).status).toBe('completed')
  expect((await cancel(second)).status).toBe(200)
  expect((await poll(second)).status).toBe('cancelling')
  await advance('10s')
  expect((await poll(second)).status).toBe('cancelled')
})

test('webhook-trouble: webhooks arrive twice, out of order, late, and never', async () => {
  const { batches, create, advance, webhooks } = await under('webhook-trouble')
  const receiver = await webhookReceiver()
  await webhooks.create({ url: receiver.url })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await batches.complete(await create({ metadata: { name } }))
    await advance('0s')
  }
  const arrived = () => receiver.received.map(({ body }) => (body.data ?? body).metadata.name).join('')
  expect(arrived()).toBe('aacbf')
  await advance('10m')
  expect(arrived()).toBe('aacbfd')
  await advance('24h')
  expect(arrived()).toBe('aacbfd')
})

test('stubbed-endpoints: stubs respond to converse and search, and get unmodified knowledge_ids', {
  tags: ['R291'],
}, async () => {
  const { call } = await under('stubbed-endpoints')
  const knowledge_ids = ['knowledge-of-a-sibling', 'knowledge-invoices']
  const said = await call('POST', '/converse', { message: 'When?', knowledge_ids })
  expect([said.status, parse(said.body).knowledge_ids]).toEqual([201, knowledge_ids])
  expect(said.headers['x-ratelimit-remaining']).toBe('199')
  expect(parse((await call('GET', '/search?query=pier')).body).query).toBe('pier')
  const { data } = parse((await call('GET', '/conversations/any/messages')).body)
  expect(parse((await call('GET', `/messages/${data[0].id}`)).body).id).toBe(data[0].id)
  expect((await call('GET', '/search?query=x', undefined, { Authorization: '' })).status).toBe(401)
})

test('ndjson-torture: eight reads are changed in eight ways, and later reads are whole', async () => {
  const { batches, create, results } = await under('ndjson-torture')
  const id = await create({ output_schema: { type: 'object' }, items: 4 })
  await batches.complete(id)
  const reads = []
  for (let n = 0; n < 10; n++) reads.push(await results(id))
  const whole = reads[9]?.body ?? ''
  const ids = linesIn(whole).map((line) => parse(line).custom_id)
  expect(ids).toEqual(['item-0', 'item-1', 'item-2', 'item-3'])
  const [crlf, blank, bytes, open, twice, short, abort, reverse, ninth] = reads.map(({ body }) => body)
  expect(crlf).toBe(whole.replaceAll('\n', '\r\n'))
  expect(blank?.split('\n').filter((line) => line.trim() === '')).toHaveLength(3)
  expect(bytes).toBe(whole)
  expect(open).toBe(whole.slice(0, -1))
  expect(twice?.split('\n')).toHaveLength(6)
  expect(Buffer.byteLength(short ?? '')).toBe(Buffer.byteLength(whole) - 8)
  expect([abort, reads[6]?.status]).toEqual([undefined, 200])
  expect(linesIn(reverse).reverse()).toEqual(linesIn(whole))
  expect(ninth).toBe(whole)
})
