import { expect, test } from 'vitest'
import { aBatch, connect, type SandboxClient } from '../../src/index.ts'
import { temporaryDirectory } from '../cli/in-process.ts'
import { spawnEmulator } from '../cli/process.ts'

const create = (sandbox: SandboxClient) =>
  sandbox.fetch('/batch-predictions', { json: aBatch(), headers: { 'idempotency-key': 'one' } })
const cut = () => 'cut'

test('after a kill, the record of a request that waited after its handler is there, and its repetition meets the gate', async () => {
  const argv = ['--data', temporaryDirectory(), '--rate', '0']
  const first = await spawnEmulator(argv)
  const { defaultSandbox: before } = connect(`http://127.0.0.1:${first.ready.port}`)
  const present = (await before.state.list('batch_predictions')).length
  const opens = { at: 'after-handler', release: { waiting: 2 } } as const
  const gate = await before.gates.hold({ operation: 'batch-predictions.create' }, opens)
  const sent = create(before).catch(cut)
  await gate.waiting()
  first.child.kill('SIGKILL')
  await first.ended
  expect(await sent).toBe('cut')

  const second = await spawnEmulator(argv)
  const { defaultSandbox: sandbox } = connect(`http://127.0.0.1:${second.ready.port}`)
  expect(await sandbox.state.list('batch_predictions')).toHaveLength(present + 1)
  expect(await sandbox.gates.list()).toMatchObject([{ id: gate.id, release: { waiting: 2 }, held: [] }])
  const again = create(sandbox)
  // It counts from 0 after the restart: one request does not open it.
  const found = await sandbox.requests.wait({ operation: 'batch-predictions.create' })
  expect((await sandbox.gates.list())[0]?.held.map(({ id }) => id)).toEqual(found.matched)
  const bodies = await Promise.all([again, create(sandbox)].map(async (each) => (await each).json()))
  expect(bodies[0]).toEqual(bodies[1])
  expect(await sandbox.state.list('batch_predictions')).toHaveLength(present + 1)
  const third = create(sandbox).catch(cut)
  await sandbox.requests.wait({ operation: 'batch-predictions.create' }, { count: 3 })
  second.child.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
  expect(await third).toBe('cut')
})
