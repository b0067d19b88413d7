import { defineScenario } from 'agent-workspace-emulator'

// The batch completes, but some of its items fail: a client that checks only the status of the batch misses this case.
export default defineScenario({
  description: 'Batches complete while every third item and each custom_id that starts with "bad" is errored',
  outcomes: [
    { match: { custom_id: 'bad*' }, status: 'errored', detail: 'The page has no text that could be read.' },
    { every: 3, status: 'errored', detail: 'The model gave up on this item.' },
  ],
})
