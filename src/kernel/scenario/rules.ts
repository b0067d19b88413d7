import { arm, disarm, ruleNamed } from '../faults/arm.ts'
import type { FaultDraft } from '../faults/draft.ts'
import { type FaultRule, type FaultSource, faultRules } from '../faults/rule.ts'
import type { Scope } from '../operation.ts'
import { formatInstant } from '../time/instant.ts'
import type { World } from '../worlds/world.ts'

/** What marks the rules and the stubs of a scenario as its own. */
export function sourceOf(scenario: string): FaultSource & `scenario:${string}` {
  return `scenario:${scenario}`
}

/** Arms a rule of a scenario, whose draft has been checked. */
export function armOwn(
  { service, options }: World,
  scope: Scope,
  scenario: string,
  draft: FaultDraft,
): FaultRule {
  return arm(scope, service, draft, sourceOf(scenario), formatInstant(options.host()))
}

/** Removes every rule that a scenario has armed. */
export function clearOwn(scope: Scope, scenario: string): void {
  const own = scope.tx.in(faultRules).filter(({ source }) => source === sourceOf(scenario))
  for (const { id } of own) disarm(scope, id)
}

/** Removes a rule, whoever has armed it. Refuses where there is none of that id. */
export function clearRule(scope: Scope, id: string): void {
  disarm(scope, ruleNamed(scope, id).id)
}
