import type { ShapeOf } from '../fields.ts'
import { FAULT_COUNTERS, FAULTS, type TableOf } from '../state/transaction.ts'
import { type Phase, type PrimitiveMap, usesOf } from './primitive.ts'
import type { counter, draftRule, requestMatch, storedRule, when } from './rule-schema.ts'

/** The tables of rules and of what they have counted. */
export const faultRules: TableOf<FaultRule> = { name: FAULTS, label: 'fault rule' }
export const faultCounters: TableOf<FaultCounter> = { name: FAULT_COUNTERS, label: 'fault counter' }

/** Which requests a rule is about; all that is given must hold. */
export type FaultMatch = ShapeOf<typeof requestMatch>

/** What counters are kept by. `tag`: the request header X-Emulator-Tag. */
export const COUNTED_BY = [
  'rule',
  'api_key',
  'idempotency_key',
  'operation',
  'connection',
  'resource_id',
  'tag',
] as const
export type CountedBy = (typeof COUNTED_BY)[number]

/** Which of the matches fire; all that is given must hold. Absent: every one. */
export type When = ShapeOf<typeof when>

/** Who armed a rule. */
export type FaultSource = 'control' | 'header' | 'magic' | `scenario:${string}`

/** One fault, armed. */
export type FaultRule = ShapeOf<typeof storedRule>

/** How often a rule has matched and fired: in all (`key` null), and for each key that it counts by. */
export type FaultCounter = ShapeOf<typeof counter>

/** The rules and counters of a state document. */
export interface StoredFaults {
  readonly faults: readonly FaultRule[]
  readonly fault_counters: readonly FaultCounter[]
}

/** A rule as users write it: a composition of their own, or a preset and what is to be different about it. */
export type FaultDraft = ShapeOf<typeof draftRule>

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
