import { expect, test } from 'vitest'
import { controlEmulator } from '../support/control-emulator.ts'

const NOON = '2026-03-01T12:00:00.000Z'

test('the clock shows instant, rate and the next event', async () => {
  const emulator = await controlEmulator()
  const stopped = { now: NOON, rate: 0, skip_on_poll: false, lag_ms: 0, held: 0, next: null, frozen: null }
  expect((await emulator.call('GET', '/clock')).body).toEqual(stopped)
  await emulator.call('POST', '/shelves/s1/close', { after: '90s' })
  expect((await emulator.call('GET', '/clock')).body.next).toEqual({
    at: '2026-03-01T12:01:30.000Z',
    kind: 'shelf.close',
    ref: 'shelves/s1',
    urgency: 'work',
    description: 'The shelf closes.',
  })
})

test('an advance runs the events of the horizon and responds with all of them, in order', async () => {
  const emulator = await controlEmulator()
  await emulator.call('POST', '/shelves/s2/close', { after: 'PT2H' })
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  const { data } = (await emulator.call('GET', '/clock/horizon')).body
  expect(data).toMatchObject([
    { at: '2026-03-01T12:10:00.000Z', ref: 'shelves/s1', urgency: 'work' },
    { at: '2026-03-01T14:00:00.000Z', ref: 'shelves/s2', urgency: 'work' },
  ])
  const { body, status } = await emulator.call('POST', '/clock/advance', { by: '24h' })
  expect(status).toBe(200)
  const closes = { kind: 'shelf.close', description: 'The shelf closes.', from: 'open', to: 'closed' }
  expect(body).toEqual({
    from: NOON,
    to: '2026-03-02T12:00:00.000Z',
    events: [
      { ...closes, at: '2026-03-01T12:10:00.000Z', ref: 'shelves/s1', caused_by: 'control' },
      { ...closes, at: '2026-03-01T14:00:00.000Z', ref: 'shelves/s2', caused_by: 'control' },
    ],
    failed: [],
  })
  expect((await emulator.call('GET', '/clock/horizon')).body).toEqual({ object: 'list', data: [] })
})

test('the last advance is shown whoever requested it, until the state is replaced', async () => {
  const emulator = await controlEmulator()
  const latest = async () => (await emulator.call('GET', '/clock/advance')).body
  expect(await latest()).toEqual({ running: false, result: null })
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  const { body } = await emulator.call('POST', '/clock/advance', { by: '1h' })
  expect(body.events).toHaveLength(1)
  expect(await latest()).toEqual({ running: false, result: body })
  // A refused advance leaves it unchanged.
  expect((await emulator.call('POST', '/clock/advance', { to: NOON })).status).toBe(409)
  expect(await latest()).toEqual({ running: false, result: body })
  await emulator.call('PATCH', '/clock', { now: '2026-03-01T14:00:00.000Z' })
  expect((await latest()).result).toMatchObject({ from: body.to, to: '2026-03-01T14:00:00.000Z' })
  await emulator.call('POST', '/reset')
  expect(await latest()).toEqual({ running: false, result: null })
})

test.for<[name: string, method: string, path: string, body: object]>([
  ['no time at all', 'POST', '/clock/advance', { by: '0s' }],
  ['another step', 'POST', '/clock/advance', { steps: 1 }],
  ['a clock that is moved', 'PATCH', '/clock', { now: '2026-03-01T12:10:00Z' }],
  ['a clock that is changed', 'PATCH', '/clock', { rate: 0 }],
])('events that a step leaves due at its instant run with %s', async ([, method, path, body]) => {
  const emulator = await controlEmulator()
  for (const id of ['s1', 's2']) await emulator.call('POST', `/shelves/${id}/close`, { after: '10m' })
  const first = await emulator.call('POST', '/clock/advance', { steps: 1 })
  expect(first.body.events).toMatchObject([{ ref: 'shelves/s1' }])
  const second = (await emulator.call(method, path, body)).body
  if (method === 'POST')
    expect(second).toMatchObject({ from: first.body.to, events: [{ ref: 'shelves/s2' }] })
  expect((await emulator.call('GET', '/clock')).body).toMatchObject({ now: first.body.to, next: null })
})

test.for<[name: string, body: object, pointer: string]>([
  ['none', {}, ''],
  ['two', { by: '1h', steps: 1 }, ''],
  ['a bare number', { by: 5 }, '/by'],
  ['a number as text', { by: '5' }, '/by'],
  ['a negative duration', { by: '-1h' }, '/by'],
  ['a local instant', { to: '2026-03-02T12:00:00' }, '/to'],
  ['a day that does not exist', { to: '2026-02-30T00:00:00Z' }, '/to'],
  ['no step', { steps: 0 }, '/steps'],
  ['half a step', { steps: 0.5 }, '/steps'],
  ['at most no event', { by: '1h', max_events: 0 }, '/max_events'],
  ['more than a million events', { by: '1h', max_events: 1_000_001 }, '/max_events'],
  ['a time past the last instant', { by: '9999999d' }, '/by'],
  ['a time beyond counting', { by: '99999999999999999999d' }, '/by'],
  ['an unknown member', { until: 'noon' }, '/until'],
])('advance by %s is refused, and nothing changes', async ([, body, pointer]) => {
  const emulator = await controlEmulator()
  const before = emulator.digest()
  const response = await emulator.call('POST', '/clock/advance', body)
  expect(response.status).toBe(400)
  expect(response.body.details.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer)
  expect(emulator.digest()).toBe(before)
})

test.for<[method: string, path: string, body: object]>([
  ['POST', '/clock/advance', { to: '2026-03-01T11:59:59.999Z' }],
  ['PATCH', '/clock', { now: '2026-03-01T11:59:59.999Z', rate: 5 }],
])('time does not go back: %s %s is a 409 with a mitigation', async ([method, path, body]) => {
  const emulator = await controlEmulator()
  const before = emulator.digest()
  const response = await emulator.call(method, path, body)
  expect([response.status, response.body.error]).toEqual([409, 'conflict'])
  expect(response.body.mitigation).toContain('call POST /reset JSON')
  expect(emulator.digest()).toBe(before)
})

test('PATCH changes the rate and skip_on_poll, moves the clock forward, and runs the events in between', async () => {
  const emulator = await controlEmulator()
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  const forward = { now: '2026-03-01T13:00:00Z', rate: 60, skip_on_poll: true }
  const response = await emulator.call('PATCH', '/clock', forward)
  const changed = { now: '2026-03-01T13:00:00.000Z', rate: 60, skip_on_poll: true }
  expect(response.body).toMatchObject({ ...changed, next: null })
  expect((await emulator.call('GET', '/state/shelves/s1')).body.status).toBe('closed')
  expect((await emulator.call('GET', '/state')).body.clock).toMatchObject(changed)
  const before = emulator.digest()
  expect((await emulator.call('PATCH', '/clock', {})).status).toBe(200)
  expect(emulator.digest()).toBe(before)
})

test.for([-1, 100_001, '1', null])('a rate of %j is refused', async (rate) => {
  const emulator = await controlEmulator()
  expect((await emulator.call('PATCH', '/clock', { rate })).status).toBe(400)
  expect(emulator.sandbox.clock.rate).toBe(0)
})
