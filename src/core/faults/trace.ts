import * as z from 'zod'
import { type ShapeOf, textAs } from '../fields.ts'
import type { FaultReport } from '../log/request-log.ts'
import { Decision, type Fired, type Verdict } from './decision.ts'
import type { PrimitiveName } from './primitive.ts'
import { COUNTED_BY, type CountedBy, type FaultRule, type FaultSource } from './rule.ts'

const countedBy = () => z.enum(COUNTED_BY)

/** One fault rule that a request was compared with. */
export const faultTrace = () =>
  z.strictObject({
    rule: z.string(),
    preset: z.string().nullable(),
    source: textAs<FaultSource>().nullable(),
    fired: z.boolean(),
    /** Why it fired, or why not. */
    description: z.string(),
    /** The number of this match; null for a rule that did not match the request. */
    counter: z
      .strictObject({
        by: z.union([countedBy(), z.array(countedBy())]),
        key: z.string().nullable(),
        n: z.int(),
      })
      .nullable(),
    /** Names of the primitives that acted. */
    actions: z.array(textAs<PrimitiveName>()),
    /** How much of the exchange took place; null unless the rule acted on its connection and an adapter reported it. */
    sent: z
      .strictObject({
        /** The last stage that was reached. */
        stage: z.string(),
        /** Bytes of the response, its head included, that were handed to the connection. */
        bytes: z.int(),
        /** `whole`; `cut` by the fault; `held` open and silent; `left` by the client. */
        end: z.enum(['whole', 'cut', 'held', 'left']),
      })
      .nullable(),
  })

export type FaultTrace = ShapeOf<typeof faultTrace>

/** Every fault rule that a request was compared with, in the order of evaluation. */
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
