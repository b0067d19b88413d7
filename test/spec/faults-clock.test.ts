import { expect, test } from 'vitest'
import type { ClockFault } from '../../src/kernel/faults/actions.ts'
import { batchWorld, createBatch } from '../support/batches.ts'
import { armRule } from '../support/faults.ts'
import { type TestWorld, testWorld } from '../support/world.ts'

function clock(world: TestWorld, fault: ClockFault): void {
  armRule(world.sandbox, { when: { nth: 1 }, do: [{ clock: fault }] })
}

test.for([
  ['-5m', 'Sun, 01 Mar 2026 11:55:00 GMT'],
  ['2h', 'Sun, 01 Mar 2026 14:00:00 GMT'],
  ['+2h', 'Sun, 01 Mar 2026 14:00:00 GMT'],
  ['-PT1H', 'Sun, 01 Mar 2026 11:00:00 GMT'],
  ['-1000000d', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['9000000d', 'Thu, 31 Dec 9998 23:59:59 GMT'],
] as const)('the Date of one answer is off by %s, and the clock stays right', async ([offset, date]) => {
  const world = await testWorld()
  clock(world, { offset })
  const answer = await world.post('/pages', { name: 'Plan' })
  expect(answer.headers.get('date')).toBe(date)
  expect(answer.body.created_at).toBe('2026-03-01T12:00:00.000Z')
  expect((await world.get('/agents')).headers.get('date')).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
})

test('time passes before the handler runs, and all that is due by then has happened', async () => {
  const world = await batchWorld()
  const { id } = await createBatch(world)
  clock(world, { advance: '1h' })
  const answer = await world.get(`/batch-predictions/${id}`)
  expect(answer.body.status).toBe('completed')
  expect(answer.headers.get('date')).toBe('Sun, 01 Mar 2026 13:00:00 GMT')
  expect((await world.control('GET', '/clock')).body.now).toBe('2026-03-01T13:00:00.000Z')
})

test('what the handler writes has the instant at which it runs', async () => {
  const world = await testWorld()
  clock(world, { jump: '2026-03-02T00:00:00Z' })
  const { body } = await world.post('/pages', { name: 'Plan' })
  expect(body.created_at).toBe('2026-03-02T00:00:00.000Z')
})

test('a jump to an instant that is over changes nothing', async () => {
  const world = await testWorld()
  clock(world, { jump: '2020-01-01T00:00:00Z' })
  expect((await world.get('/agents')).headers.get('date')).toBe('Sun, 01 Mar 2026 12:00:00 GMT')
  expect(world.now()).toBe(Date.parse('2026-03-01T12:00:00Z'))
})

test('time ends where it ends', async () => {
  const world = await testWorld()
  clock(world, { advance: '9000000d' })
  expect((await world.get('/agents')).status).toBe(200)
  expect(new Date(world.now()).toISOString()).toBe('9998-12-31T23:59:59.999Z')
})

test('the clock can be made to stand still', async () => {
  const world = await testWorld({ rate: 1 })
  clock(world, { freeze: true, advance: '1m' })
  await world.get('/agents')
  const frozen = (await world.control('GET', '/clock')).body
  expect(frozen.rate).toBe(0)
  expect((await world.control('GET', '/clock')).body.now).toBe(frozen.now)
})

test('a request that is refused before lets no time pass', async () => {
  const world = await testWorld()
  clock(world, { advance: '1h' })
  expect((await world.get('/agents', { key: 'none' })).status).toBe(401)
  expect(world.now()).toBe(Date.parse('2026-03-01T12:00:00Z'))
})

test('time passes for an injected answer too, which comes last', async () => {
  const world = await batchWorld()
  await createBatch(world)
  armRule(world.sandbox, { do: [{ respond: { status: 503 } }, { clock: { advance: '1h' } }] })
  const answer = await world.get('/batch-predictions/nothing')
  expect([answer.status, answer.headers.get('date')]).toEqual([503, 'Sun, 01 Mar 2026 13:00:00 GMT'])
  expect(world.state('batch_predictions')).toMatchObject([{ status: 'completed' }])
})
