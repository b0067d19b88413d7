import { defineScenario } from 'agent-workspace-emulator'

// For demos: every poll shows the next state, the clock need not be advanced, and nothing fails. Batches progress by polls
// instead of time, so they are as fast as the client polls, and the same on every machine.
export default defineScenario({
  description: 'Every batch completes in four polls, each of which shows the next state',
  pace: { validating: { polls: 1 }, in_progress: { polls: 2 }, finalizing: { polls: 1 } },
  on: {
    'batch_prediction.completed': ({ batch, sandbox }) => sandbox.log(`completed: ${batch.id}`),
  },
})
