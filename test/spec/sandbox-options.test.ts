import { connect } from 'agent-workspace-emulator'
import { expect, onTestFinished, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'

const PACE = { rate: 60, skip_on_poll: true }

test('POST /sandboxes accepts rate and skip_on_poll, and a reset keeps them', async () => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.control('POST', '/sandboxes', { name: 'w1', ...PACE })
  expect([status, body.rate]).toEqual([201, 60])
  const clock = async () => (await emulator.in('w1')('GET', '/clock')).body
  expect(await clock()).toMatchObject(PACE)
  await emulator.in('w1')('POST', '/reset', {})
  expect(await clock()).toMatchObject(PACE)
  await emulator.in('w1')('POST', '/reset', { fixtures: 'empty' })
  expect(await clock()).toMatchObject(PACE)
})

test('a sandbox created from a snapshot also accepts rate and skip_on_poll', async () => {
  const emulator = await testEmulator()
  await emulator.control('POST', '/snapshots', { name: 'base' })
  await emulator.control('POST', '/sandboxes', { name: 'w1', from_snapshot: 'base', ...PACE })
  expect((await emulator.in('w1')('GET', '/clock')).body).toMatchObject(PACE)
  await emulator.in('w1')('POST', '/reset', {})
  expect((await emulator.in('w1')('GET', '/clock')).body).toMatchObject(PACE)
})

test('an invalid rate is refused, and no sandbox is created', async () => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.control('POST', '/sandboxes', { name: 'w1', rate: -1 })
  expect([status, body.details.errors[0].pointer]).toEqual([400, '/rate'])
  expect(emulator.emulator.sandboxes.has('w1')).toBe(false)
})

test('the library accepts the same options', async () => {
  const { emulator } = await testEmulator()
  const client = connect(`http://127.0.0.1:${emulator.port}`)
  const sandbox = await client.sandbox('w1', { rate: 60, skipOnPoll: true, seed: 7 })
  onTestFinished(() => sandbox.delete())
  expect(await sandbox.clock.show()).toMatchObject(PACE)
})
