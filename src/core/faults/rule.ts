import type { BodyRule } from '../log/request-criteria.ts'
import type { Row } from '../state/commit.ts'
import { FAULT_COUNTERS, FAULTS, type TableOf } from '../state/transaction.ts'
import { type Action, type Phase, type PrimitiveMap, usesOf } from './primitive.ts'

/** The tables of rules and of what they have counted. */
export const faultRules: TableOf<FaultRule> = { name: FAULTS, label: 'fault rule' }
export const faultCounters: TableOf<FaultCounter> = { name: FAULT_COUNTERS, label: 'fault counter' }

/** Which requests a rule is about; all that is given must hold. Texts are globs unless another form is named. */
export interface FaultMatch {
  readonly operation?: string | undefined
  readonly method?: string | undefined
  /** From `/v1` on: a glob, or a regular expression (RE2 syntax) that must match somewhere. */
  readonly path?: string | { readonly regex: string } | undefined
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** By JSON Pointer. */
  readonly body?: Readonly<Record<string, BodyRule>> | undefined
  /** Id of the key's record. */
  readonly api_key?: string | undefined
  readonly principal_kind?: 'user' | 'service' | undefined
  readonly idempotency_key?: string | undefined
  /** The n-th request on its connection, from 1. */
  readonly connection_request_index?: number | undefined
  /** Makes it a rule about webhooks: the type of the notice. Then nothing else but `url` may be given. */
  readonly webhook?: string | undefined
  /** The receiver of a webhook. */
  readonly url?: string | undefined
}

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
export interface When {
  /** Several together count by their combination. Default `rule`. */
  readonly by?: CountedBy | readonly CountedBy[] | undefined
  /** Exactly the n-th match, from 1. */
  readonly nth?: number | undefined
  /** The first so many. */
  readonly first?: number | undefined
  /** All behind the first so many. */
  readonly after?: number | undefined
  /** Each n-th. */
  readonly every?: number | undefined
  /** One entry per match; the last one repeats. `pass`: nothing happens; otherwise a name of `actions`. */
  readonly sequence?: readonly string[] | undefined
  /** 0 to 1; drawn by seed, rule, counter key and counter alone. */
  readonly probability?: number | undefined
  /** Until so many matches, a virtual instant, or real milliseconds since it was armed. */
  readonly until?:
    | {
        readonly calls?: number | undefined
        readonly virtual_time?: string | undefined
        readonly wall_ms?: number | undefined
      }
    | undefined
  /** From a virtual instant on. */
  readonly from?: string | undefined
}

/** Who armed a rule. */
export type FaultSource = 'control' | 'header' | 'magic' | `scenario:${string}`

/** One fault, armed. */
export interface FaultRule extends Row {
  readonly id: string
  readonly source: FaultSource
  /** The preset that it was made of. */
  readonly preset: string | null
  readonly description: string | null
  readonly match: FaultMatch | 'everything'
  readonly when: When
  /** What is done when it fires without a sequence. */
  readonly do: readonly Action[]
  /** What the names of `when.sequence` mean. */
  readonly actions: Readonly<Record<string, readonly Action[]>>
  /** Higher goes first; equals in the order in which they were armed. Default 0. */
  readonly priority: number
  /** Whether further rules may fire on the same request. Default `stop`. */
  readonly then: 'stop' | 'continue'
  /** Fires at most so often; null for any number. */
  readonly times: number | null
  /** Virtual duration after which it is no longer looked at; null for ever. */
  readonly ttl: string | null
  readonly armed_at: string
  /** Real instant; what `until.wall_ms` goes by. */
  readonly armed_wall: string
}

/** How often a rule has matched and fired: in all (`key` null), and for each key that it counts by. */
export interface FaultCounter extends Row {
  /** `rule` alone, or `rule key`. */
  readonly id: string
  readonly rule: string
  readonly key: string | null
  readonly matched: number
  readonly fired: number
  /** Virtual instant of the last match. */
  readonly last_at: string
}

/** The rules and counters of a state document. */
export interface StoredFaults {
  readonly faults: readonly FaultRule[]
  readonly fault_counters: readonly FaultCounter[]
}

/** A rule as users write it: a composition of their own, or a preset and what is to be different about it. */
export interface FaultDraft {
  /** Default: the name of the preset, or `fault`, with a number where that is taken. */
  readonly id?: string | undefined
  readonly preset?: string | undefined
  readonly description?: string | undefined
  readonly match?: FaultMatch | 'everything' | undefined
  readonly when?: When | undefined
  readonly do?: readonly Action[] | undefined
  readonly actions?: Readonly<Record<string, readonly Action[]>> | undefined
  readonly priority?: number | undefined
  readonly then?: 'stop' | 'continue' | undefined
  readonly times?: number | undefined
  /** Virtual duration, such as `10m`. */
  readonly ttl?: string | undefined
}

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
