import { expect, test } from 'vitest'
import { batchLifecycle, batchStatuses } from '../../../src/service/batch-predictions/states.ts'
import {
  batchEmulator,
  cancel,
  counts,
  createBatch,
  intervene,
  linesOf,
  retrieve,
} from '../../support/batches.ts'

test('a batch expires at the exact end of its window', { tags: ['R107', 'T16'] }, async () => {
  const emulator = await batchEmulator({
    'batch.pace': { in_progress: { per_item: '10h', concurrency: 2 } },
    // A setting for batches that are still validating.
    'batch.expire_in_validating': 'fail',
  })
  const { id } = await createBatch(emulator, { items: 5 })
  emulator.advance('86399999ms')
  expect((await retrieve(emulator, id)).status).toBe('in_progress')
  emulator.advance('1ms')
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.expired_at]).toEqual(['expired', batch.expires_at])
  expect(counts(batch)).toEqual({ total: 5, succeeded: 4, expired: 1 })
  const detail = 'The completion window ended before 1 of 5 items were finished.'
  expect(batch.error).toMatchObject({ title: 'Batch Expired', detail })
  const words = (await linesOf(emulator, id)).map((line) => line.status)
  expect(words).toEqual([...Array(4).fill('succeeded'), 'expired'])
})

test.for([
  ['before the end', { validating: 'immediate', in_progress: '86399s', finalizing: '2s' }],
  ['at the exact end', { validating: 'immediate', in_progress: '24h', finalizing: '1s' }],
] as const)(
  'a batch whose items finish %s of the window completes',
  {
    tags: ['R108', 'T13', 'T14'],
  },
  async ([, pace]) => {
    const emulator = await batchEmulator({ 'batch.pace': pace })
    const { id } = await createBatch(emulator)
    emulator.advance('24h')
    expect((await retrieve(emulator, id)).status).toBe('finalizing')
    emulator.advance('1s')
    expect(await retrieve(emulator, id)).toMatchObject({ status: 'completed', expired_at: null })
  },
)

test('a validation that ends with the window starts the items first', { tags: ['T14'] }, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { validating: '24h', in_progress: 'immediate' } })
  const { id } = await createBatch(emulator)
  const { id: moved } = await createBatch(emulator, { items: 2 })
  intervene(emulator, 'change', moved, { pace: { validating: '23h' } })
  intervene(emulator, 'change', moved, { pace: { validating: '24h' } })
  emulator.advance('24h')
  for (const each of [id, moved]) expect((await retrieve(emulator, each)).status).toBe('finalizing')
})

test('a window that ends at the instant of a cancel ends first', { tags: ['T14'] }, async () => {
  const emulator = await batchEmulator({ 'batch.pace': { in_progress: 'hold' } })
  const { id } = await createBatch(emulator)
  emulator.advance('24h')
  const { status } = await cancel(emulator, id)
  expect([status, (await retrieve(emulator, id)).status]).toEqual([409, 'expired'])
})

test.for([
  ['expire', 'expired', { expired: 3 }],
  ['fail', 'failed', { errored: 3 }],
  ['wait', 'validating', { processing: 3 }],
] as const)('the window ends while validating: %s', { tags: ['T13'] }, async ([decision, status, rest]) => {
  const pace = { validating: '25h', in_progress: '1h' }
  const emulator = await batchEmulator({ 'batch.expire_in_validating': decision, 'batch.pace': pace })
  const { id } = await createBatch(emulator)
  emulator.advance('24h')
  const batch = await retrieve(emulator, id)
  expect([batch.status, batch.in_progress_at]).toEqual([status, null])
  expect(counts(batch)).toEqual({ total: 3, ...rest })
  emulator.advance('2h')
  if (decision === 'wait') expect((await retrieve(emulator, id)).status).toBe('expired')
  else expect(await retrieve(emulator, id)).toEqual(batch)
})

test('a batch whose window ends while cancelling is cancelled', { tags: ['T13'] }, async () => {
  const emulator = await batchEmulator({ 'batch.cancel_delay': '2h', 'batch.pace': { in_progress: 'hold' } })
  const { id } = await createBatch(emulator)
  emulator.advance('23h')
  await cancel(emulator, id)
  emulator.advance('1h')
  expect((await retrieve(emulator, id)).status).toBe('cancelling')
  emulator.advance('1h')
  expect((await retrieve(emulator, id)).status).toBe('cancelled')
})

test('each transition is one of the specification or names its assumption', { tags: ['R114'] }, () => {
  const rows = batchLifecycle.arrows.map(({ from, on, to, because }) => `${from} ${on} ${to} ${because}`)
  expect(rows.sort()).toEqual([
    'cancelled cancel cancelled spec',
    'cancelling cancel cancelling spec',
    'cancelling stop cancelled U054',
    'finalizing complete completed U054',
    'in_progress cancel cancelling spec',
    'in_progress expire expired spec',
    'in_progress fail failed spec',
    'in_progress finish finalizing U054',
    'validating cancel cancelling spec',
    'validating expire expired T13',
    'validating fail failed spec',
    'validating start in_progress U054',
  ])
  const terminal = batchStatuses.filter((status) => batchLifecycle.terminal(status))
  expect(terminal.sort()).toEqual(['cancelled', 'completed', 'expired', 'failed'])
})
