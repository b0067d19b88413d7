import * as z from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import type { Index, Store } from '../state/store.ts'
import { type FaultCounter, type FaultRule, faultCounters } from './rule.ts'
import { retired } from './when.ts'

/** Finds the counters of a rule. */
export const countersByRule: Index<FaultCounter> = { keyOf: ({ rule }) => rule }

/** Keys that are shown of one rule, the newest. */
const MAX_SHOWN = 100

/** What has become of a rule so far. */
export const standing = () =>
  z.strictObject({
    /** `spent`: it has fired as often as it may. `expired`: its time to live is over. */
    status: z.enum(['armed', 'spent', 'expired']),
    matched: z.int(),
    fired: z.int(),
    /** By each key that it counts by, the newest hundred in the order in which they came. */
    counters: z.array(
      z.strictObject({ key: z.string(), matched: z.int(), fired: z.int(), last_at: timestamp() }),
    ),
    /** How many keys there are. */
    keys: z.int(),
  })

export type Standing = ShapeOf<typeof standing>

type Counter = FaultCounter & { readonly key: string }

/** @param now virtual milliseconds */
export function standingOf(store: Store, rule: FaultRule, now: number): Standing {
  const all = [...(store.indexed(faultCounters.name, countersByRule).get(rule.id)?.values() ?? [])]
  const total = all.find(({ key }) => key === null)
  const keyed = all.filter((counter): counter is Counter => counter.key !== null)
  const fired = total?.fired ?? 0
  return {
    status: statusOf(rule, fired, now),
    matched: total?.matched ?? 0,
    fired,
    counters: keyed
      .slice(-MAX_SHOWN)
      .map(({ key, matched, fired, last_at }) => ({ key, matched, fired, last_at })),
    keys: keyed.length,
  }
}

function statusOf(rule: FaultRule, fired: number, now: number): Standing['status'] {
  if (retired(rule, fired, now) === undefined) return 'armed'
  return rule.times !== null && fired >= rule.times ? 'spent' : 'expired'
}
