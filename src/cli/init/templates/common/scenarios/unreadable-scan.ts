import { defineScenario } from 'agent-workspace-emulator'

// `workspace-emulator scenario start unreadable-scan` starts it on a running emulator, `sandboxOptions` in a test.
export default defineScenario({
  description: 'Batches complete, but items whose custom_id begins with "scan" are errored',
  outcomes: [{ match: { custom_id: 'scan*' }, status: 'errored', detail: 'The scan has no readable text.' }],
})
