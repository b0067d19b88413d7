import { defineScenario } from 'agent-workspace-emulator'

// Three requests with one key: the first gets 409 (the key is in use), the second loses its response although the batch is
// created, the third gets the replay. Another body with that key gets a real 409, without any fault.
export default defineScenario({
  description: 'A key is in use, then its response is lost, then it replays',
  faults: [
    {
      id: 'conflict',
      match: { operation: 'batch-predictions.create', headers: { 'idempotency-key': '*' } },
      when: { by: 'idempotency_key', sequence: ['in-use', 'lost', 'pass'] },
      actions: {
        'in-use': [{ idem: { concurrent: true } }],
        lost: [{ cut: { at: 'after-handler', how: 'rst' } }],
      },
    },
  ],
})
