import { expect, test } from 'vitest'
import { controlWorld } from '../support/control-world.ts'

const NOON = '2026-03-01T12:00:00.000Z'

test('the clock shows instant, rate and the next event', async () => {
  const world = await controlWorld()
  expect((await world.call('GET', '/clock')).body).toEqual({
    now: NOON,
    rate: 0,
    skip_on_poll: false,
    next: null,
  })
  await world.call('POST', '/shelves/s1/close', { after: '90s' })
  expect((await world.call('GET', '/clock')).body.next).toEqual({
    at: '2026-03-01T12:01:30.000Z',
    kind: 'shelf.close',
    ref: 'shelves/s1',
    urgency: 'work',
    says: 'The shelf closes.',
  })
})

test('advance settles and answers a receipt of everything that happened, in order', async () => {
  const world = await controlWorld()
  await world.call('POST', '/shelves/s2/close', { after: 'PT2H' })
  await world.call('POST', '/shelves/s1/close', { after: '10m' })
  const { body, status } = await world.call('POST', '/clock/advance', { by: '24h' })
  expect(status).toBe(200)
  expect(body).toEqual({
    from: NOON,
    to: '2026-03-02T12:00:00.000Z',
    events: [
      {
        at: '2026-03-01T12:10:00.000Z',
        kind: 'shelf.close',
        ref: 'shelves/s1',
        says: 'The shelf closes.',
        caused_by: 'control',
        from: 'open',
        to: 'closed',
      },
      {
        at: '2026-03-01T14:00:00.000Z',
        kind: 'shelf.close',
        ref: 'shelves/s2',
        says: 'The shelf closes.',
        caused_by: 'control',
        from: 'open',
        to: 'closed',
      },
    ],
    parked: [],
  })
  expect((await world.call('GET', '/clock/horizon')).body).toEqual({ object: 'list', data: [] })
})

test('an event that fails is parked in the receipt, and time goes on', async () => {
  const world = await controlWorld({ forgiving: true })
  await world.call('PATCH', '/state/shelves/s1', { name: 'cursed' })
  await world.call('POST', '/shelves/s1/close', { after: '1m' })
  await world.call('POST', '/shelves/s2/close', { after: '2m' })
  const { body } = await world.call('POST', '/clock/advance', { by: '1h' })
  expect(body.parked).toMatchObject([{ ref: 'shelves/s1', error: 'the shelf is cursed' }])
  expect(body.events).toMatchObject([{ ref: 'shelves/s2' }])
})

test('advance to an instant, and by a number of events', async () => {
  const world = await controlWorld()
  await world.call('POST', '/shelves/s1/close', { after: '10m' })
  await world.call('POST', '/shelves/s2/close', { after: '2h' })
  const first = await world.call('POST', '/clock/advance', { steps: 1 })
  expect(first.body).toMatchObject({ to: '2026-03-01T12:10:00.000Z', events: [{ ref: 'shelves/s1' }] })
  const second = await world.call('POST', '/clock/advance', { to: '2026-03-01T15:00:00+01:00' })
  expect(second.body).toMatchObject({ to: '2026-03-01T14:00:00.000Z', events: [{ ref: 'shelves/s2' }] })
  expect((await world.call('POST', '/clock/advance', { steps: 5 })).body.events).toEqual([])
})

test.for<[name: string, method: string, path: string, body: object]>([
  ['an advance', 'POST', '/clock/advance', { by: '1h' }],
  ['no time at all', 'POST', '/clock/advance', { by: '0s' }],
  ['another step', 'POST', '/clock/advance', { steps: 1 }],
])('what a step leaves due at its instant is in the receipt of %s', async ([, method, path, body]) => {
  const world = await controlWorld()
  await world.call('POST', '/shelves/s1/close', { after: '10m' })
  await world.call('POST', '/shelves/s2/close', { after: '10m' })
  const first = await world.call('POST', '/clock/advance', { steps: 1 })
  const second = await world.call(method, path, body)
  expect([first.body.events, second.body.events]).toMatchObject([
    [{ ref: 'shelves/s1' }],
    [{ ref: 'shelves/s2' }],
  ])
  expect(second.body.from).toBe(first.body.to)
})

