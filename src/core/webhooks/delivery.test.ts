import { expect, test } from 'vitest'
import {
  HOOK,
  type OutboxEmulator,
  outboxEmulator,
  startingState,
  subscription,
} from '../../../test/support/webhook-sandbox.ts'
import { Refusal } from '../errors.ts'
import { change } from '../sandboxes/change.ts'
import { type AttemptResult, beginAttempt, endAttempt, interrupt, redeliver } from './delivery.ts'
import { DueDeliveries } from './queue.ts'
import { deliveryLifecycle } from './records.ts'
import { webhooksResource } from './resource.ts'

const SECOND = 1_000
const FAILED: AttemptResult = { outcome: 'failed', status: 500, error: 'responded with 500' }

/** Makes one attempt at a pending delivery, with this outcome. */
function attempt(emulator: OutboxEmulator, id: string, outcome: AttemptResult): void {
  const sending = change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(id))).result
  change(emulator.sandbox, (scope) => endAttempt(scope, id, sending.attempts.length, outcome))
}

function control(emulator: OutboxEmulator, name: string, { id = '', body = {} as object } = {}) {
  const found = webhooksResource([]).controls?.find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return change(emulator.sandbox, (scope) => found.handle(scope, { params: { id }, body, query: undefined }))
    .result
}

test('a webhook becomes one delivery for each subscription to its type, records before settings', async () => {
  const fixed = [{ url: 'http://127.0.0.1:1/a' }, { url: 'http://127.0.0.1:1/b', events: ['thing.broken'] }]
  const emulator = await outboxEmulator({
    settings: { 'webhooks.subscriptions': fixed },
    webhooks: [
      { ...subscription, events: ['thing.made'] },
      { ...subscription, id: 'hook-2', events: ['thing.broken'] },
    ],
  })
  const made = emulator.tell({ n: 1 })
  expect(made.map(({ webhook_id, url }) => [webhook_id, url])).toEqual([
    ['hook-1', HOOK],
    [null, 'http://127.0.0.1:1/a'],
  ])
  expect(made[0]).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    status: 'pending',
    body: { n: 1 },
  })
  expect(made[0]).toMatchObject({
    ref: 'things/1',
    caused_by: 'control',
    created_at: '2026-03-01T12:00:00.000Z',
  })
})

test('a webhook without a subscriber writes nothing', async () => {
  const emulator = await outboxEmulator({ webhooks: [] })
  const { revision } = emulator.sandbox.store
  expect(emulator.tell({}, 'thing.made')).toEqual([])
  expect(emulator.sandbox.store.revision).toBe(revision)
})

test('a retry delay of 0 does not wait', async () => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['0s'] } })
  const [{ id } = { id: '' }] = emulator.tell()
  attempt(emulator, id, FAILED)
  expect(emulator.delivery(id)).toMatchObject({ status: 'pending', retries: 1 })
  attempt(emulator, id, FAILED)
  expect(emulator.delivery(id)).toMatchObject({ status: 'failed' })
})

test('a refused target is not tried again', async () => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['10s'] } })
  const [{ id } = { id: '' }] = emulator.tell()
  attempt(emulator, id, { outcome: 'refused', status: null, error: 'not on this machine' })
  expect(emulator.delivery(id)).toMatchObject({
    status: 'failed',
    attempts: [{ error: 'not on this machine' }],
  })
})

test('an outcome counts once, and only for the attempt in progress', async () => {
  const emulator = await outboxEmulator()
  const [{ id } = { id: '' }] = emulator.tell()
  attempt(emulator, id, FAILED)
  const conclusion = change(emulator.sandbox, (scope) =>
    endAttempt(scope, id, 1, { ...FAILED, outcome: 'delivered' }),
  )
  expect([conclusion.result, conclusion.commit]).toEqual([undefined, undefined])
  change(emulator.sandbox, (scope) => redeliver(scope, emulator.delivery(id)))
  change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(id)))
  expect(change(emulator.sandbox, (scope) => endAttempt(scope, id, 1, FAILED)).result).toBe(undefined)
  expect(emulator.delivery(id).status).toBe('sending')
})

