import { expect, test } from 'vitest'
import { END_OF_TIME } from '../../src/core/time/clock.ts'
import { aBatch, batchEmulator } from '../support/batches.ts'
import { controlEmulator } from '../support/control-emulator.ts'
import { demoWith, issuesOf } from '../support/starting-states.ts'

const AFTER = '9999-01-01T00:00:00.000Z'

test.for<[method: string, path: string, body: object, pointer: string]>([
  ['POST', '/sandboxes', { name: 'late', clock: AFTER }, '/clock'],
  ['POST', '/reset', { clock: AFTER }, '/clock'],
  ['PATCH', '/clock', { now: AFTER }, '/now'],
  ['POST', '/clock/advance', { by: '3000000d' }, '/by'],
])('%s %s refuses an instant after the last one of the clock: %j', async ([method, path, body, pointer]) => {
  const emulator = await controlEmulator()
  const before = emulator.digest()
  const response = await emulator.call(method, path, body)
  expect([response.status, response.body.error]).toEqual([400, 'validation_failed'])
  expect(response.body.details.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer)
  expect(emulator.digest()).toBe(before)
})

test.for(['+9999999d', '+99999999999d'])(
  'fixtures with a timestamp %s after the start are refused at their field',
  async (created_at) => {
    const [issue] = await issuesOf(demoWith('skills', 'skill-takeoff', () => ({ created_at })))
    expect(issue?.pointer).toBe('/collections/skills/0/created_at')
  },
)

test('a request whose event would be after the last instant of the clock is refused with the way out, and changes nothing', async () => {
  const clock = new Date(END_OF_TIME - 1_000).toISOString()
  const emulator = await batchEmulator({}, { clock })
  const response = await emulator.post('/batch-predictions', aBatch())
  expect(response.status).toBe(409)
  expect(JSON.stringify(response.body)).toContain('9998-12-31T23:59:59.999Z')
  expect(emulator.sandbox.store.revision).toBe(0)
})
