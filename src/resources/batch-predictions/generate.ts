import type { Maker } from '../../kernel/state/collection.ts'
import { HOUR, SECOND } from '../../kernel/time/duration.ts'
import { formatInstant } from '../../kernel/time/instant.ts'
import { files } from '../files.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import type { Batch } from './batch.ts'
import { resultsPath, WINDOW } from './consistency.ts'
import { DEFAULT_PACE } from './pace.ts'

/** Invents a batch of the last four weeks that has completed; its results can still be read. */
export function generateBatch({ faker, chance, n, start, newId, any }: Maker): Batch {
  const id = newId()
  const file = any(files)
  const teamspace = any(teamspaces, (each) => each.id === file.teamspace_id)
  const created = start - chance.int(2, 28 * 24) * HOUR
  const after = (seconds: number) => formatInstant(created + seconds * SECOND)
  const items = Array.from({ length: chance.int(1, 20) }, (_, index) => ({
    custom_id: `document-${index}`,
    file_id: file.id,
  }))
  return {
    object: 'batch_prediction',
    id,
    status: 'completed',
    model: 'standard',
    completion_window: '24h',
    created_at: formatInstant(created),
    expires_at: formatInstant(created + WINDOW),
    in_progress_at: after(2),
    finalizing_at: after(60),
    completed_at: after(61),
    failed_at: null,
    cancelling_at: null,
    cancelled_at: null,
    expired_at: null,
    metadata: { project: faker.company.name() },
    error: null,
    results_url: resultsPath('', id),
    _emulator: {
      teamspace_id: teamspace.id,
      organization_id: teamspace._emulator.organization_id,
      prefix: '',
      request: {
        prompt: 'Extract the title and the total.',
        output_schema: {
          type: 'object',
          properties: { title: { type: 'string' }, total: { type: 'number', minimum: 0 } },
          required: ['title', 'total'],
        },
        items,
        effective_model: 'standard',
      },
      plan: { seed: n, pace: DEFAULT_PACE, stages: [{ from: 0, outcomes: [] }], rejected: [] },
      progress: { since: after(61), done: items.length, most: items.length, polls: 0, held: false },
      ended: null,
    },
  }
}
