import { type FaultCounter, type FaultRule, faultCounters, faultRules } from '../../src/core/faults/rule.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { formatInstant } from '../../src/core/time/instant.ts'
import { START } from './base-state.ts'

/** Returns a check: whether the next request of a sandbox is held open, and everything sent of its response has arrived. */
export function nextHeld({ log }: Sandbox): (text?: string) => boolean {
  const before = log.entries().length
  return (text) => {
    const sent = log.entries()[before]?.faults?.sent
    return sent?.end === 'held' && (text === undefined || sent.bytes === text.length)
  }
}

/** Whether any rule of a sandbox has matched. */
export function hasMatched({ store }: Sandbox): boolean {
  return [...store.rows(faultCounters.name).values()].some((row) => (row as FaultCounter).matched > 0)
}

/** A rule that by default matches everything and has no visible effect. */
export function ruleOf(id: string, over: Partial<FaultRule> = {}): FaultRule {
  return {
    ...{ id, source: 'control', preset: null, description: null },
    ...{ match: 'everything', when: {}, do: [{ respond: { status: 500 } }], actions: {} },
    ...{ priority: 0, then: 'stop', times: null, ttl: null, armed_at: START },
    ...over,
  }
}

/** Arms a rule directly in the table, without the checks of the control API. Default: matches everything, does nothing. */
export function armRule(sandbox: Sandbox, partial: Partial<FaultRule> = {}): FaultRule {
  const id = `rule-${sandbox.store.rows(faultRules.name).size + 1}`
  const rule = ruleOf(id, { do: [], armed_at: formatInstant(sandbox.clock.now), ...partial })
  change(sandbox, ({ tx }) => tx.put(faultRules.name, rule))
  return rule
}
