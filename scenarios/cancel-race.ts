import { defineScenario } from 'agent-workspace-emulator'

// The first cancel is too late: the batch completes just before it. Cancels of other batches are in time, but cancelling
// takes ten seconds. A second cancel during that time changes nothing.
export default defineScenario({
  description: 'The first cancel arrives after the batch has just completed; other cancels take ten seconds',
  clock: { rate: 0 },
  settings: { 'batch.cancel_delay': '10s' },
  pace: { validating: '1s', in_progress: 'hold', finalizing: '1s' },
  faults: [{ preset: 'batch-cancel-racing-completion' }],
})
