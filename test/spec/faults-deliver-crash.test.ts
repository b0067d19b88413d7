import { cpSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { DeliverFault } from '../../src/core/faults/deliver.ts'
import { temporaryDirectory } from '../cli/in-process.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { armed, completedBatch } from '../support/webhook-faults.ts'

test('webhooks that faults have changed survive a crash, counters included', {
  tags: ['U060', 'R233'],
}, async () => {
  const [running, crashed] = [temporaryDirectory(), temporaryDirectory()]
  const options = (data: string) => ({ ephemeral: false, data })
  const { emulator, receiver } = await webhookEmulator(undefined, options(running))
  const faults: readonly DeliverFault[] = [
    { drop: true },
    { delay: '10m', copies: 2 },
    { order: 'after-next', body: { status: 'late' } },
  ]
  for (const [n, deliver] of faults.entries()) {
    await armed(emulator, {
      match: { webhook: '*' },
      when: { nth: n + 1 },
      then: 'continue',
      do: [{ deliver }],
    })
  }
  for (let n = 0; n < 3; n++) await completedBatch(emulator)
  const before = await deliveriesOf(emulator)
  expect(before.map(({ status }: { status: string }) => status)).toEqual([
    'dropped',
    'waiting',
    'waiting',
    'waiting',
  ])
  // The process still runs, but its files are those of a crash at this moment, except for its lock.
  cpSync(running, crashed, { recursive: true, filter: (path) => !path.includes('lock') })

  const { emulator: next } = await webhookEmulator(undefined, options(crashed))
  expect(await deliveriesOf(next)).toEqual(before)
  expect(next.sandbox.document().fault_counters).toEqual(emulator.sandbox.document().fault_counters)
  const last = await completedBatch(next)
  await pass(next, '1h')
  const idOf = ({ ref }: { ref: string }) => ref.split('/')[1]
  const [, late, , held] = before.map(idOf)
  expect(receiver.received.map(({ body }) => [body.id, body.status])).toEqual([
    [last, 'completed'],
    [held, 'late'],
    [late, 'completed'],
    [late, 'completed'],
  ])
})
