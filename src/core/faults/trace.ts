import { z } from 'zod'
import { type ShapeOf, textAs } from '../fields.ts'
import { type FaultReport, sentTrace } from '../log/request-log.ts'
import { Decision } from './decision.ts'
import type { PrimitiveName } from './primitive.ts'
import { COUNTED_BY, type FaultSource } from './rule.ts'

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
    sent: sentTrace().nullable(),
  })

export type FaultTrace = ShapeOf<typeof faultTrace>

/** Every fault rule that a request was compared with, in the order of evaluation. */
export function faultsOf(report: FaultReport | undefined): FaultTrace[] {
  if (!(report instanceof Decision)) return []
  return report.decisions.map(({ rule, description, fired, counter = fired }) => ({
    rule: rule.id,
    preset: rule.preset,
    source: rule.source,
    fired: fired !== undefined,
    description,
    counter: counter === undefined ? null : { by: rule.when.by ?? 'rule', key: counter.key, n: counter.n },
    actions: (fired?.actions ?? []).flatMap((action) => Object.keys(action) as PrimitiveName[]),
    sent: fired !== undefined && report.isOnWire(fired.actions) ? (report.sent ?? null) : null,
  }))
}
