import { z } from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import type { Index } from '../state/indexes.ts'
import type { Store } from '../state/store.ts'
import { type FaultCounter, type FaultRule, faultCounters } from './rule.ts'
import { lifetimeOf, type Occasion, ruleStatus } from './when.ts'

/** Finds the counters of a rule. */
export const countersByRule: Index<FaultCounter> = { keyOf: ({ rule }) => rule }

/** Maximum number of keys that the status of one rule shows. */
const MAX_SHOWN = 100

/** The status of a rule and its counters. */
export const standing = () =>
  z.strictObject({
    /** `spent`: no further match can fire. `expired`: its time is over. */
    status: z.enum(['armed', 'spent', 'expired']),
    /** How long it lasts: `It fires once, then it is spent.` */
    life: z.string(),
    matched: z.int(),
    fired: z.int(),
    /** One for each key: the newest hundred, oldest first. */
    counters: z.array(
      z.strictObject({ key: z.string(), matched: z.int(), fired: z.int(), last_at: timestamp() }),
    ),
    /** Number of all keys. */
    keys: z.int(),
  })

export type Standing = ShapeOf<typeof standing>

export function standingOf(store: Store, rule: FaultRule, time: Pick<Occasion, 'now' | 'wall'>): Standing {
  const all = [...(store.indexed(faultCounters.name, countersByRule).get(rule.id)?.values() ?? [])]
  const { matched, fired } = all.find(({ key }) => key === null) ?? { matched: 0, fired: 0 }
  const keyed = all.flatMap(({ key, matched, fired, last_at }) =>
    key === null ? [] : [{ key, matched, fired, last_at }],
  )
  return {
    status: ruleStatus(rule, { matched, fired }, time),
    life: lifetimeOf(rule),
    matched,
    fired,
    counters: keyed.slice(-MAX_SHOWN),
    keys: keyed.length,
  }
}
