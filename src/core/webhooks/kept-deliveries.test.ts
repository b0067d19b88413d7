import { expect, test } from 'vitest'
import { HOOK, type OutboxEmulator, outboxEmulator } from '../../../test/support/webhook-sandbox.ts'
import { MAX_DELIVERIES } from './delivery.ts'

const at = '2026-03-01T11:00:00.000Z'
const attempt = { attempt: 1, at, status: null, error: null }

const record = (id: string, more: object) => ({
  ...{ id, webhook_id: 'hook-1', url: HOOK, type: 'thing.made', ref: 'things/1', body: {} },
  ...{ attempts: [], created_at: at, ...more },
})

const waiting = { attempts: [{ ...attempt, outcome: 'failed' }], retry_at: '2026-03-02T00:00:00.000Z' }
const open = [record('pending', { status: 'pending' }), record('waiting', { status: 'waiting', ...waiting })]

const delivered = { status: 'delivered', attempts: [{ ...attempt, outcome: 'delivered' }] }
const over = (count: number) => Array.from({ length: count }, (_, n) => record(`over-${n}`, delivered))

function kept(emulator: OutboxEmulator) {
  const ids = emulator.deliveries().map(({ id }) => id)
  return [ids.length, ...ids.slice(0, 3)]
}

test('beyond 10,000 deliveries the oldest that are over are removed, and none that is still to be sent', async () => {
  const emulator = await outboxEmulator({ deliveries: [...open, ...over(MAX_DELIVERIES - 2)] })
  emulator.tell()
  expect(kept(emulator)).toEqual([MAX_DELIVERIES, 'pending', 'waiting', 'over-1'])
  for (let n = 0; n < 20; n++) emulator.tell()
  expect(kept(emulator)).toEqual([MAX_DELIVERIES, 'pending', 'waiting', 'over-21'])
})

test('all deliveries that are still to be sent are kept', async () => {
  const pending = Array.from({ length: MAX_DELIVERIES }, (_, n) => record(`p-${n}`, { status: 'pending' }))
  const emulator = await outboxEmulator({ deliveries: pending })
  emulator.tell()
  expect(emulator.deliveries()).toHaveLength(MAX_DELIVERIES + 1)
})
