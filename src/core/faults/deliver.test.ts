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

test.for<[DeliverFault, object]>([
  [{ copies: 3 }, { copies: 3, faults: { rules: ['r1'] } }],
  [{ order: 'after-next' }, { copies: 1, faults: { rules: ['r1'], order: 'after-next' } }],
  [{ delay: '5m' }, { copies: 1, faults: { rules: ['r1'], delay: '5m' } }],
  [{ drop: true }, { copies: 1, faults: { rules: ['r1'], drop: true } }],
  [{ drop: false }, { copies: 1, faults: { rules: ['r1'] } }],
  [{ retries: [] }, { copies: 1, faults: { rules: ['r1'], retries: [] } }],
  [{ timeout_ms: 50 }, { copies: 1, faults: { rules: ['r1'], timeout_ms: 50 } }],
  [{ sign: 'wrong' }, { copies: 1, faults: { rules: ['r1'], sign: 'wrong' } }],
  [
    { sign: 'wrong', sign_attempts: 1 },
    { copies: 1, faults: { rules: ['r1'], sign: 'wrong', sign_attempts: 1 } },
  ],
  [
    { sign: 'valid', sign_attempts: 1 },
    { copies: 1, faults: { rules: ['r1'] } },
  ],
  [{ sign: 'valid' }, { copies: 1, faults: { rules: ['r1'] } }],
  [{ body: null }, { copies: 1, faults: { rules: ['r1'], body: [null] } }],
])('%j becomes %j', ([fault, treatment]) => {
  expect(treated([fault])).toStrictEqual(treatment)
})

test('actions of one or several rules compose: the last value of each parameter counts, and all patches apply', () => {
  expect(
    treated(
      [{ delay: '1s', copies: 2 }, { sign: 'missing' }],
      [{ delay: '2s' }, { body: { a: 1 } }],
      [{ body: { a: null } }],
    ),
  ).toStrictEqual({
    copies: 2,
    faults: { rules: ['r1', 'r2', 'r3'], delay: '2s', sign: 'missing', body: [{ a: 1 }, { a: null }] },
  })
})

test('a dropped webhook is neither copied nor changed, unless a later rule keeps it', () => {
  expect(treated([{ copies: 5, delay: '1s' }], [{ drop: true }])).toStrictEqual({
    copies: 1,
    faults: { rules: ['r1', 'r2'], drop: true },
  })
  expect(treated([{ drop: true }], [{ drop: false, copies: 2 }])).toStrictEqual({
    copies: 2,
    faults: { rules: ['r1', 'r2'] },
  })
})
