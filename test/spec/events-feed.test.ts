import { expect, test } from 'vitest'
import { packageVersion } from '../../src/adapters/package.ts'
import { advance } from '../../src/core/time/advance.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { type EventFeed, follow } from '../support/event-feed.ts'
import { interveneBy } from '../support/intervene.ts'

const NOON = '2026-03-01T12:00:00.000Z'
const LATER = '2026-03-01T13:00:00.000Z'

/** An emulator and an open feed of its sandbox. */
async function followed(query = '', options: Parameters<typeof controlEmulator>[0] = {}) {
  const emulator = await controlEmulator(options)
  const feed = await follow(`http://127.0.0.1:${emulator.port}/__emulator`, query)
  return { emulator, feed }
}

const TYPES = 'request, event, delivery, transition, clock, schedule, scenario, gate, sandbox'

const typesOf = ({ events }: EventFeed) => events.map(({ type }) => type)

test('the feed is an event stream with no-store, and its first event describes the sandbox', async () => {
  const { feed } = await followed()
  const hello = await feed.next('hello')
  const streamed = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
  expect(feed.response.headers).toMatchObject({ ...streamed, date: 'Sun, 01 Mar 2026 12:00:00 GMT' })
  const clock = { sandbox: 'default', now: NOON, rate: 0, revision: expect.any(Number) }
  const about = { version: packageVersion(), started_at: expect.any(String), types: TYPES.split(', ') }
  expect([hello.id, hello.data]).toEqual([1, { ...clock, ...about }])
})

test('requests are reported as in the log, errors only by their code', async () => {
  const { emulator, feed } = await followed('?types=request')
  emulator.perform('books.create', { shelf_id: 's1' }, { title: 'x'.repeat(11) })
  const route = { method: 'POST', path: '/v1/shelves/s1/books', operation: 'books.create' }
  const outcome = { status: 400, error: 'validation_failed' }
  expect((await feed.next('request')).data).toEqual({ id: 'default-000001', at: NOON, ...route, ...outcome })
  emulator.perform('books.list')
  expect((await feed.next('request')).data).toMatchObject({ status: 200, error: null })
})

