import { expect, test } from 'vitest'
import type { CutFault } from '../../src/server/http/faults/cut.ts'
import { fullDisk } from '../support/journal.ts'
import { underRule } from '../support/under-rule.ts'

test.for<[cut: CutFault, times: number | null, status: number]>([
  [{ at: 'before-read', how: 'rst' }, null, 507],
  [{ at: 'end', how: 'fin' }, null, 507],
  // A connection fault that cannot be counted is skipped.
  [{ at: 'accept', how: 'rst' }, 1_000, 200],
])('when a match of $0 cannot be stored, the response is a $2', { tags: ['R123'] }, async (row) => {
  const [cut, times, status] = row
  const emulator = await underRule({ times, do: [{ cut }] })
  emulator.sandbox.store.journal = fullDisk
  expect((await emulator.get('/data-views')).status).toBe(status)
})
