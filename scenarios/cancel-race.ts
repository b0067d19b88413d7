import { defineScenario } from 'agent-workspace-emulator'

// The first cancel comes a moment too late: the batch completes in front of it. Cancels of other batches are in time, but
// cancelling takes its while, and a second cancel meanwhile changes nothing.
export default defineScenario({
  description: 'The first cancel meets a batch that has just completed; others take ten seconds',
  clock: { rate: 0 },
  settings: { 'batch.cancel_delay': '10s' },
  pace: { validating: '1s', in_progress: 'hold', finalizing: '1s' },
  faults: [{ preset: 'batch-cancel-racing-completion' }],
})
