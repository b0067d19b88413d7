import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createBatch, intervene } from '../support/batches.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

test('by default a webhook is not signed and not retried, and its type is in X-Emulator-Event', {
  tags: ['U060'],
}, async () => {
  const { emulator, receiver } = await webhookEmulator(() => 500)
  await createBatch(emulator)
  await pass(emulator, '40d')
  const [{ headers } = { headers: {} }, ...others] = receiver.received
  expect(others).toEqual([])
  const own = Object.keys(headers).filter((name) => name.startsWith('x-'))
  expect(own).toEqual(['x-emulator-event', 'x-emulator-delivery', 'x-emulator-delivery-attempt'])
  expect(await deliveriesOf(emulator)).toMatchObject([
    { status: 'failed', attempts: [{ outcome: 'failed', status: 500, error: 'responded with 500' }] },
  ])
})

test('the result of an advance contains every attempt, at its instant and in order', {
  tags: ['U060'],
}, async () => {
  const { emulator, receiver } = await webhookEmulator(
    ({ headers }) => (headers['x-emulator-delivery-attempt'] === '3' ? 204 : 503),
    {
      settings: { 'webhooks.retry': ['10s', '1m'] },
    },
  )
  const { id } = await createBatch(emulator, { items: 1 })
  const result = await pass(emulator, '1h')
  const [delivery] = await deliveriesOf(emulator)
  const ref = `webhook_deliveries/${delivery.id}`
  const attempt = (n: number, status: number) => ({
    url: receiver.url,
    attempt: n,
    status,
    ms: expect.any(Number),
  })
  const cause = `batch.complete:batch_predictions/${id}`
  expect(result.events.filter((event) => event.ref === ref)).toMatchObject([
    {
      at: '2026-03-01T12:00:03.200Z',
      kind: 'webhook.failed',
      to: 'waiting',
      caused_by: cause,
      webhook: attempt(1, 503),
    },
    { at: '2026-03-01T12:00:13.200Z', kind: 'webhook.retry', from: 'waiting', to: 'pending' },
    { at: '2026-03-01T12:00:13.200Z', kind: 'webhook.failed', to: 'waiting', webhook: attempt(2, 503) },
    { at: '2026-03-01T12:01:13.200Z', kind: 'webhook.retry' },
    { at: '2026-03-01T12:01:13.200Z', kind: 'webhook.delivered', to: 'delivered', webhook: attempt(3, 204) },
  ])
  expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1)
  expect(receiver.received.map(({ headers }) => headers['x-emulator-delivery-attempt'])).toEqual([
    '1',
    '2',
    '3',
  ])
})

test('a signature is the HMAC of the sent body; the secret of a subscription takes precedence', {
  tags: ['U060'],
}, async () => {
  const receiver = await webhookReceiver()
  const { emulator } = await webhookEmulator(undefined, {
    settings: {
      'webhooks.signature': { header: 'X-Sign', secret: 'general', prefix: 'v1=' },
      'webhooks.subscriptions': [{ url: receiver.url }, { url: `${receiver.url}/own`, secret: 'own' }],
    },
  })
  await createBatch(emulator)
  await pass(emulator, '1h')
  const expected = (text: string, secret: string) =>
    `v1=${createHmac('sha256', secret).update(text).digest('hex')}`
  expect(receiver.received).toHaveLength(2)
  for (const { path, headers, text } of receiver.received) {
    expect(headers['x-sign']).toBe(expected(text, path.endsWith('own') ? 'own' : 'general'))
  }
})

test('the typed envelope contains the object and its type', { tags: ['U060'] }, async () => {
  const settings = { 'webhooks.envelope': 'typed', 'webhooks.event_header': 'X-Kind' }
  const { emulator, receiver } = await webhookEmulator(undefined, { settings })
  const { id } = await createBatch(emulator, { items: 1 })
  await pass(emulator, '1h')
  const [webhook] = receiver.received
  expect(webhook?.headers['x-kind']).toBe('batch_prediction.completed')
  expect(webhook?.body).toEqual({
    id: webhook?.headers['x-emulator-delivery'],
    type: 'batch_prediction.completed',
    created_at: '2026-03-01T12:00:03.200Z',
    data: (await emulator.get(`/batch-predictions/${id}`)).body,
  })
})

test('a receiver that does not respond in time is a failed attempt, and time continues', {
  tags: ['U060'],
}, async () => {
  const settings = { 'webhooks.timeout': '100ms' }
  const { emulator } = await webhookEmulator(() => undefined, { settings })
  await createBatch(emulator)
  const result = await pass(emulator, '1h')
  expect(result.to).toBe('2026-03-01T13:00:00.000Z')
  expect(await deliveriesOf(emulator)).toMatchObject([
    { status: 'failed', attempts: [{ outcome: 'timeout', status: null, error: 'no response within 100ms' }] },
  ])
})

test('redirects are not followed', { tags: ['U060'] }, async () => {
  const other = await webhookReceiver()
  const { emulator } = await webhookEmulator((_received, res) => {
    res.writeHead(307, { location: other.url }).end()
    return undefined
  })
  await createBatch(emulator)
  await pass(emulator, '1h')
  expect(other.received).toEqual([])
  expect(await deliveriesOf(emulator)).toMatchObject([
    { attempts: [{ status: 307, error: 'responded with 307; redirects are not followed' }] },
  ])
})

