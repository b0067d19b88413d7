import { expect, test } from 'vitest'
import { START } from '../../../test/support/base-state.ts'
import { build } from '../../../test/support/starting-states.ts'
import { Settings } from '../../core/assumptions.ts'
import type { File } from '../files.ts'
import { countsAt } from './outcomes.ts'
import { resultLines } from './responses.ts'
import type { Batch } from './schema.ts'

const NOW = Date.parse(START)

/** A sandbox of two teamspaces, with the given numbers of generated files and batches. */
function generated(files: number, batches: number) {
  const teamspace = {
    name: 'T',
    access: 'closed',
    created_at: '-1d',
    _emulator: { organization_id: 'org-1' },
  }
  const collections = {
    organizations: [{ id: 'org-1', name: 'O' }],
    teamspaces: ['ts-a', 'ts-b'].map((id) => ({ id, cloud_provider: 'cloud_b', ...teamspace })),
  }
  const generate = { files, batch_predictions: batches }
  return build({ collections, generate })
}

test('generated files and batches are valid records, and refer to each other', async () => {
  const built = await generated(40, 30)
  if ('issues' in built) throw new Error(JSON.stringify(built.issues))
  const files = built.state.store.rows('files') as ReadonlyMap<string, File>
  const batches = [...built.state.store.rows('batch_predictions').values()] as Batch[]
  expect([files.size, batches.length]).toEqual([40, 30])
  expect(new Set([...files.values()].map(({ pages }) => pages === null)).size).toBe(2)
  for (const batch of batches) {
    const { teamspace_id, request } = batch._emulator
    for (const { file_id } of request.items) expect(files.get(file_id)?.teamspace_id).toBe(teamspace_id)
    const { total, succeeded } = countsAt(batch, NOW)
    expect([succeeded, [...resultLines(batch, { settings: new Settings(), controlUrl: '' })].length]).toEqual(
      [total, total],
    )
    expect(Date.parse(batch.completed_at ?? '')).toBeLessThan(NOW)
    expect(Date.parse(batch.created_at)).toBeGreaterThan(NOW - 29 * 86_400_000)
  }
})

test('batches cannot be generated without files, and the message explains that', async () => {
  await expect(generated(0, 1)).rejects.toThrow(/at least one file/)
})
