import { defineScenario } from 'agent-workspace-emulator'

// What a demo wants: every poll shows the next state, no clock has to be moved, and nothing fails. A poll counts instead of
// time, so that it is as quick as the client asks and the same on every machine.
export default defineScenario({
  description: 'Every batch completes in four polls, each of which shows the next state',
  pace: { validating: { polls: 1 }, in_progress: { polls: 2 }, finalizing: { polls: 1 } },
  on: {
    'batch_prediction.completed': ({ batch, sandbox }) => sandbox.log(`completed: ${batch.id}`),
  },
})
