import { defineScenario } from 'agent-workspace-emulator'

// Three requests with one key: the first meets itself (409, still under way), the second loses its response although the batch
// is made, the third gets the replay. Another body under that key is a true 409, without any fault.
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
