import { expect, test } from 'vitest'
import { createBatch } from '../support/batches.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'
import { deliveriesOf, pass, webhookWorld } from '../support/webhook-world.ts'

test('U046 a subscription is made, listed without its secret, and removed', async () => {
  const { world } = await webhookWorld()
  const receiver = await webhookReceiver()
  const events = ['batch_prediction.completed']
  const { status, body } = await world.control('POST', '/webhooks', {
    url: receiver.url,
    events,
    secret: 'hush',
  })
  expect([status, body]).toEqual([
    200,
    {
      id: expect.any(String),
      url: receiver.url,
      events,
      has_secret: true,
      created_at: '2026-03-01T12:00:00.000Z',
    },
  ])
  const listed = await world.control('GET', '/webhooks')
  expect(listed.body).toMatchObject({
    object: 'list',
    data: [{ id: 'hook', events: null, has_secret: false }, body],
  })
  expect(listed.text).not.toContain('hush')
  expect((await world.control('DELETE', `/webhooks/${body.id}`)).body).toEqual({ deleted: 1 })
  expect((await world.control('DELETE', `/webhooks/${body.id}`)).status).toBe(404)
  await world.control('POST', '/webhooks', { url: receiver.url })
  expect((await world.control('DELETE', '/webhooks')).body).toEqual({ deleted: 2 })
  expect((await world.control('GET', '/webhooks')).body.data).toEqual([])
  await createBatch(world)
  await pass(world, '1h')
  expect(receiver.received).toEqual([])
})

test('U046 a subscriber is told of the types that it wants', async () => {
  const { world } = await webhookWorld()
  const [some, none] = [await webhookReceiver(), await webhookReceiver()]
  await world.control('POST', '/webhooks', {
    url: some.url,
    events: ['batch_prediction.completed', 'batch_prediction.failed'],
  })
  await world.control('POST', '/webhooks', { url: none.url, events: ['batch_prediction.expired'] })
  await createBatch(world)
  await pass(world, '1h')
  expect([some.received.length, none.received.length]).toEqual([1, 0])
})

test.for([
  ['/url', { url: 'ftp://127.0.0.1/' }, 'http or https'],
  ['/url', { url: 'http://user:secret@127.0.0.1/' }, 'must not carry a user name'],
  ['/url', {}, 'is required'],
  ['/events', { url: 'http://127.0.0.1:1/', events: [] }, 'leave it out'],
  [
    '/events/0',
    { url: 'http://127.0.0.1:1/', events: ['batch_prediction.canceled'] },
    'Did you mean "batch_prediction.cancelled"?',
  ],
  ['/secret', { url: 'http://127.0.0.1:1/', secret: '' }, 'must not be empty'],
  ['/urls', { url: 'http://127.0.0.1:1/', urls: 1 }, 'Did you mean "url"?'],
] as const)('U046 a subscription is refused at %s: %j', async ([pointer, json, detail]) => {
  const { world } = await webhookWorld()
  const before = world.digest()
  const { status, body } = await world.control('POST', '/webhooks', json)
  expect([status, body.details.errors]).toEqual([400, [{ pointer, detail: expect.stringContaining(detail) }]])
  expect(world.digest()).toBe(before)
})

test('U046 subscriptions of the settings are there in every world and outlive the others', async () => {
  const receiver = await webhookReceiver()
  const { world } = await webhookWorld(undefined, {
    settings: { 'webhooks.subscriptions': [{ url: receiver.url, events: ['batch_prediction.completed'] }] },
  })
  await world.control('DELETE', '/webhooks')
  expect((await world.control('GET', '/webhooks')).body.data).toEqual([
    {
      id: null,
      url: receiver.url,
      events: ['batch_prediction.completed'],
      has_secret: false,
      created_at: null,
    },
  ])
  await createBatch(world)
  await pass(world, '1h')
  expect(receiver.received).toHaveLength(1)
})

test('U060 T38 a delivery is sent again on request: the same body, the next attempt', async () => {
  let status = 500
  const { world, receiver } = await webhookWorld(() => status)
  await createBatch(world)
  await pass(world, '1h')
  const [{ id }] = await deliveriesOf(world)
  status = 200
  const again = await world.control('POST', `/webhooks/deliveries/${id}/redeliver`)
  expect([again.status, again.body]).toMatchObject([
    200,
    { id, status: 'pending', attempts: [{ outcome: 'failed' }] },
  ])
  await pass(world, '0s')
  const [first, second] = receiver.received
  expect([receiver.received.length, second?.text]).toEqual([2, first?.text])
  expect(second?.headers).toMatchObject({ 'x-emulator-delivery': id, 'x-emulator-delivery-attempt': '2' })
  expect(await deliveriesOf(world)).toMatchObject([{ id, status: 'delivered' }])
  expect((await world.control('POST', '/webhooks/deliveries/nobody/redeliver')).status).toBe(404)
})

test('U060 a delivery that waits is sent at once on request, one under way is not', async () => {
  let held: (() => void) | undefined
  const { world, receiver } = await webhookWorld(
    ({ headers }, res) => {
      if (headers['x-emulator-delivery-attempt'] === '1') return 500
      held = () => res.writeHead(200).end()
      return undefined
    },
    { settings: { 'webhooks.retry': ['1d'] } },
  )
  await createBatch(world)
  await pass(world, '1h')
  const [{ id, status }] = await deliveriesOf(world)
  expect(status).toBe('waiting')
  expect((await world.control('POST', `/webhooks/deliveries/${id}/redeliver`)).status).toBe(200)
  await receiver.arrived(2)
  const conflict = await world.control('POST', `/webhooks/deliveries/${id}/redeliver`)
  expect([conflict.status, conflict.body.message]).toEqual([
    409,
    'The delivery is sending: it is on its way.',
  ])
  held?.()
  const { events } = await pass(world, '40d')
  expect(events.map(({ kind }) => kind)).not.toContain('webhook.retry')
  expect(receiver.received).toHaveLength(2)
})

test('U060 a reset takes subscriptions and deliveries back to the start', async () => {
  const { world } = await webhookWorld()
  await world.control('POST', '/webhooks', { url: 'http://127.0.0.1:1/' })
  await createBatch(world)
  await pass(world, '1h')
  expect(await deliveriesOf(world)).toHaveLength(2)
  await world.control('POST', '/reset')
  expect([await deliveriesOf(world), (await world.control('GET', '/webhooks')).body.data.length]).toEqual([
    [],
    1,
  ])
})
