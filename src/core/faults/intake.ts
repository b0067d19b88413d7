import type { Settings } from '../assumptions.ts'
import type { Issue } from '../json.ts'
import type { Service } from '../operation.ts'
import { acceptRows, isAccepted } from '../state/intake.ts'
import { MAX_RULES } from './arm.ts'
import type { FaultCounter, FaultRule } from './rule.ts'
import { ruleSchemas } from './rule-schema.ts'

/** The members of a state document that are about faults, as they come. */
export interface RawFaults {
  readonly faults: readonly unknown[]
  readonly fault_counters: readonly unknown[]
}

/** The rules and counters of a state document; what is wrong with them is added to the issues. */
export function acceptFaults(raw: RawFaults, service: Service, settings: Settings, issues: Issue[]) {
  const { faults, fault_counters } = raw
  // Most sandboxes have none, and the schemas take a while to make.
  if (faults.length === 0 && fault_counters.length === 0) return { faults: [], fault_counters: [] }
  const { rule, counter } = ruleSchemas(service, settings)
  if (faults.length > MAX_RULES)
    issues.push({ pointer: '/faults', detail: `must have at most ${MAX_RULES} rules` })
  return {
    faults: acceptRows<FaultRule>(rule, faults, '/faults', issues).filter(isAccepted),
    fault_counters: acceptRows<FaultCounter>(counter, fault_counters, '/fault_counters', issues).filter(
      isAccepted,
    ),
  }
}
