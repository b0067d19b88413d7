import { allOf, type Stage } from './actions.ts'
import type { Phase } from './decision.ts'
import type { FaultRule } from './rule.ts'
import { stopsOf } from './stops.ts'

/** When a rule has to be decided: in time for the earliest that it may do. */
export function phaseOf({ match, do: plain, actions }: Pick<FaultRule, 'match' | 'do' | 'actions'>): Phase {
  if (match !== 'everything' && match.webhook !== undefined) return 'webhook'
  const all = [...plain, ...Object.values(actions).flat()]
  const stages = stopsOf(all).map(({ at }) => at)
  if (stages.includes('accept')) return 'accept'
  const isEarly = stages.some(isBeforeBody) || allOf(all, 'pace').some(({ no_continue }) => no_continue)
  return isEarly ? 'head' : 'call'
}

function isBeforeBody(stage: Stage): boolean {
  if (typeof stage !== 'string') return 'request_bytes' in stage
  return stage === 'before-read' || stage === 'after-request-head'
}
