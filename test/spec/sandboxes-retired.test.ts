import { expect, onTestFinished, test, vi } from 'vitest'
import { real } from '../../src/core/time/real.ts'
import { setClock } from '../../src/core/time/run-events.ts'
import { keepAwake } from '../../src/emulator/keep-awake.ts'
import { baseCollections } from '../support/base-state.ts'
import { alive, dataFolder, filesIn, type Life } from '../support/data-folder.ts'
import { webhookReceiver } from '../support/webhook-receiver.ts'

/** An automation that fires every minute, and a pending delivery that is sent before its first firing. */
function busyEmulator(url: string) {
  const at = '2026-01-01T00:00:00.000Z'
  const sent = { type: 'batch_prediction.completed', ref: 'batch_predictions/b', body: {}, created_at: at }
  return {
    collections: {
      ...baseCollections,
      agents: [{ id: 'agent', name: 'A', created_at: at, _emulator: { teamspace_id: 'ts-a' } }],
      automations: [{ id: 'auto', _emulator: { agent_id: 'agent', schedule: '* * * * *' } }],
      webhooks: [{ id: 'hook', url, created_at: at }],
      webhook_deliveries: [{ id: 'd1', webhook_id: 'hook', url, status: 'pending', ...sent }],
    },
  }
}

const silent = () => new Promise<undefined>(() => {})

test('an advance in progress ends when its sandbox is deleted', async () => {
  const receiver = await webhookReceiver(silent)
  const { control, in: callIn, said, emulator } = await alive(dataFolder())
  const fixtures = busyEmulator(receiver.url)
  expect((await control('POST', '/sandboxes', { name: 'w', fixtures })).status).toBe(201)
  const sandbox = emulator.sandboxes.get('w')
  await receiver.arrived(1)
  const passing = callIn('w')('POST', '/clock/advance', { by: '24h' })
  await expect.poll(() => sandbox?.deliveries.isIdle).toBe(false)
  await new Promise(setImmediate)
  expect((await control('DELETE', '/sandboxes/w')).status).toBe(204)
  expect(await passing).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect(sandbox?.store.rows('agent_runs').size).toBe(0)
  expect(said).toEqual([])
})

test('nothing is written to a sandbox during its deletion', async () => {
  const data = dataFolder()
  const { control, in: callIn, emulator, said } = await alive(data)
  await control('POST', '/sandboxes', { name: 'w', persist: true })
  await callIn('w')('POST', '/snapshots', { name: 's' })
  const { sandboxes } = emulator
  const sandbox = sandboxes.show('w').sandbox
  const snapshots = sandboxes.snapshots(sandbox)
  const [saving, removing] = [snapshots.save('begun'), sandboxes.delete('w')]
  while (sandboxes.get('w') !== undefined) await Promise.resolve()
  const late = [sandboxes.reset(sandbox), snapshots.restore('s'), snapshots.save('t'), sandboxes.open('w')]
  const codes = await Promise.all(late.map((each) => each.catch(({ code }) => code)))
  expect(codes).toEqual(late.map(() => 'not_found'))
  await Promise.all([saving, removing])
  expect(() => setClock(sandbox, { rate: 5 })).toThrow('has been removed')
  expect(filesIn(data)).toEqual(['default.json'])
  expect(said).toEqual([])
})

test('no sandbox is created once the emulator closes, so that no file stays locked', async () => {
  const data = dataFolder()
  const { emulator } = await alive(data)
  const closing = emulator.sandboxes.close()
  await expect(emulator.sandboxes.create('late', {}, true)).rejects.toMatchObject({ code: 'conflict' })
  await expect(emulator.sandboxes.open('lazy')).rejects.toMatchObject({ code: 'conflict' })
  await closing
  expect(filesIn(data)).toEqual(['default.json'])
})

test('a write to a sandbox that is no longer kept awake sets no timer', async () => {
  const fixtures = busyEmulator('http://127.0.0.1:9/')
  const { emulator } = await alive(dataFolder(), { fixtures, ephemeral: true })
  const { sandbox } = emulator
  await emulator.close()
  const started = vi.spyOn(real, 'setTimeout')
  onTestFinished(() => started.mockRestore())
  const stop = keepAwake(sandbox)
  setClock(sandbox, { rate: 1 })
  expect(started).toHaveBeenCalledTimes(1)
  stop()
  setClock(sandbox, { rate: 2 })
  expect(started).toHaveBeenCalledTimes(1)
})

test.for<[how: string, end: (life: Life) => Promise<unknown>, description: string]>([
  ['a deletion', ({ control }) => control('DELETE', '/sandboxes/w'), 'The sandbox was removed during'],
  ['a close', ({ emulator }) => emulator.close(), 'The emulator is closing.'],
])(
  '%s ends waits for requests at once with the reason, and cuts no connection',
  async ([, end, description]) => {
    const life = await alive(dataFolder())
    const { sandboxes } = life.emulator
    const listened = vi.spyOn((await sandboxes.open('w')).log, 'onEntry')
    const waiting = Array.from({ length: 12 }, () =>
      life.in('w')('POST', '/requests/wait', { match: { method: 'GET' }, timeout_ms: 60_000 }),
    )
    await vi.waitUntil(() => listened.mock.calls.length === waiting.length, { timeout: 120_000 })
    await end(life)
    for (const { status, body } of await Promise.all(waiting)) {
      expect(status).toBe(409)
      expect(body).toMatchObject({ passed: false, timed_out: false })
      expect(body.description).toContain(description)
    }
    expect(life.said).toEqual([])
  },
)
