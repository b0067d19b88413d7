import { defineScenario } from 'agent-workspace-emulator'

// The batch completes, its items do not all: the case that a client forgets which looks at the status alone.
export default defineScenario({
  description: 'Batches complete while every third item and each custom_id that starts with "bad" is errored',
  outcomes: [
    { match: { custom_id: 'bad*' }, status: 'errored', detail: 'The page has no text that could be read.' },
    { every: 3, status: 'errored', detail: 'The model gave up on this item.' },
  ],
})
