// @module-tag U046
import { expect, test } from 'vitest'
import { createBatch } from '../support/batches.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

const url = 'http://127.0.0.1:1/'

test('a subscription can be created, listed without its secret, and removed', async () => {
  const { emulator } = await webhookEmulator()
  const events = ['batch_prediction.completed']
  const { body } = await emulator.control('POST', '/webhooks', { url, events, secret: 'hush' })
  const created_at = '2026-03-01T12:00:00.000Z'
  expect(body).toEqual({ id: expect.any(String), url, events, has_secret: true, created_at })
  const listed = await emulator.control('GET', '/webhooks')
  expect(listed.body.data).toMatchObject([{ id: 'hook', events: null, has_secret: false }, body])
  expect(listed.text).not.toContain('hush')
  expect((await emulator.control('DELETE', `/webhooks/${body.id}`)).body).toEqual({ deleted: 1 })
  expect((await emulator.control('DELETE', `/webhooks/${body.id}`)).status).toBe(404)
  await emulator.control('POST', '/webhooks', { url })
  expect((await emulator.control('DELETE', '/webhooks')).body).toEqual({ deleted: 2 })
  expect((await emulator.control('GET', '/webhooks')).body.data).toEqual([])
})

test.for([
  ['POST', '', { url: 'http://169.254.169.254/latest' }, '/url', 'webhooks to it are never allowed'],
  ['POST', '', { url: 'https://a.example/' }, '/url', 'the emulator with --allow-webhook a.example:443'],
  ['POST', '', {}, '/url', 'is required, unless inbox is true'],
  ['POST', '', { url, inbox: true }, '/inbox', 'must not be given together with url'],
  ['POST', '', { url, events: [] }, '/events', 'leave it out'],
  ['POST', '', { url, urls: 1 }, '/urls', 'Did you mean "url"?'],
  ['PATCH', '/hook', { url: 'ftp://127.0.0.1/' }, '/url', 'http or https'],
  ['PATCH', '/hook', { url: 'http://192.0.2.1/' }, '/url', '--allow-webhook'],
  ['PATCH', '/hook', { events: ['batch_prediction.done'] }, '/events/0', 'batch_prediction.'],
  ['PATCH', '/hook', { inbox: true }, '/inbox', ''],
] as const)('%s /webhooks%s with %j is refused at %s', async ([method, path, json, pointer, detail]) => {
  const { emulator } = await webhookEmulator()
  const before = emulator.digest()
  const { status, body } = await emulator.control(method, `/webhooks${path}`, json)
  expect([status, body.details.errors]).toEqual([400, [{ pointer, detail: expect.stringContaining(detail) }]])
  expect(emulator.digest()).toBe(before)
})

test('subscriptions in settings exist in every sandbox, and DELETE does not remove them', async () => {
  const settings = { 'webhooks.subscriptions': [{ url, secret: 'quiet' }] }
  const { emulator } = await webhookEmulator(undefined, { settings })
  await emulator.control('DELETE', '/webhooks')
  const fixed = { id: null, url, has_secret: true, created_at: null }
  const listed = await emulator.control('GET', '/webhooks')
  expect(listed.body.data).toMatchObject([fixed])
  expect(listed.text).not.toContain('quiet')
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
