import { defineScenario } from 'agent-workspace-emulator'

// One item takes an hour, so that 24 of them are finished when the completion window ends. Create a larger batch and
// advance the clock by 24 hours; results hold what was finished, the rest is expired.
export default defineScenario({
  description: 'Batches are so slow that the completion window ends after 24 items',
  clock: { rate: 0 },
  pace: { validating: 'immediate', in_progress: { per_item: '1h', concurrency: 1 }, finalizing: '1s' },
})
