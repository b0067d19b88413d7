import { defineScenario } from 'agent-workspace-emulator'

// Five batches, four faults: the first webhook is delivered twice, the second after the third, the fourth ten minutes late,
// the fifth never. A receiver that deduplicates by id and looks the batch up handles all of them.
export default defineScenario({
  description: 'Webhooks are delivered twice, out of order, late, or never',
  faults: [
    {
      id: 'trouble',
      match: { webhook: 'batch_prediction.*' },
      when: { sequence: ['twice', 'behind', 'pass', 'late', 'never', 'pass'] },
      actions: {
        twice: [{ deliver: { copies: 2 } }],
        behind: [{ deliver: { order: 'after-next' } }],
        late: [{ deliver: { delay: '10m' } }],
        never: [{ deliver: { drop: true } }],
      },
    },
  ],
})
