import type { Index, Store } from '../state/store.ts'
import { type FaultCounter, type FaultRule, faultCounters } from './rule.ts'
import { retired } from './when.ts'

/** Finds the counters of a rule. */
export const countersByRule: Index<FaultCounter> = { keyOf: ({ rule }) => rule }

/** Keys that are shown of one rule, the newest. */
const MAX_SHOWN = 100

/** What has become of a rule so far. */
export interface Standing {
  /** `spent`: it has fired as often as it may. `expired`: its time to live is over. */
  readonly status: 'armed' | 'spent' | 'expired'
  readonly matched: number
  readonly fired: number
  /** By each key that it counts by, the newest hundred in the order in which they came. */
  readonly counters: readonly Pick<Counter, 'key' | 'matched' | 'fired' | 'last_at'>[]
  /** How many keys there are. */
  readonly keys: number
}

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
