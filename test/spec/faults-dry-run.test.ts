import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'

test('a rule with dry_run is not armed, and changes nothing', async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const checked = await emulator.control('POST', '/faults?dry_run=true', { preset: 'server-error' })
  expect([checked.status, checked.body.data]).toEqual([200, []])
  expect((await emulator.control('GET', '/faults')).body.data).toEqual([])
  expect(emulator.digest()).toBe(before)
  expect((await emulator.control('POST', '/faults?dry_run=false', { preset: 'server-error' })).status).toBe(
    201,
  )
  expect((await emulator.control('GET', '/faults')).body.data).toHaveLength(1)
})

test('an invalid rule with dry_run is refused with its pointer', async () => {
  const emulator = await testEmulator()
  const refused = await emulator.control('POST', '/faults?dry_run=true', { preset: 'server-eror' })
  expect([refused.status, refused.body.details.errors[0].pointer]).toEqual([400, '/preset'])
  expect(refused.body.details.errors[0].detail).toContain('Did you mean "server-error"?')
  expect((await emulator.control('POST', '/faults?dry_run=maybe', { preset: 'server-error' })).status).toBe(
    400,
  )
})
