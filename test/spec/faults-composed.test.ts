import { createHmac } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { aBatch } from '../support/batches.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { viaFetch, viaHttp } from '../support/wire-client.ts'
import { USERS } from './presets/preset-case.ts'
import { type Subject, setup } from './presets/setup.ts'
import { parse, split } from './presets/views.ts'

/** A stage with an armed rule that is not a preset. */
async function withRule(rule: JsonObject, client = viaFetch): Promise<Subject> {
  const { subject } = await setup()
  const on = await subject(client)
  const { status, body } = await on.control('POST', '/faults', { id: 'mine', ...rule })
  expect(status, JSON.stringify(body)).toBe(201)
  return on
}

test('composed: a redirect to another path, which is not followed here', async () => {
  const subject = await withRule({
    match: { operation: 'pages.create' },
    do: [{ respond: { status: 307, headers: { Location: '/v1/elsewhere' } } }],
  })
  const { status, headers } = await subject.call('POST', '/pages', { json: { name: 'x' } })
  expect([status, headers.location]).toEqual([307, '/v1/elsewhere'])
  expect(subject.sandbox.store.rows('pages').size).toBe(0)
})

test('composed: 103 Early Hints, then 102, then the response', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [
      { head: { interim: [{ status: 103, headers: { Link: '</a.css>; rel=preload' } }, { status: 102 }] } },
    ],
  })
  const { text } = await subject.raw('GET', USERS)
  expect([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(['103', '102', '200'])
  expect((await subject.call('GET', USERS)).status).toBe(200)
})

test('composed: two headers of one name in odd letter cases', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [
      {
        head: {
          raw: [
            ['x-RATELIMIT-limit', '7'],
            ['X-Odd', 'a'],
            ['x-odd', 'b'],
          ],
        },
      },
    ],
  })
  const { head } = split((await subject.raw('GET', USERS)).text)
  expect(head).toMatch(/X-RateLimit-Limit: 200[\s\S]*x-RATELIMIT-limit: 7[\s\S]*X-Odd: a\r\nx-odd: b/)
})

test('composed: HTTP/1.0, another reason phrase, and a body that ends with the connection', async () => {
  const subject = await withRule(
    {
      match: { operation: 'teamspace-users.list' },
      do: [{ head: { version: '1.0', reason: 'Fine' } }, { frame: { mode: 'close' } }],
    },
    viaHttp(),
  )
  const { text, end } = await subject.raw('GET', USERS)
  expect(text).toMatch(/^HTTP\/1\.0 200 Fine\r\n/)
  expect(text).not.toMatch(/content-length|transfer-encoding/i)
  expect(end).toBe('fin')
  expect(parse((await subject.call('GET', USERS)).body)?.data).toHaveLength(2)
})

test('composed: a count that no double can represent, next to unchanged fields', async () => {
  const subject = await withRule({
    match: { operation: 'batch-predictions.retrieve' },
    do: [{ body: { raw_number: { pointer: '/request_counts/total', digits: '9007199254740993' } } }],
  })
  const id = await subject.batch()
  const { body } = await subject.call('GET', `/batch-predictions/${id}`)
  expect(body).toContain('"total":9007199254740993,')
  expect(parse(body).id).toBe(id)
})

test('composed: Brotli without regard to Accept-Encoding', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ body: { encode: 'br' } }, { frame: { mode: 'length' } }],
  })
  const { text } = await subject.raw('GET', USERS)
  const { head, body } = split(text)
  expect(head).toMatch(/content-encoding: br/i)
  expect(parse(brotliDecompressSync(Buffer.from(body, 'latin1')).toString()).object).toBe('list')
  expect(parse((await subject.call('GET', USERS)).body)?.object).toBe('list')
})

test('composed: bytes after the end of the message', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ frame: { mode: 'length', tail_b64: Buffer.from('HTTP/1.1 200 OK\r\n').toString('base64') } }],
  })
  const { text, end } = await subject.raw('GET', USERS)
  const { head, body } = split(text)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
  expect(body.slice(length)).toBe('HTTP/1.1 200 OK\r\n')
  expect(end).toBe('fin')
})

test('composed: bytes that are not HTTP', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ raw: { base64: Buffer.from('SSH-2.0-adapter\r\n').toString('base64') } }],
  })
  expect(await subject.raw('GET', USERS)).toMatchObject({ text: 'SSH-2.0-adapter\r\n', end: 'fin' })
  expect((await subject.call('GET', USERS)).error).toBeDefined()
})

test('composed: a 204 with a body', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    do: [{ head: { status: 204 } }, { frame: { mode: 'length' } }],
  })
  const { text } = await subject.raw('GET', USERS)
  expect(text).toMatch(/^HTTP\/1\.1 204/)
  expect(split(text).body).toContain('"object":"list"')
})

