import { expect, test } from 'vitest'
import { journalOf } from '../../../test/support/journal.ts'
import {
  heldSend,
  type OutboxEmulator,
  outboxEmulator,
  promptSend,
  statuses,
  ticks,
} from '../../../test/support/webhook-sandbox.ts'
import { Refusal } from '../../core/errors.ts'
import { change } from '../../core/sandboxes/change.ts'
import type { Delivery } from '../../core/webhooks/records.ts'

function planner() {
  const planned: (() => void)[] = []
  const later = (_ms: number, call: () => void) => {
    planned.push(call)
    return () => {}
  }
  return { planned, later }
}

test('an attempt of an earlier process is recorded as interrupted and repeated', async () => {
  const emulator = await outboxEmulator()
  const first = heldSend()
  const sender = emulator.sender(first)
  const [{ id } = { id: '' }] = emulator.tell({ n: 1 })
  await ticks()
  sender.stop()
  expect(first.held[0]?.signal.aborted).toBe(true)
  expect([emulator.delivery(id).status, sender.isIdle]).toEqual(['sending', true])
  first.held[0]?.response(200)
  await ticks()
  expect(emulator.delivery(id).status).toBe('sending')

  const second = promptSend(200)
  await emulator.sender(second).whenIdle()
  const interrupted = {
    outcome: 'interrupted',
    error: expect.stringContaining('may or may not have arrived'),
  }
  const attempts = [interrupted, { attempt: 2, outcome: 'delivered' }]
  expect(emulator.delivery(id)).toMatchObject({ retries: 0, attempts })
  const headers = { 'X-Emulator-Delivery': id, 'X-Emulator-Delivery-Attempt': '2' }
  expect(second.sent[0]?.headers).toMatchObject(headers)
  expect(second.sent[0]?.body.toString()).toBe('{"n":1}')
})

test('replacing the state aborts deliveries in progress, and their late responses are ignored', async () => {
  const emulator = await outboxEmulator()
  const { send, held } = heldSend()
  const sender = emulator.sender({ send })
  emulator.tell({ n: 1 })
  await ticks()
  const saved = emulator.sandbox.capture()
  emulator.tell({ n: 2 })
  await ticks()
  emulator.reset()
  expect(held.map(({ signal }) => signal.aborted)).toEqual([true, true])
  for (const request of held) request.response(200)
  await sender.whenIdle()
  expect([emulator.deliveries(), emulator.happened]).toEqual([[], []])

  emulator.sandbox.replaceWith(saved)
  await ticks()
  expect(held).toHaveLength(3)
  held[2]?.response(200)
  await sender.whenIdle()
  const attempts = [{ outcome: 'interrupted' }, { outcome: 'delivered' }]
  expect(emulator.deliveries()).toMatchObject([{ attempts }])
})

test('an outcome is dropped if its record was changed or deleted during the attempt', async () => {
  const emulator = await outboxEmulator()
  const { send, held } = heldSend()
  const sender = emulator.sender({ send })
  const [kept, deleted] = [emulator.tell({ n: 1 })[0], emulator.tell({ n: 2 })[0]]
  await ticks()
  change(emulator.sandbox, ({ tx }) => {
    const at = '2026-03-01T12:00:00.000Z'
    const attempts = [{ attempt: 1, at, outcome: 'timeout', status: null, error: 'x' }]
    tx.put('webhook_deliveries', { ...kept, status: 'failed', attempts } as Delivery)
    tx.delete('webhook_deliveries', deleted?.id ?? '')
  })
  for (const request of held) request.response(200)
  await sender.whenIdle()
  expect(statuses(emulator)).toEqual(['failed'])
  expect(emulator.happened).toEqual([])
})

/** Fills the disk of a sandbox. @returns a function that makes room */
function fill({ sandbox }: OutboxEmulator, error: Error): () => void {
  let isFull = true
  sandbox.store.journal = journalOf(() => {
    if (isFull) throw error
  })
  return () => {
    isFull = false
  }
}

test('a full disk stops sending and rejects whenIdle(), and sending resumes automatically', async () => {
  const emulator = await outboxEmulator()
  const { send, sent } = promptSend(200)
  const { planned, later } = planner()
  const sender = emulator.sender({ send, later })
  await sender.whenIdle()
  emulator.tell()
  const full = new Refusal('storage_unavailable', { detail: 'no space' })
  const makeRoom = fill(emulator, full)
  await expect(sender.whenIdle()).rejects.toBe(full)
  expect([emulator.defects, statuses(emulator), sender.isIdle]).toEqual([[full], ['pending'], false])
  planned.shift()?.()
  await ticks()
  expect(sent).toEqual([])
  makeRoom()
  planned.shift()?.()
  await sender.whenIdle()
  expect([sent.length, statuses(emulator)]).toEqual([1, ['delivered']])
})

test('an outcome that cannot be written is written later, and only once', async () => {
  const emulator = await outboxEmulator()
  const { send, held } = heldSend()
  const { planned, later } = planner()
  const sender = emulator.sender({ send, later })
  emulator.tell()
  await ticks()
  const makeRoom = fill(emulator, new Error('no space'))
  held[0]?.response(200)
  await ticks()
  expect(statuses(emulator)).toEqual(['sending'])
  makeRoom()
  planned.shift()?.()
  await sender.whenIdle()
  expect([statuses(emulator), held.length, emulator.happened.length]).toEqual([['delivered'], 1, 1])
})

test('whenIdle() resolves when the sender stops', async () => {
  const emulator = await outboxEmulator()
  const sender = emulator.sender(heldSend())
  emulator.tell()
  const settled = sender.whenIdle()
  sender.stop()
  await settled
  emulator.tell()
  expect(sender.isIdle).toBe(true)
})
