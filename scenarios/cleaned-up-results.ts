import { defineScenario } from 'agent-workspace-emulator'

// No test has to wait 29 days: the results of a batch are removed as soon as it is terminal, before a client can read them.
// The preset batch-results-410-race covers the race: a client has seen the URL, but the results are removed before it reads.
export default defineScenario({
  description:
    'Results are cleaned up as soon as a batch is terminal: results_url is null and reading them responds with 410',
  pace: { validating: 'immediate', in_progress: 'immediate', finalizing: 'immediate' },
  on: {
    'batch_prediction.completed': ({ batch }) => batch.cleanup(),
    'batch_prediction.failed': ({ batch }) => batch.cleanup(),
    'batch_prediction.expired': ({ batch }) => batch.cleanup(),
    'batch_prediction.cancelled': ({ batch }) => batch.cleanup(),
  },
})