test('composed: a Date header five minutes in the past, while the clock of the sandbox is right', async () => {
  const subject = await withRule({ match: 'everything', do: [{ clock: { offset: '-5m' } }] })
  const { headers, body } = await subject.call('POST', '/pages', { json: { name: 'x' } })
  expect(headers.date).toBe('Sun, 01 Mar 2026 11:55:00 GMT')
  expect(parse(body).created_at).toBe('2026-03-01T12:00:00.000Z')
})

test('composed: an hour between arrival and handling, so that a batch completes before its cancel', async () => {
  const subject = await withRule({
    match: { operation: 'batch-predictions.cancel' },
    do: [{ pace: { before_handler_ms: 10 } }, { clock: { advance: '1h' } }],
  })
  const id = await subject.batch()
  expect((await subject.call('POST', `/batch-predictions/${id}/cancel`)).status).toBe(409)
  expect(subject.sandbox.store.get('batch_predictions', id)).toMatchObject({ status: 'completed' })
})

test('composed: a key that becomes a service key, which cannot complete an OAuth flow', async () => {
  const subject = await withRule({ match: { api_key: '*' }, do: [{ auth: { kind: 'service' } }] })
  const { status, body } = await subject.call('POST', '/organization/mcp-servers/any/oauth-callback', {
    json: {},
  })
  expect([status, parse(body).error]).toEqual([403, 'mcp_oauth_requires_user_principal'])
})

test('composed: a forgotten idempotency key, so that the retry creates a second batch', async () => {
  const subject = await withRule({
    match: { operation: 'batch-predictions.create', idempotency_key: 'k*' },
    when: { by: 'idempotency_key', sequence: ['lose', 'forget', 'pass'] },
    actions: { lose: [{ cut: { at: 'before-head', how: 'rst' } }], forget: [{ idem: { forget: true } }] },
  })
  const create = () =>
    subject.call('POST', '/batch-predictions', { json: aBatch(), headers: { 'Idempotency-Key': 'k-1' } })
  expect((await create()).error).toBeDefined()
  const [second, third] = [await create(), await create()]
  expect(parse(third.body).id).toBe(parse(second.body).id)
  expect(subject.sandbox.store.rows('batch_predictions').size).toBe(2)
})

test('composed: limits in the IETF fields alone, and a reset in milliseconds', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    when: { sequence: ['ietf', 'milliseconds'] },
    actions: {
      ietf: [
        { quota: { limit: 10, remaining: 3, reset_in_s: 20, window_s: 60, policy: 'burst', fields: 'ietf' } },
      ],
      milliseconds: [{ quota: { reset_in_s: 20, reset_format: 'epoch-milliseconds' } }],
    },
  })
  const { headers: first } = await subject.call('GET', USERS)
  expect(first).toMatchObject({ 'ratelimit-policy': '"burst";q=10;w=60', ratelimit: '"burst";r=3;t=20' })
  expect(first).not.toHaveProperty('x-ratelimit-limit')
  const { headers: second } = await subject.call('GET', USERS)
  expect(second['x-ratelimit-reset']).toBe(String(Date.parse('2026-03-01T12:00:20.000Z')))
})

test('composed: a webhook whose body was changed in transit, so that its signature is wrong', async () => {
  const receiver = await webhookReceiver()
  const subject = await withRule({
    match: { webhook: 'batch_prediction.completed' },
    do: [{ deliver: { sign: 'wrong', body: { forged: true } } }],
  })
  await subject.control('POST', '/webhooks', { url: receiver.url, secret: 'hush' })
  await subject.finished()
  await subject.control('POST', '/clock/advance', { by: '0s' })
  const [got] = receiver.received
  expect(got?.body.forged).toBe(true)
  const signed = createHmac('sha256', 'hush')
    .update(got?.text ?? '')
    .digest('hex')
  const signature = Object.entries(got?.headers ?? {}).find(([name]) => name.includes('signature'))?.[1]
  expect(signature).toMatch(/[0-9a-f]{64}$/)
  expect(signature).not.toContain(signed)
})

test('composed: two rules on one request, the first with then: continue', async () => {
  const subject = await withRule({
    match: { operation: 'teamspace-users.list' },
    priority: 5,
    then: 'continue',
    do: [{ head: { set: { 'X-First': 'yes' } } }],
  })
  await subject.control('POST', '/faults', {
    id: 'second',
    match: { operation: 'teamspace-users.list' },
    do: [{ body: { patch: { second: true } } }],
  })
  const { headers, body } = await subject.call('GET', USERS)
  expect([headers['x-first'], parse(body).second]).toEqual(['yes', true])
})
