import { standingOf } from '../../kernel/faults/standing.ts'
import { counted } from '../../kernel/words.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'

/** Sandboxes that are told of one by one: a process may have thousands. */
const MOST_TOLD = 20

/** Of each sandbox the fault rules that never fired: whoever armed them has tested less than they think. */
export function unfiredRules(sandboxes: readonly Sandbox[]): string[] {
  const lines = sandboxes.flatMap((sandbox) => {
    const rules = sandbox.faults.rules.flatMap((rule) => {
      const { matched, fired } = standingOf(sandbox.store, rule, sandbox.clock.now)
      return fired > 0 ? [] : [`${rule.id} (matched ${counted(matched, 'time')})`]
    })
    return rules.length === 0 ? [] : [`Fault rules of ${sandbox.name} that never fired: ${rules.join(', ')}`]
  })
  const more = lines.length - MOST_TOLD
  return more > 0 ? [...lines.slice(0, MOST_TOLD), `and others in ${more} more sandboxes`] : lines
}