test('at most 20 webhooks are in flight at once, and all of them arrive', { tags: ['U060'] }, async () => {
  const held: (() => void)[] = []
  const { emulator, receiver } = await webhookEmulator((_received, res) => {
    held.push(() => res.writeHead(200).end())
    return undefined
  })
  for (let n = 0; n < 30; n++) intervene(emulator, 'complete', (await createBatch(emulator, { items: 1 })).id)
  await receiver.arrived(20)
  expect(await receiver.connections()).toBe(20)
  const passed = pass(emulator, '0s')
  for (let n = 0; n < 30; n++) {
    await receiver.arrived(n + 1)
    expect(receiver.received.length).toBeLessThanOrEqual(20 + n)
    held[n]?.()
  }
  const delivered = (await passed).events.filter(({ kind }) => kind === 'webhook.delivered')
  const created = emulator.state('webhook_deliveries').map(({ id }) => `webhook_deliveries/${id}`)
  expect(delivered.map(({ ref }) => ref)).toEqual(created.slice(-delivered.length))
  expect(emulator.state('webhook_deliveries').map(({ status }) => status)).toEqual(
    created.map(() => 'delivered'),
  )
})

test('events at one instant run one after the other, so each receiver sees the state of its webhook', {
  tags: ['U060'],
}, async () => {
  const seen: string[] = []
  const { emulator } = await webhookEmulator(() => {
    seen.push(
      emulator
        .state('batch_predictions')
        .map(({ status }) => status[0])
        .join(''),
    )
    return 200
  })
  for (let n = 0; n < 3; n++) await createBatch(emulator, { items: 1 })
  await pass(emulator, '1h')
  expect(seen).toEqual(['cff', 'ccf', 'ccc'])
})

test('a subscription with a forbidden URL is refused with the fix, and changes nothing', {
  tags: ['U060'],
}, async () => {
  const { emulator } = await webhookEmulator()
  const { port } = emulator.emulator
  const { revision } = emulator.emulator.sandbox.store
  for (const [url, reason] of [
    [`http://127.0.0.1:${port}/__emulator/reset`, 'belongs to the emulator'],
    [`http://localhost:${port}/hook`, 'belongs to the emulator'],
    ['http://169.254.169.254/latest', 'webhooks to it are never allowed'],
    ['http://192.0.2.1:9000/hook', 'start the emulator with --allow-webhook 192.0.2.1:9000'],
    ['https://[2001:db8::1]/hook', 'start the emulator with --allow-webhook [2001:db8::1]:443'],
    ['https://receiver.example/hook', 'start the emulator with --allow-webhook receiver.example:443'],
  ] as const) {
    const { status, body } = await emulator.control('POST', '/webhooks', { url })
    expect([status, body.error], url).toEqual([400, 'validation_failed'])
    expect(body.details.errors).toEqual([{ pointer: '/url', detail: expect.stringContaining(reason) }])
  }
  expect(emulator.emulator.sandbox.store.revision).toBe(revision)
})

test('a subscription with an allowed URL is accepted', {
  tags: ['U060'],
}, async () => {
  const { emulator } = await webhookEmulator(undefined, {
    allowWebhooks: ['192.0.2.1:9000', 'receiver.example:80'],
  })
  for (const url of [
    'http://192.0.2.1:9000/hook',
    'http://receiver.example/hook',
    'http://localhost:9/hook',
  ]) {
    expect((await emulator.control('POST', '/webhooks', { url })).status, url).toBe(200)
  }
})

test('a forbidden URL is never contacted, also for a subscription that was written as a record', {
  tags: ['U060'],
}, async () => {
  const receiver = await webhookReceiver()
  const { emulator } = await webhookEmulator()
  const own = `http://127.0.0.1:${emulator.emulator.port}/__emulator/reset`
  const urls = [own, 'http://169.254.169.254/latest', 'http://192.0.2.1:9000/hook', receiver.url]
  for (const [index, url] of urls.entries()) {
    const record = { url, created_at: '2026-01-01T00:00:00.000Z' }
    expect((await emulator.control('PUT', `/state/webhooks/hook-${index}`, record)).status).toBe(201)
  }
  await createBatch(emulator)
  await pass(emulator, '1h')
  const outcome = (url: string, status: string, error: unknown) => ({ url, status, attempts: [{ error }] })
  expect((await deliveriesOf(emulator)).slice(1)).toMatchObject([
    outcome(own, 'failed', expect.stringContaining('belongs to the emulator')),
    outcome(
      'http://169.254.169.254/latest',
      'failed',
      expect.stringContaining('webhooks to it are never allowed'),
    ),
    outcome(
      'http://192.0.2.1:9000/hook',
      'failed',
      expect.stringContaining('--allow-webhook 192.0.2.1:9000'),
    ),
    outcome(receiver.url, 'delivered', null),
  ])
})

test('with a running clock, batches end and webhooks and retries are sent without an advance', {
  tags: ['U060'],
}, async () => {
  const settings = { 'webhooks.retry': ['20s'] }
  const { emulator, receiver } = await webhookEmulator(
    ({ headers }) => (headers['x-emulator-delivery-attempt'] === '1' ? 503 : 200),
    { settings, rate: 1_000 },
  )
  await createBatch(emulator, { items: 1 })
  await receiver.arrived(2)
  await pass(emulator, '0s')
  const [{ status, attempts }] = await deliveriesOf(emulator)
  expect(status).toBe('delivered')
  expect(Date.parse(attempts[1].at) - Date.parse(attempts[0].at)).toBeGreaterThanOrEqual(20_000)
})

test('only an advance waits for a receiver; other requests do not', { tags: ['U060'] }, async () => {
  const { emulator, receiver } = await webhookEmulator(() => undefined)
  const { id } = await createBatch(emulator)
  intervene(emulator, 'complete', id)
  await receiver.arrived(1)
  expect((await emulator.get(`/batch-predictions/${id}`)).body.status).toBe('completed')
  expect((await deliveriesOf(emulator))[0]).toMatchObject({
    status: 'sending',
    attempts: [{ outcome: null }],
  })
})
