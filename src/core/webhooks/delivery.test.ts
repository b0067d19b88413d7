import { expect, test } from 'vitest'
import { toldDelivery } from '../../../test/support/told-delivery.ts'
import {
  HOOK,
  type OutboxEmulator,
  outboxEmulator,
  startingState,
  subscription,
} from '../../../test/support/webhook-sandbox.ts'
import { Refusal } from '../errors.ts'
import type { Json } from '../json.ts'
import { change } from '../sandboxes/change.ts'
import { type AttemptResult, beginAttempt, endAttempt, interrupt, redeliver } from './delivery.ts'
import { DueDeliveries } from './queue.ts'
import { webhooksResource } from './resource.ts'

const SECOND = 1_000
const FAILED: AttemptResult = { outcome: 'failed', status: 500, error: 'responded with 500' }

function attempt(emulator: OutboxEmulator, id: string, outcome: AttemptResult): void {
  const sending = change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(id))).result
  change(emulator.sandbox, (scope) => endAttempt(scope, id, sending.attempts.length, outcome))
}

function control({ sandbox }: OutboxEmulator, name: string, id: string) {
  const found = webhooksResource([]).controls?.find((each) => each.name === name)
  const input = { params: { id }, body: {}, query: undefined }
  return change(sandbox, (scope) => found?.handle(scope, input)).result
}

const retrying = (...delays: readonly string[]) => ({ settings: { 'webhooks.retry': delays } })

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
  const subscribers = made.map(({ webhook_id, url }) => `${webhook_id} ${url}`)
  expect(subscribers).toEqual([`hook-1 ${HOOK}`, 'null http://127.0.0.1:1/a'])
  const created_at = '2026-03-01T12:00:00.000Z'
  const written = { status: 'pending', body: { n: 1 }, ref: 'things/1', caused_by: 'control', created_at }
  expect(made[0]).toMatchObject({ ...written, id: expect.stringMatching(/^[0-9a-f]{24}$/) })
})

test('a retry delay of 0 does not wait', async () => {
  const { emulator, id, now } = await toldDelivery(retrying('0s'))
  attempt(emulator, id, FAILED)
  expect(now()).toMatchObject({ status: 'pending', retries: 1 })
  attempt(emulator, id, FAILED)
  expect(now().status).toBe('failed')
})

test('an outcome counts once, and only for the attempt in progress', async () => {
  const { emulator, id, now } = await toldDelivery()
  const end = (outcome: AttemptResult) =>
    change(emulator.sandbox, (scope) => endAttempt(scope, id, 1, outcome))
  attempt(emulator, id, FAILED)
  expect(end({ ...FAILED, outcome: 'delivered' })).toMatchObject({ result: undefined, commit: undefined })
  change(emulator.sandbox, (scope) => redeliver(scope, now()))
  change(emulator.sandbox, (scope) => beginAttempt(scope, now()))
  expect(end(FAILED).result).toBe(undefined)
  expect(now().status).toBe('sending')
})

// A refused target is not tried again.
test.for<[string, AttemptResult]>([
  ['delivered', { outcome: 'delivered', status: 200, error: null }],
  ['failed', { outcome: 'refused', status: null, error: 'not on this machine' }],
  ['waiting', FAILED],
])('a delivery that is %s can be sent again: the same body, a new schedule', async ([status, outcome]) => {
  const { emulator, first, id, now } = await toldDelivery(retrying('10s'))
  attempt(emulator, id, outcome)
  expect(now()).toMatchObject({ status, attempts: [{ error: outcome.error }] })
  const again = { ...first, attempts: [{ outcome: outcome.outcome }] }
  expect(control(emulator, 'redeliver', id)).toMatchObject(again)
  expect(emulator.sandbox.scheduler.horizon()).toEqual([])
})

test.for(['pending', 'sending'] as const)('a delivery that is %s cannot be sent again', async (status) => {
  const { emulator, id, now } = await toldDelivery()
  if (status === 'sending') change(emulator.sandbox, (scope) => beginAttempt(scope, now()))
  const before = now()
  expect(() => control(emulator, 'redeliver', id)).toThrow(`is ${status}: it is already in progress`)
  expect(now()).toBe(before)
})

