import { defineScenario } from 'agent-workspace-emulator'

// One item takes an hour, so 24 items are finished when the completion window ends. Create a larger batch and advance the
// clock by 24 hours: the results have the finished items, and all others are expired.
export default defineScenario({
  description: 'Batches are so slow that the completion window ends after 24 items',
  clock: { rate: 0 },
  pace: { validating: 'immediate', in_progress: { per_item: '1h', concurrency: 1 }, finalizing: '1s' },
})
