import { type FaultRule, faultRules } from '../../src/kernel/faults/rule.ts'
import { formatInstant } from '../../src/kernel/time/instant.ts'
import type { Sandbox } from '../../src/kernel/worlds/sandbox.ts'

/** Arms a rule as it stands in the table, without the checks of the control API: matches everything, does nothing, unless said. */
export function armRule(sandbox: Sandbox, partial: Partial<FaultRule> = {}): FaultRule {
  const rule: FaultRule = {
    id: `rule-${sandbox.store.rows(faultRules.name).size + 1}`,
    source: 'control',
    preset: null,
    description: null,
    match: 'everything',
    when: {},
    do: [],
    actions: {},
    priority: 0,
    then: 'stop',
    times: null,
    ttl: null,
    armed_at: formatInstant(sandbox.clock.now),
    armed_wall: formatInstant(sandbox.options.host()),
    ...partial,
  }
  sandbox.change(({ tx }) => tx.put(faultRules.name, rule))
  return rule
}
