import { type Phase, type PrimitiveMap, usesOf } from './primitive.ts'
import type { FaultRule } from './rule.ts'

const PHASES = ['accept', 'head', 'call'] as const

/** When a rule has to be decided: in time for the earliest of all that it may do. */
export function phaseOf(
  { match, do: plain, actions }: Pick<FaultRule, 'match' | 'do' | 'actions'>,
  primitives: PrimitiveMap,
): Phase {
  if (match !== 'everything' && match.webhook !== undefined) return 'webhook'
  const uses = usesOf([...plain, ...Object.values(actions).flat()], primitives)
  const phases = uses.map(({ primitive, parameters }) => primitive.phase?.(parameters) ?? 'call')
  return PHASES.find((phase) => phases.includes(phase)) ?? 'call'
}
