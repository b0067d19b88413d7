import { expect, test } from 'vitest'
import { workspaceService } from '../../emulator/service.ts'
import { Decision, type RuleDecision } from './decision.ts'
import { type DeliverFault, treatmentOf } from './deliver.ts'
import type { FaultRule } from './rule.ts'

/** The treatment of a webhook by rules r1, r2 and so on, each with these `deliver` actions. */
function treated(...rules: readonly (readonly DeliverFault[])[]) {
  const decisions = rules.map((faults, n): RuleDecision => {
    const rule = { id: `r${n + 1}` } as FaultRule
    const actions = faults.map((deliver) => ({ deliver }))
    return { rule, description: '', fired: { rule, actions, step: undefined, n: 1, key: null } }
  })
  return treatmentOf(new Decision(decisions, workspaceService.primitives))
}

// An absent field has no effect, and the record is the same after a restart.
test.for<[DeliverFault, copies: number, faults: object]>([
  [{ copies: 3 }, 3, {}],
  [{ drop: false }, 1, {}],
  [{ retries: [] }, 1, { retries: [] }],
  [{ timeout_ms: 50 }, 1, { timeout_ms: 50 }],
  [{ sign: 'wrong', sign_attempts: 1 }, 1, { sign: 'wrong', sign_attempts: 1 }],
  [{ sign: 'valid', sign_attempts: 1 }, 1, {}],
  [{ body: null }, 1, { body: [null] }],
])('%j is %i deliveries with the effects %j', ([fault, copies, faults]) => {
  expect(treated([fault])).toStrictEqual({ copies, faults: { rules: ['r1'], ...faults } })
})

const LAST = { delay: '2s', sign: 'missing' }
const PATCHES = [{ a: 1 }, { a: null }]

test.for<[what: string, rules: DeliverFault[][], copies: number, faults: object]>([
  ['the last value counts', [[{ delay: '1s', sign: 'missing' }], [{ delay: '2s' }]], 1, LAST],
  ['all patches apply', [[{ copies: 2, body: { a: 1 } }], [{ body: { a: null } }]], 2, { body: PATCHES }],
  ['a dropped webhook is neither copied nor changed', [[{ copies: 5 }], [{ drop: true }]], 1, { drop: true }],
  ['a later rule keeps a dropped webhook', [[{ drop: true }], [{ drop: false, copies: 2 }]], 2, {}],
])('of the actions of two rules, %s', ([, rules, copies, faults]) => {
  expect(treated(...rules)).toStrictEqual({ copies, faults: { rules: ['r1', 'r2'], ...faults } })
})