test('a delivery without a subscription is not sent again', async () => {
  const { emulator, id } = await toldDelivery()
  attempt(emulator, id, FAILED)
  expect(control(emulator, 'delete', 'hook-1')).toEqual({ deleted: 1 })
  expect(() => control(emulator, 'redeliver', id)).toThrow('no longer exists')
  expect(() => control(emulator, 'delete', 'hook-1')).toThrow(Refusal)
})

const NO_URLS = [
  ...['ftp://127.0.0.1/', 'http:127.0.0.1', 'http://user@127.0.0.1/', 'http://:secret@127.0.0.1/'],
  ...['http://@127.0.0.1/', 'http://127.0.0.1\\@evil/', ' http://127.0.0.1/', 'http://127.0.0.1:99999/'],
  `http://127.0.0.1/${'x'.repeat(2048)}`,
]

test.for<[place: string, changes: object]>([
  ...NO_URLS.map((url) => ['url', { url }] satisfies [string, object]),
  ['events', { events: [] }],
  ['events/0', { events: ['thing.mad'] }],
  ['secret', { secret: '' }],
])('a subscription is refused at %s: %j', async ([place, changes]) => {
  const webhooks = [{ ...subscription, ...changes }]
  await expect(startingState({ webhooks })).rejects.toThrow(`/webhooks/0/${place}`)
})

test('an unknown type is refused with the nearest known one, in the settings, too', async () => {
  const events = ['thing.broke']
  const settings = { 'webhooks.subscriptions': [{ url: HOOK, events }] }
  for (const given of [{ webhooks: [{ ...subscription, events }] }, { settings }])
    await expect(startingState(given)).rejects.toThrow('Did you mean "thing.broken"?')
})

test.for<[name: string, ...values: Json[]]>([
  ['subscriptions', [{ url: HOOK }, { url: HOOK }], [{ url: 'http://a:b@127.0.0.1' }]],
  ['event_header', 'Content-Length', 'X Event'],
  ['signature', { header: 'Host', secret: 's' }, { header: 'X-S', secret: 's', prefix: 'a\nb' }],
  ['signature', { header: 'X-S' }],
  ['retry', ['soon'], ['9999d']],
  ['timeout', '0s', '6m'],
  ['envelope', 'box'],
])('the setting webhooks.%s cannot be %j', async ([name, ...values]) => {
  const key = `webhooks.${name}`
  for (const value of values)
    await expect(startingState({ settings: { [key]: value } })).rejects.toThrow(`/settings/${key}`)
})

const attempted = { attempt: 1, at: '2026-03-01T11:00:00.000Z', outcome: 'delivered', status: 200 }
const delivered = {
  ...{ id: 'd1', webhook_id: 'hook-1', url: HOOK, type: 'thing.made', ref: 'things/1', body: { n: 1 } },
  status: 'delivered',
  attempts: [attempted],
  created_at: '2026-03-01T11:00:00.000Z',
}
const unsent = { ...delivered, status: 'pending', attempts: [] }
const open = { ...attempted, outcome: null }
const failed = { attempts: [{ ...attempted, outcome: 'failed' }] }
const faults = { rules: ['r'] }
const retry_at = '2026-03-01T13:00:00.000Z'

test.for([delivered, unsent])('a delivery that the next table changes is accepted: %j', async (delivery) => {
  await expect(startingState({ deliveries: [delivery] })).resolves.toBeDefined()
})