test.for<[string, AttemptResult]>([
  ['delivered', { outcome: 'delivered', status: 200, error: null }],
  ['failed', { outcome: 'refused', status: null, error: 'no' }],
  ['waiting', FAILED],
])('a delivery that is %s can be sent again: the same body, a new schedule', async ([status, outcome]) => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['10s'] } })
  const [{ id, body } = { id: '', body: {} }] = emulator.tell()
  attempt(emulator, id, outcome)
  expect(emulator.delivery(id).status).toBe(status)
  expect(control(emulator, 'redeliver', { id })).toMatchObject({
    id,
    status: 'pending',
    retries: 0,
    retry_at: null,
    body,
  })
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
})

test.for(['pending', 'sending'] as const)('a delivery that is %s cannot be sent again', async (status) => {
  const emulator = await outboxEmulator()
  const [{ id } = { id: '' }] = emulator.tell()
  if (status === 'sending') change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(id)))
  const before = emulator.delivery(id)
  expect(() => control(emulator, 'redeliver', { id })).toThrow(`is ${status}: it is already in progress`)
  expect(emulator.delivery(id)).toBe(before)
})

test('a delivery without a subscription is not sent again', async () => {
  const emulator = await outboxEmulator()
  const [{ id } = { id: '' }] = emulator.tell()
  attempt(emulator, id, FAILED)
  expect(control(emulator, 'delete', { id: 'hook-1' })).toEqual({ deleted: 1 })
  expect(() => control(emulator, 'redeliver', { id })).toThrow('no longer exists')
  expect(() => control(emulator, 'delete', { id: 'hook-1' })).toThrow(Refusal)
})

test.for([
  ['/webhooks/0/url', { url: 'ftp://127.0.0.1/' }],
  ['/webhooks/0/url', { url: 'http:127.0.0.1' }],
  ['/webhooks/0/url', { url: 'http://user@127.0.0.1/' }],
  ['/webhooks/0/url', { url: 'http://:secret@127.0.0.1/' }],
  ['/webhooks/0/url', { url: 'http://@127.0.0.1/' }],
  ['/webhooks/0/url', { url: 'http://127.0.0.1\\@evil/' }],
  ['/webhooks/0/url', { url: ' http://127.0.0.1/' }],
  ['/webhooks/0/url', { url: 'http://127.0.0.1:99999/' }],
  ['/webhooks/0/url', { url: `http://127.0.0.1/${'x'.repeat(2048)}` }],
  ['/webhooks/0/events', { events: [] }],
  ['/webhooks/0/events/0', { events: ['thing.mad'] }],
  ['/webhooks/0/secret', { secret: '' }],
] as const)('a subscription is refused at %s: %j', async ([pointer, changes]) => {
  await expect(startingState({ webhooks: [{ ...subscription, ...changes }] })).rejects.toThrow(pointer)
})

test('an unknown type is refused with the nearest known one, in the settings, too', async () => {
  const events = ['thing.broke']
  await expect(startingState({ webhooks: [{ ...subscription, events }] })).rejects.toThrow(
    'Did you mean "thing.broken"?',
  )
  const settings = { 'webhooks.subscriptions': [{ url: HOOK, events }] }
  await expect(startingState({ settings })).rejects.toThrow('Did you mean "thing.broken"?')
})

test.for([
  [{ 'webhooks.subscriptions': [{ url: HOOK }, { url: HOOK }] }],
  [{ 'webhooks.subscriptions': [{ url: 'http://a:b@127.0.0.1' }] }],
  [{ 'webhooks.event_header': 'Content-Length' }],
  [{ 'webhooks.event_header': 'X Event' }],
  [{ 'webhooks.signature': { header: 'Host', secret: 's' } }],
  [{ 'webhooks.signature': { header: 'X-S', secret: 's', prefix: 'a\nb' } }],
  [{ 'webhooks.signature': { header: 'X-S' } }],
  [{ 'webhooks.retry': ['soon'] }],
  [{ 'webhooks.retry': ['9999d'] }],
  [{ 'webhooks.timeout': '0s' }],
  [{ 'webhooks.timeout': '6m' }],
  [{ 'webhooks.envelope': 'box' }],
])('the settings %j are refused', async ([settings]) => {
  await expect(startingState({ settings: settings ?? {} })).rejects.toThrow('/settings/webhooks.')
})

