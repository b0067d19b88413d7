import type * as z from 'zod'
import type { Settings } from '../assumptions.ts'
import { type Issue, pointer } from '../json.ts'
import type { Service } from '../operation.ts'
import { zodIssues } from '../zod-issues.ts'
import { MOST_RULES } from './arm.ts'
import type { FaultCounter, FaultRule } from './rule.ts'
import { ruleSchemas } from './schema/rule.ts'

/** The members of a state document that are about faults, as they come. */
export interface RawFaults {
  readonly faults: readonly unknown[]
  readonly fault_counters: readonly unknown[]
}

/** The rules and counters of a state document; what is wrong with them is added to the issues. */
export function acceptFaults(raw: RawFaults, service: Service, settings: Settings, issues: Issue[]) {
  const { faults, fault_counters } = raw
  // Most worlds have none, and the schemas take a while to make.
  if (faults.length === 0 && fault_counters.length === 0) return { faults: [], fault_counters: [] }
  const { rule, counter } = ruleSchemas(service, settings)
  if (faults.length > MOST_RULES)
    issues.push({ pointer: '/faults', detail: `must have at most ${MOST_RULES} rules` })
  return {
    faults: acceptRows<FaultRule>(rule, faults, '/faults', issues),
    fault_counters: acceptRows<FaultCounter>(counter, fault_counters, '/fault_counters', issues),
  }
}

function acceptRows<T extends { readonly id: string }>(
  schema: z.ZodType<T>,
  rows: readonly unknown[],
  at: string,
  issues: Issue[],
): T[] {
  const seen = new Set<string>()
  return rows.flatMap((row, index) => {
    const where = at + pointer(index)
    const { data, error } = schema.safeParse(row)
    if (error !== undefined) issues.push(...zodIssues(error, where))
    if (data === undefined) return []
    if (seen.has(data.id)) issues.push({ pointer: `${where}/id`, detail: `the id "${data.id}" stands twice` })
    seen.add(data.id)
    return [data]
  })
}
