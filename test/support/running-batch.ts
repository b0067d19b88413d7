import { Settings } from '../../src/core/assumptions.ts'
import { batches } from '../../src/service/batch-predictions/batches.ts'
import type { Batch } from '../../src/service/batch-predictions/schema.ts'

/** The instant since which the batch is in progress. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')
/** The timestamp this many milliseconds after {@link START}. */
export const at = (ms: number) => new Date(START + ms).toISOString()

/** A batch in progress since {@link START}, parsed like a fixture. */
export function running(items: number, plan: object = {}, progress: object = {}): Batch {
  const list = Array.from({ length: items }, (_, n) => ({ custom_id: `item-${n}`, file_id: 'f' }))
  return batches.schema(new Settings()).parse({
    ...{ id: 'batch-1', status: 'in_progress', model: 'm', created_at: at(0), in_progress_at: at(0) },
    _emulator: {
      ...{ teamspace_id: 'ts-a', organization_id: 'org-1' },
      request: { prompt: 'p', output_schema: { type: 'object' }, items: list },
      plan,
      progress,
    },
  })
}