const delivered = {
  id: 'd1',
  webhook_id: 'hook-1',
  url: HOOK,
  type: 'thing.made',
  ref: 'things/1',
  body: { n: 1 },
  status: 'delivered',
  attempts: [{ attempt: 1, at: '2026-03-01T11:00:00.000Z', outcome: 'delivered', status: 200 }],
  created_at: '2026-03-01T11:00:00.000Z',
}

test.for([
  ['/type', { type: 'thing.eaten' }],
  ['/id', { id: 'a\r\nX-Evil: 1' }],
  ['/body', { body: [] }],
  ['/attempts', { attempts: [] }],
  ['/attempts', { status: 'sending' }],
  ['/attempts', { status: 'failed' }],
  ['/attempts/0/attempt', { attempts: [{ ...delivered.attempts[0], attempt: 2 }] }],
  [
    '/attempts/0/outcome',
    {
      attempts: [
        { ...delivered.attempts[0], outcome: null },
        { ...delivered.attempts[0], attempt: 2 },
      ],
    },
  ],
  ['/retry_at', { retry_at: '2026-03-01T13:00:00.000Z' }],
  ['/retry_at', { status: 'waiting', attempts: [{ ...delivered.attempts[0], outcome: 'failed' }] }],
] as const)('a delivery that contradicts itself is refused at %s: %j', async ([pointer, changes]) => {
  await expect(startingState({ deliveries: [delivered] })).resolves.toBeDefined()
  await expect(startingState({ deliveries: [{ ...delivered, ...changes }] })).rejects.toThrow(
    `/webhook_deliveries/0${pointer} `,
  )
})

test('loaded deliveries go on: a waiting one is scheduled, and an interrupted one is sent again', async () => {
  const [first] = delivered.attempts
  const emulator = await outboxEmulator({
    deliveries: [
      {
        ...delivered,
        id: 'w',
        status: 'waiting',
        retry_at: '2026-03-01T12:00:05.000Z',
        attempts: [{ ...first, outcome: 'failed' }],
      },
      { ...delivered, id: 's', status: 'sending', attempts: [{ ...first, outcome: null }] },
    ],
  })
  expect(emulator.delivery('s')).toMatchObject({ status: 'pending', attempts: [{ outcome: 'interrupted' }] })
  expect(emulator.sandbox.scheduler.peek()).toMatchObject({
    kind: 'webhook.retry',
    ref: 'webhook_deliveries/w',
  })
  await emulator.advance(5 * SECOND)
  expect(emulator.delivery('w').status).toBe('pending')
})

test('due deliveries are found in order of creation, whatever the order of the records', async () => {
  const pending = { ...delivered, status: 'pending', attempts: [] }
  const emulator = await outboxEmulator({
    deliveries: [
      { ...pending, id: '0', created_at: '2026-03-01T11:00:01.000Z' },
      { ...pending, id: 'b' },
      delivered,
      { ...pending, id: 'a' },
    ],
  })
  const due = new DueDeliveries(emulator.sandbox.store)
  emulator.sandbox.store.onCommit((commit) => due.update(commit))
  const order = []
  for (let next = due.next(); next !== undefined; next = due.next()) {
    order.push([next.id, due.size])
    change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(next?.id ?? '')))
  }
  expect([order, due.size]).toEqual([
    [
      ['a', 3],
      ['b', 2],
      ['0', 1],
    ],
    0,
  ])
  change(emulator.sandbox, (scope) => interrupt(scope, emulator.delivery('b')))
  expect(due.next()?.id).toBe('b')
  change(emulator.sandbox, ({ tx }) => tx.delete('webhook_deliveries', 'b'))
  expect([due.next(), due.size]).toEqual([undefined, 0])
})

test('the table of status changes covers every status of a delivery', () => {
  const statuses = [...new Set(deliveryLifecycle.arrows.flatMap(({ from, to }) => [from, to]))]
  expect(statuses.sort()).toEqual(['delivered', 'dropped', 'failed', 'pending', 'sending', 'waiting'])
})

test('no retry follows when it would be after the last instant of the clock', async () => {
  const emulator = await outboxEmulator({ settings: { 'webhooks.retry': ['366d'] } })
  emulator.sandbox.clock.moveTo(Date.UTC(9998, 11, 31))
  const [{ id } = { id: '' }] = emulator.tell()
  attempt(emulator, id, FAILED)
  expect(emulator.delivery(id)).toMatchObject({ status: 'failed', retry_at: null })
})