test('a clock that is moved or changed lets happen what a step has left due', async () => {
  for (const change of [{ now: '2026-03-01T12:10:00Z' }, { rate: 0 }]) {
    const world = await controlWorld()
    await world.call('POST', '/shelves/s1/close', { after: '10m' })
    await world.call('POST', '/shelves/s2/close', { after: '10m' })
    await world.call('POST', '/clock/advance', { steps: 1 })
    const { body } = await world.call('PATCH', '/clock', change)
    expect([body.now, body.next]).toEqual(['2026-03-01T12:10:00.000Z', null])
  }
})

test.for<[name: string, body: object, pointer: string]>([
  ['none', {}, ''],
  ['two', { by: '1h', steps: 1 }, ''],
  ['all', { by: '1h', steps: 1, to: NOON }, ''],
  ['a bare number', { by: 5 }, '/by'],
  ['a number as text', { by: '5' }, '/by'],
  ['a negative duration', { by: '-1h' }, '/by'],
  ['a local instant', { to: '2026-03-02T12:00:00' }, '/to'],
  ['a day that does not exist', { to: '2026-02-30T00:00:00Z' }, '/to'],
  ['no step', { steps: 0 }, '/steps'],
  ['half a step', { steps: 0.5 }, '/steps'],
  ['a time past the last instant', { by: '9999999d' }, '/by'],
  ['a time beyond counting', { by: '99999999999999999999d' }, '/by'],
  ['an unknown member', { until: 'noon' }, '/until'],
])('advance by %s is refused, and nothing changes', async ([, body, pointer]) => {
  const world = await controlWorld()
  const before = world.digest()
  const answer = await world.call('POST', '/clock/advance', body)
  expect(answer.status).toBe(400)
  expect(answer.body.details.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer)
  expect(world.digest()).toBe(before)
})

test.for<[method: string, path: string, body: object]>([
  ['POST', '/clock/advance', { to: '2026-03-01T11:59:59.999Z' }],
  ['PATCH', '/clock', { now: '2026-03-01T11:59:59.999Z', rate: 5 }],
])('time does not go back: %s %s is a 409 with the way out', async ([method, path, body]) => {
  const world = await controlWorld()
  const before = world.digest()
  const answer = await world.call(method, path, body)
  expect([answer.status, answer.body.error]).toEqual([409, 'conflict'])
  expect(answer.body.mitigation).toContain('/__emulator/reset')
  expect(world.digest()).toBe(before)
})

test('the present instant and no time at all are fine', async () => {
  const world = await controlWorld()
  expect((await world.call('POST', '/clock/advance', { to: NOON })).status).toBe(200)
  expect((await world.call('POST', '/clock/advance', { by: '0s' })).body.to).toBe(NOON)
})

test('PATCH changes how time passes, moves the clock forward, and settles on the way', async () => {
  const world = await controlWorld()
  await world.call('POST', '/shelves/s1/close', { after: '10m' })
  const answer = await world.call('PATCH', '/clock', {
    now: '2026-03-01T13:00:00Z',
    rate: 60,
    skip_on_poll: true,
  })
  expect(answer.body).toEqual({ now: '2026-03-01T13:00:00.000Z', rate: 60, skip_on_poll: true, next: null })
  expect((await world.call('GET', '/state/shelves/s1')).body.status).toBe('closed')
  const { clock } = (await world.call('GET', '/state')).body
  expect(clock).toMatchObject({ now: '2026-03-01T13:00:00.000Z', rate: 60, skip_on_poll: true })
})

test('PATCH with nothing changes nothing', async () => {
  const world = await controlWorld()
  const before = world.digest()
  expect((await world.call('PATCH', '/clock', {})).status).toBe(200)
  expect(world.digest()).toBe(before)
})

test.for([-1, 100_001, '1', null])('a rate of %j is refused', async (rate) => {
  const world = await controlWorld()
  expect((await world.call('PATCH', '/clock', { rate })).status).toBe(400)
  expect(world.sandbox.clock.rate).toBe(0)
})

test('the horizon lists every future event in the order in which it will happen', async () => {
  const world = await controlWorld()
  await world.call('POST', '/shelves/s2/close', { after: '2h' })
  await world.call('POST', '/shelves/s1/close', { after: '1h' })
  const { data } = (await world.call('GET', '/clock/horizon')).body
  expect(data.map(({ at, ref, urgency }: Record<string, string>) => [at, ref, urgency])).toEqual([
    ['2026-03-01T13:00:00.000Z', 'shelves/s1', 'work'],
    ['2026-03-01T14:00:00.000Z', 'shelves/s2', 'work'],
  ])
})
