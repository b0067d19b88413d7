import { defineScenario } from 'agent-workspace-emulator'

// Five batches, four troubles: the first webhook comes twice, the second behind the third, the fourth ten minutes late, the
// fifth never. A receiver that acts on ids and looks the batch up is not misled by any of them.
export default defineScenario({
  description: 'Webhooks come twice, out of order, late, or not at all',
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
