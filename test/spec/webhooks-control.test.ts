// @module-tag U046
import { expect, test } from 'vitest'
import { createBatch } from '../support/batches.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

test('a subscription can be created, listed without its secret, and removed', async () => {
  const { emulator } = await webhookEmulator()
  const receiver = await webhookReceiver()
  const events = ['batch_prediction.completed']
  const { url } = receiver
  const { body } = await emulator.control('POST', '/webhooks', { url, events, secret: 'hush' })
  const created_at = '2026-03-01T12:00:00.000Z'
  expect(body).toEqual({ id: expect.any(String), url, events, has_secret: true, created_at })
  const listed = await emulator.control('GET', '/webhooks')
  expect(listed.body.data).toMatchObject([{ id: 'hook', events: null, has_secret: false }, body])
  expect(listed.text).not.toContain('hush')
  expect((await emulator.control('DELETE', `/webhooks/${body.id}`)).body).toEqual({ deleted: 1 })
  expect((await emulator.control('DELETE', `/webhooks/${body.id}`)).status).toBe(404)
  await emulator.control('POST', '/webhooks', { url: receiver.url })
  expect((await emulator.control('DELETE', '/webhooks')).body).toEqual({ deleted: 2 })
  expect((await emulator.control('GET', '/webhooks')).body.data).toEqual([])
  await createBatch(emulator)
  await pass(emulator, '1h')
  expect(receiver.received).toEqual([])
})

test.for([
  ['/url', { url: 'ftp://127.0.0.1/' }, 'http or https'],
  ['/url', { url: 'http://user:secret@127.0.0.1/' }, 'must not contain a user name'],
  ['/url', {}, 'is required'],
  ['/events', { url: 'http://127.0.0.1:1/', events: [] }, 'leave it out'],
  ['/urls', { url: 'http://127.0.0.1:1/', urls: 1 }, 'Did you mean "url"?'],
] as const)('a subscription is refused at %s: %j', async ([pointer, json, detail]) => {
  const { emulator } = await webhookEmulator()
  const before = emulator.digest()
  const { status, body } = await emulator.control('POST', '/webhooks', json)
  expect([status, body.details.errors]).toEqual([400, [{ pointer, detail: expect.stringContaining(detail) }]])
  expect(emulator.digest()).toBe(before)
})

test('subscriptions in settings exist in every sandbox, and DELETE does not remove them', async () => {
  const receiver = await webhookReceiver()
  const { emulator } = await webhookEmulator(undefined, {
    settings: { 'webhooks.subscriptions': [{ url: receiver.url, secret: 'quiet' }] },
  })
  await emulator.control('DELETE', '/webhooks')
  const fixed = { id: null, url: receiver.url, has_secret: true, created_at: null }
  const listed = await emulator.control('GET', '/webhooks')
  expect(listed.body.data).toMatchObject([fixed])
  expect(listed.text).not.toContain('quiet')
  await createBatch(emulator)
  await pass(emulator, '1h')
  expect(receiver.received).toHaveLength(1)
})

test('a subscription can be changed, and keeps what the change does not name', async () => {
  const { emulator } = await webhookEmulator()
  const receiver = await webhookReceiver()
  const events = ['batch_prediction.failed']
  const { body: made } = await emulator.control('POST', '/webhooks', { url: 'http://127.0.0.1:1/', events })
  const change = (changes: object) => emulator.control('PATCH', `/webhooks/${made.id}`, changes)
  const moved = { ...made, url: receiver.url, has_secret: true }
  expect((await change({ url: receiver.url, secret: 'hush' })).body).toEqual(moved)
  const cleared = { ...moved, events: null, has_secret: false }
  expect((await change({ events: null, secret: null })).body).toEqual(cleared)
  await createBatch(emulator)
  await pass(emulator, '1h')
  expect(receiver.received).toHaveLength(1)
})

test.for([
  [{ url: 'ftp://127.0.0.1/' }, '/url'],
  [{ url: 'http://192.0.2.1/' }, '/url'],
  [{ events: ['batch_prediction.done'] }, '/events/0'],
  [{ inbox: true }, '/inbox'],
] as const)('the change %j of a subscription is refused', async ([changes, pointer]) => {
  const { emulator } = await webhookEmulator()
  const { status, body } = await emulator.control('PATCH', '/webhooks/hook', changes)
  expect([status, body.details.errors]).toEqual([400, [expect.objectContaining({ pointer })]])
})

test('a webhook of any type can be sent about a batch, which does not change', async () => {
  const { emulator } = await webhookEmulator()
  await emulator.control('DELETE', '/webhooks')
  const receiver = await webhookReceiver()
  const trigger = (body: object) => emulator.control('POST', '/webhooks/trigger', body)
  const type = 'batch_prediction.expired'
  expect((await trigger({ type })).body.message).toBe('There is no batch that the webhook could be about.')
  const first = await createBatch(emulator)
  const newest = await createBatch(emulator)
  expect((await trigger({ type })).body.data).toEqual([])
  await emulator.control('POST', '/webhooks', { url: receiver.url })
  const { body } = await trigger({ type })
  expect(body.data).toMatchObject([{ type, body: { id: newest.id, status: 'expired' } }])
  await trigger({ type, batch: first.id, data: { error: { code: 'x' }, results_url: null } })
  await receiver.arrived(2)
  const sent = (await deliveriesOf(emulator)).map(({ body: each }: { body: unknown }) => each)
  expect(sent[1]).toMatchObject({ id: first.id, status: 'expired', error: { code: 'x' } })
  expect(sent[1]).not.toHaveProperty('results_url')
  const statuses = emulator.state('batch_predictions').map(({ status }) => status)
  expect(statuses).toEqual(['validating', 'validating'])
})
