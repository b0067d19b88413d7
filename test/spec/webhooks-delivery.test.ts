// @module-tag U060
import { expect, test } from 'vitest'
import { createBatch, intervene } from '../support/batches.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'

test('by default a webhook is not signed and not retried, and its type is in X-Emulator-Event', async () => {
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

test('the typed envelope contains the object and its type', async () => {
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

test('events at one instant run one after the other, so each receiver sees the state of its webhook', async () => {
  const seen: string[] = []
  const { emulator } = await webhookEmulator(() => {
    const initials = emulator.state('batch_predictions').map(({ status }) => status[0])
    seen.push(initials.join(''))
    return 200
  })
  for (let n = 0; n < 3; n++) await createBatch(emulator, { items: 1 })
  await pass(emulator, '1h')
  expect(seen).toEqual(['cff', 'ccf', 'ccc'])
})

test('a subscription with an allowed URL is accepted, and one with the URL of the emulator is not', async () => {
  const { emulator } = await webhookEmulator(undefined, { allowWebhooks: ['192.0.2.1:9000'] })
  const subscribe = (url: string) => emulator.control('POST', '/webhooks', { url })
  for (const url of ['http://192.0.2.1:9000/hook', 'http://localhost:9/hook'])
    expect((await subscribe(url)).status, url).toBe(200)
  const own = await subscribe(`http://127.0.0.1:${emulator.emulator.port}/__emulator/reset`)
  expect([own.status, own.body.message]).toEqual([400, expect.stringContaining('belongs to the emulator')])
})

test('only an advance waits for a receiver; other requests do not', async () => {
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
