import type { FaultDraft } from '../../../core/faults/rule.ts'

/** The id of the fault rule that delays every response. */
export const LATENCY = 'latency'

/** Maximum latency, in milliseconds. */
const MAX_LATENCY = 60_000

/** A delay of every response: minimum and maximum, in real milliseconds. */
export type Latency = readonly [from: number, to: number]

/** Reads `300ms`, `2s` or `300-800ms`; undefined for anything else, and for more than a minute. */
export function latencyOf(text: string): Latency | undefined {
  const [, low, high = low, unit] = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?(ms|s)$/.exec(text) ?? []
  const [from, to] = [low, high].map((each) => Math.round(Number(each) * (unit === 's' ? 1_000 : 1)))
  return from !== undefined && to !== undefined && from <= to && to <= MAX_LATENCY ? [from, to] : undefined
}

/** The fault rule that delays every response. Rules after it still apply. */
export function latencyRule([from, to]: Latency): FaultDraft {
  const jitter = to > from ? { jitter_ms: to - from } : {}
  return {
    id: LATENCY,
    match: 'everything',
    do: [{ pace: { before_head_ms: from, ...jitter } }],
    then: 'continue',
  }
}

/** The delay in the actions of {@link latencyRule}. */
export function delayOf(actions: readonly object[] = []): Latency {
  const [{ pace = {} } = {}] = actions as readonly { readonly pace?: Readonly<Record<string, number>> }[]
  const { before_head_ms: from = 0, jitter_ms: more = 0 } = pace
  return [from, from + more]
}
