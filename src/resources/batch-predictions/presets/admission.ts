import type { Preset } from '../../../core/faults/preset.ts'
import type { Primitives } from '../../../core/faults/primitive.ts'

function refusal(kind: string, description: string, quota: Primitives['quota']): Preset {
  return {
    name: `batch-admission-${kind}`,
    family: 'rate limit',
    description,
    match: { operation: 'batch-predictions.create' },
    when: { nth: 1 },
    do: [{ quota: { reject: true, remaining: 0, reset_in_s: 30, fields: 'both', ...quota } }],
  }
}

/** The four policies by which a creation can be refused. Specification: Limits / Rate limits. */
export const admissionPresets: readonly Preset[] = [
  refusal('concurrency', 'A 429: the organization has as many unfinished batches as it may have.', {
    policy: 'org-concurrency',
    limit: 5,
  }),
  refusal('enqueued-items', 'A 429: the organization has as many unfinished items as it may have.', {
    policy: 'org-enqueued-items',
    limit: 10_000,
  }),
  refusal('create-rate', 'A 429: the organization creates batches too fast.', {
    policy: 'org-create-rate',
    limit: 10,
    window_s: 60,
  }),
  refusal('capacity', 'A 429: the service is short of capacity for batches.', {
    policy: 'global-capacity',
    limit: 100,
  }),
]
