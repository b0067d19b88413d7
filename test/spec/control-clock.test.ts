import { expect, test } from 'vitest'
import { controlEmulator } from '../support/control-emulator.ts'

const NOON = '2026-03-01T12:00:00.000Z'

test('the clock shows instant, rate and the next event', async () => {
  const emulator = await controlEmulator()
  const stopped = { now: NOON, rate: 0, skip_on_poll: false, lag_ms: 0, held: 0, next: null, frozen: null }
  expect((await emulator.call('GET', '/clock')).body).toEqual(stopped)
  await emulator.call('POST', '/shelves/s1/close', { after: '90s' })
  const event = { kind: 'shelf.close', ref: 'shelves/s1', urgency: 'work', description: 'The shelf closes.' }
  const { next } = (await emulator.call('GET', '/clock')).body
  expect(next).toEqual({ at: '2026-03-01T12:01:30.000Z', ...event })
})

test('an advance runs the events of the horizon and responds with all of them, in order', async () => {
  const emulator = await controlEmulator()
  await emulator.call('POST', '/shelves/s2/close', { after: 'PT2H' })
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  const horizon = async () => (await emulator.call('GET', '/clock/horizon')).body.data
  const due = [
    { at: '2026-03-01T12:10:00.000Z', ref: 'shelves/s1' },
    { at: '2026-03-01T14:00:00.000Z', ref: 'shelves/s2' },
  ]
  expect(await horizon()).toMatchObject(due)
  const { body } = await emulator.call('POST', '/clock/advance', { by: '24h' })
  const closes = { kind: 'shelf.close', description: 'The shelf closes.', from: 'open', to: 'closed' }
  const events = due.map((each) => ({ ...closes, ...each, caused_by: 'control' }))
  expect(body).toEqual({ from: NOON, to: '2026-03-02T12:00:00.000Z', events, failed: [] })
  expect(await horizon()).toEqual([])
})

test('the last advance is shown whoever requested it, until the state is replaced', async () => {
  const emulator = await controlEmulator()
  const latest = async () => (await emulator.call('GET', '/clock/advance')).body
  expect(await latest()).toEqual({ running: false, result: null })
  await emulator.call('POST', '/shelves/s1/close', { after: '10m' })
  const { body } = await emulator.call('POST', '/clock/advance', { by: '1h' })
  expect(body.events).toHaveLength(1)
  expect(await latest()).toEqual({ running: false, result: body })
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
  await emulator.call(method, path, body)
  expect((await emulator.call('GET', '/clock')).body).toMatchObject({ now: first.body.to, next: null })
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
