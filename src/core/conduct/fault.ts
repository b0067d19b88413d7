import { FAULT_COUNTERS } from '../state/transaction.ts'
import { family } from './verdict.ts'

/** What a run has not tested. */
export const faultFamily = family({
  section: 'none',
  facts: ({ sandbox }) => sandbox.faults.rules,
  requests: () => [],
  evidence: ([{ id, source, preset }]) => ({ rule: id, source, ...(preset !== null && { preset }) }),
  verdicts: {
    'note fault.not-met': {
      description: 'An armed fault rule has not fired.',
      fix: 'Send a request that the rule matches, or remove the rule. "workspace-emulator explain REQUEST_ID" shows why it did not fire on a request.',
      isBad: ({ id }, { sandbox }) => {
        const counter = sandbox.store.get(FAULT_COUNTERS, id) as { readonly fired?: number } | undefined
        return !counter?.fired
      },
      message: ([{ id }]) =>
        `The fault rule ${id} never fired, so nothing is known about a client that meets it.`,
    },
  },
})