test('an advance reports each transition, its event and the clock; other changes of a record are no transitions', async () => {
  const { emulator, feed } = await followed('?types=event,transition,clock')
  const shelf = { id: 's9', name: 'New', note: null, created_at: NOON }
  await emulator.call('PATCH', '/state/shelves/s1', { note: 'dusted' })
  await emulator.call('PUT', '/state/shelves/s9', shelf)
  await emulator.call('DELETE', '/state/shelves/s9')
  await emulator.call('PATCH', '/state/shelves/s2', { status: 'closed' })
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  await emulator.call('POST', '/clock/advance', { by: '1h' })
  await feed.next('clock')
  const at = '2026-03-01T12:10:00.000Z'
  expect(feed.events.slice(1).map(({ type, data }) => [type, data])).toEqual([
    ['transition', { ref: 'shelves/s2', from: 'open', to: 'closed', at: NOON }],
    ['transition', { ref: 'shelves/s1', from: 'open', to: 'closed', at }],
    ['event', expect.objectContaining({ at, kind: 'shelf.close', ref: 'shelves/s1', to: 'closed' })],
    ['clock', { now: LATER, rate: 0, skip_on_poll: false }],
  ])
  expect(feed.events.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
})

test('each change of the next event is reported, and no other change of the schedule', async () => {
  const { emulator, feed } = await followed('?types=schedule')
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  await emulator.call('POST', '/shelves/s2/close', { after: '20m' })
  await emulator.call('PATCH', '/state/shelves/s1', { note: 'dusted' })
  await emulator.call('POST', '/shelves/s2/close', { after: '5m' })
  await emulator.call('POST', '/clock/advance', { steps: 2 })
  const told = []
  for (let n = 0; n < 4; n++) told.push((await feed.next('schedule')).data)
  const [five, ten] = ['2026-03-01T12:05:00.000Z', '2026-03-01T12:10:00.000Z']
  expect(told).toMatchObject([
    { at: NOON, next: { ref: 'shelves/s1', at: ten } },
    { at: NOON, next: { ref: 'shelves/s2', at: five } },
    { at: five, next: { ref: 'shelves/s1', at: ten } },
    { at: ten, next: null },
  ])
})

test('a failed event is reported with its error, and an attempt to deliver a webhook as a delivery, not as an event', async () => {
  const { emulator, feed } = await followed('?types=event,delivery', { forgiving: true })
  await emulator.call('PATCH', '/state/shelves/s1', { name: 'cursed' })
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  await emulator.call('POST', '/clock/advance', { by: '1h' })
  expect((await feed.next('event')).data).toMatchObject({ ref: 'shelves/s1', error: 'the shelf is cursed' })
  const happened = { at: NOON, kind: 'webhook.delivered', ref: 'webhook_deliveries/d1', caused_by: 'test' }
  const webhook = { url: 'http://127.0.0.1:9/hook', attempt: 1, status: 200, ms: 3 }
  emulator.sandbox.listeners.event({ ...happened, description: 'Attempt 1 succeeded.', webhook })
  expect((await feed.next('delivery')).data).toMatchObject({ ...happened, webhook })
  expect(typesOf(feed)).toEqual(['hello', 'event', 'delivery'])
})

test('a reset is reported, and the feed continues in the new sandbox', async () => {
  const { emulator, feed } = await followed('?types=sandbox,request,clock')
  await emulator.call('PATCH', '/clock', { now: LATER })
  await emulator.call('POST', '/reset')
  const { revision } = emulator.sandbox.store
  expect((await feed.next('sandbox')).data).toEqual({ sandbox: 'default', now: NOON, rate: 0, revision })
  emulator.perform('books.list')
  await feed.next('request')
  const clocks = feed.events.filter(({ type }) => type === 'clock').map(({ data }) => data.now)
  expect([clocks.at(0), clocks.at(-1)]).toEqual([LATER, NOON])
})

test('each unknown type is refused, with the nearest name', async () => {
  const emulator = await controlEmulator()
  const { status, body } = await emulator.call('GET', '/events?types=request,deliveries,')
  expect(status).toBe(400)
  const wrong = ['deliveries', ''].map((word) => {
    const detail = `must be one or more of ${TYPES}, separated by commas; "${word}" is not one of them.`
    return { pointer: '/query/types', detail: expect.stringContaining(detail) }
  })
  expect(body.details.errors).toEqual(wrong)
  expect(body.message).toContain('Did you mean "delivery"?')
  expect((await emulator.call('GET', '/events?type=request')).body.message).toContain('Did you mean "types"?')
})

test('a client that disconnects leaves no listener', async () => {
  const emulator = await controlEmulator()
  const { log } = emulator.sandbox
  let listeners = 0
  log.onEntry = () => {
    listeners += 1
    return () => {
      listeners -= 1
    }
  }
  const feed = await follow(`http://127.0.0.1:${emulator.port}/__emulator`)
  await feed.next('hello')
  expect(listeners).toBe(1)
  feed.close()
  await expect.poll(() => listeners).toBe(0)
})

test('a feed ends soon after its sandbox is removed', async () => {
  const { emulator } = await testEmulator()
  await emulator.sandboxes.create('w1', {}, false)
  const feed = await follow(`http://127.0.0.1:${emulator.port}/@w1/__emulator`)
  expect((await feed.next('hello')).data.sandbox).toBe('w1')
  await emulator.sandboxes.delete('w1')
  expect((await feed.next('end')).data).toEqual({ reason: 'the sandbox was removed' })
  await feed.ended
})

test('X6 no secret is in the feed', async () => {
  const emulator = await testEmulator({ controlToken: 'canary-control' })
  const headers = { authorization: 'Bearer canary-control' }
  const feed = await follow(emulator.emulator.controlUrl, '', headers)
  await emulator.get('/data-views?token=canary-query', { token: 'canary-key' })
  await emulator.get('/data-views')
  await emulator.post('/agents/claim', { claim_token: 'canary-claim' })
  const flow = { code: 'canary-code', state: 'canary-state' }
  await emulator.post('/organization/mcp-servers/s/oauth-callback', flow)
  const webhook = { url: 'http://127.0.0.1:9/hook', secret: 'canary-secret' }
  interveneBy(emulator.sandbox, 'POST /webhooks', {}, webhook)
  await advance(emulator.emulator.sandbox, { to: (now) => now + 1_000 })
  await feed.next('clock')
  expect(feed.events.filter(({ type }) => type === 'request')).toHaveLength(4)
  expect(feed.text()).not.toMatch(/canary|live_|service_a|sha256:/)
})