test.for<[pointer: string, changed: object]>([
  ['/type', { ...delivered, type: 'thing.eaten' }],
  ['/id', { ...delivered, id: 'a\r\nX-Evil: 1' }],
  ['/body', { ...delivered, body: [] }],
  ['/attempts', { ...delivered, attempts: [] }],
  ['/attempts', { ...delivered, status: 'sending' }],
  ['/attempts', { ...delivered, status: 'failed' }],
  ['/attempts/0/attempt', { ...delivered, attempts: [{ ...attempted, attempt: 2 }] }],
  ['/attempts/0/outcome', { ...delivered, attempts: [open, { ...attempted, attempt: 2 }] }],
  ['/retry_at', { ...delivered, retry_at }],
  ['/retry_at', { ...delivered, ...failed, status: 'waiting' }],
  ['/faults/rules', { ...unsent, faults: { rules: [] } }],
  ['/faults/drip', { ...unsent, faults: { ...faults, drip: true } }],
  ['/faults/delay', { ...unsent, faults: { ...faults, delay: 'soon' } }],
  ['/faults/copy_of', { ...unsent, faults: { ...faults, copy_of: 'a\r\nX-Evil: 1' } }],
  ['/attempts', { ...unsent, status: 'dropped' }],
  ['/attempts', { ...unsent, status: 'waiting', retry_at }],
  ['/retry_at', { ...unsent, status: 'waiting', faults }],
  ['/retry_at', { ...unsent, status: 'dropped', retry_at, faults }],
])('an impossible delivery is refused at %s: %j', async ([pointer, changed]) => {
  const problem = `/webhook_deliveries/0${pointer} `
  await expect(startingState({ deliveries: [changed] })).rejects.toThrow(problem)
})

test('loaded deliveries go on: waiting ones are scheduled, interrupted ones are sent again, dropped ones stay', async () => {
  const body = [JSON.parse('{"__proto__":{"x":1},"a":null}')]
  const emulator = await outboxEmulator({
    deliveries: [
      { ...delivered, ...failed, id: 'w', status: 'waiting', retry_at: '2026-03-01T12:00:05.000Z' },
      { ...delivered, id: 's', status: 'sending', attempts: [open] },
      { ...unsent, id: 'late', status: 'waiting', retry_at, faults: { ...faults, delay: '2h', body } },
      { ...unsent, id: 'gone', status: 'dropped', faults: { ...faults, drop: true } },
    ],
  })
  expect(emulator.delivery('s')).toMatchObject({ status: 'pending', attempts: [{ outcome: 'interrupted' }] })
  expect(emulator.delivery('gone').status).toBe('dropped')
  expect(JSON.stringify(emulator.delivery('late').faults?.body)).toBe(JSON.stringify(body))
  expect(emulator.sandbox.scheduler.horizon()).toMatchObject([
    { kind: 'webhook.retry', ref: 'webhook_deliveries/w' },
    { kind: 'webhook.release', ref: 'webhook_deliveries/late', due_at: retry_at },
  ])
  await emulator.advance(5 * SECOND)
  expect(emulator.delivery('w').status).toBe('pending')
})

test('due deliveries are found in order of creation, whatever the order of the records', async () => {
  const last = { ...unsent, id: '0', created_at: '2026-03-01T11:00:01.000Z' }
  const deliveries = [last, { ...unsent, id: 'b' }, delivered, { ...unsent, id: 'a' }]
  const emulator = await outboxEmulator({ deliveries })
  const due = new DueDeliveries(emulator.sandbox.store)
  emulator.sandbox.store.onCommit((commit) => due.update(commit))
  const order = []
  for (let next = due.next(); next !== undefined; next = due.next()) {
    order.push(`${next.id} of ${due.size}`)
    change(emulator.sandbox, (scope) => beginAttempt(scope, emulator.delivery(next?.id ?? '')))
  }
  expect([order, due.size]).toEqual([['a of 3', 'b of 2', '0 of 1'], 0])
  change(emulator.sandbox, (scope) => interrupt(scope, emulator.delivery('b')))
  expect(due.next()?.id).toBe('b')
  change(emulator.sandbox, ({ tx }) => tx.delete('webhook_deliveries', 'b'))
  expect([due.next(), due.size]).toEqual([undefined, 0])
})

test('no retry follows when it would be after the last instant of the clock', async () => {
  const { emulator, id, now } = await toldDelivery(retrying('366d'))
  emulator.sandbox.clock.moveTo(Date.UTC(9998, 11, 31))
  attempt(emulator, id, FAILED)
  expect(now()).toMatchObject({ status: 'failed', retry_at: null })
})
