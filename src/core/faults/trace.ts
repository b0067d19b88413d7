import type { FaultReport, Sent } from '../log/request-log.ts'
import { Decision, type Fired, type Verdict } from './decision.ts'
import type { PrimitiveName } from './primitive.ts'
import type { CountedBy, FaultRule, FaultSource } from './rule.ts'

/** One fault rule that a request was compared with. */
export interface FaultTrace {
  readonly rule: string
  readonly preset: string | null
  readonly source: FaultSource | null
  readonly fired: boolean
  /** Why it fired, or why not. */
  readonly description: string
  /** The number of this match; null for a rule that was not about the request. */
  readonly counter: {
    readonly by: CountedBy | readonly CountedBy[]
    readonly key: string | null
    readonly n: number
  } | null
  /** What was done, by the names of the primitives. */
  readonly actions: readonly PrimitiveName[]
  /** How much of the exchange took place, where the rule acted on its connection and an adapter reported it. */
  readonly sent: Sent | null
}

/** Every fault rule that a request was compared with, in the order in which they were asked. */
export function faultsOf(report: FaultReport | undefined): FaultTrace[] {
  if (!(report instanceof Decision)) return []
  const left = [...report.fired]
  return report.verdicts.map((verdict) => {
    if (!verdict.fired) return missed(verdict)
    const at = left.findIndex(({ rule }) => rule.id === verdict.rule)
    const [hit] = left.splice(at, 1)
    return hit === undefined ? missed(verdict) : acted(verdict, hit, report)
  })
}

function missed({ rule, fired, description, about, counter }: Verdict): FaultTrace {
  const own = about === undefined || counter === undefined ? null : { by: by(about), ...counter }
  const { preset = null, source = null } = about ?? {}
  return { rule, preset, source, fired, description, counter: own, actions: [], sent: null }
}

function acted({ description }: Verdict, { rule, actions, n, key }: Fired, decision: Decision): FaultTrace {
  return {
    rule: rule.id,
    preset: rule.preset,
    source: rule.source,
    fired: true,
    description,
    counter: { by: by(rule), key, n },
    actions: actions.flatMap((action) => Object.keys(action) as PrimitiveName[]),
    sent: decision.isOnWire(actions) ? (decision.sent ?? null) : null,
  }
}

function by({ when }: FaultRule): CountedBy | readonly CountedBy[] {
  return when.by ?? 'rule'
}
