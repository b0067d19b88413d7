import * as z from 'zod'
import { type Action, type PrimitiveName, WIRE_PRIMITIVES } from '../faults/actions.ts'
import type { Decision, Fired, Sent, Verdict } from '../faults/decision.ts'
import { COUNTED_BY, type CountedBy, type FaultRule, type FaultSource } from '../faults/rule.ts'
import { type ShapeOf, textAs } from '../fields.ts'
import type { LogEntry } from '../log/request-log.ts'
import type { Step } from '../request/steps.ts'
import { counted } from '../words.ts'

const countedBy = () => z.enum(COUNTED_BY)

/** One fault rule that a request was held against. */
export const faultTrace = () =>
  z.strictObject({
    rule: z.string(),
    preset: z.string().nullable(),
    source: textAs<FaultSource>().nullable(),
    fired: z.boolean(),
    /** Why it fired, or why not. */
    description: z.string(),
    /** The number of this match; null for a rule that was not about the request. */
    counter: z
      .strictObject({
        by: z.union([countedBy(), z.array(countedBy())]),
        key: z.string().nullable(),
        n: z.int(),
      })
      .nullable(),
    /** What was done, by the names of the primitives. */
    actions: z.array(textAs<PrimitiveName>()),
    /** How much of the exchange took place, where the rule acted on its connection and an adapter reported it. */
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

/** Every fault rule that the request was held against, in the order in which they were asked. */
export function faultsOf({ faults }: LogEntry): FaultTrace[] {
  if (faults === undefined) return []
  const left = [...faults.fired]
  return faults.verdicts.map((verdict) => {
    if (!verdict.fired) return missed(verdict)
    const at = left.findIndex(({ rule }) => rule.id === verdict.rule)
    const [hit] = left.splice(at, 1)
    return hit === undefined ? missed(verdict) : acted(verdict, hit, faults)
  })
}

function missed({ rule, fired, description, about, counter }: Verdict): FaultTrace {
  const own = about === undefined || counter === undefined ? null : { by: by(about), ...counter }
  const { preset = null, source = null } = about ?? {}
  return { rule, preset, source, fired, description, counter: own, actions: [], sent: null }
}

function acted({ description }: Verdict, { rule, actions, n, key }: Fired, { sent }: Decision): FaultTrace {
  const names = namesOf(actions)
  return {
    rule: rule.id,
    preset: rule.preset,
    source: rule.source,
    fired: true,
    description,
    counter: { by: by(rule), key, n },
    actions: names,
    sent: names.some((name) => ON_WIRE.has(name)) ? (sent ?? null) : null,
  }
}

function by({ when }: FaultRule): CountedBy | readonly CountedBy[] {
  return when.by ?? 'rule'
}

function namesOf(actions: readonly Action[]): PrimitiveName[] {
  return actions.flatMap((action) => Object.keys(action) as PrimitiveName[])
}

const ON_WIRE: ReadonlySet<string> = new Set(WIRE_PRIMITIVES)

/** Ids of the rules that fired on a request, in the order in which they did. */
export function firedOn({ faults }: LogEntry): string[] {
  return faults?.fired.map(({ rule }) => rule.id) ?? []
}

/** Whether a fault cut the request off before it was performed. */
export function isCutOff({ status }: LogEntry): boolean {
  return status === 0
}

/** Which rules acted in a step, and how: `The fault rule a took part: quota.` Empty for none. */
export function partIn(step: Step, { faults }: LogEntry): string {
  return (faults?.fired ?? [])
    .flatMap(({ rule, actions }) => {
      const here = actions.filter((action) => stepOf(action) === step)
      return here.length === 0 ? [] : [`The fault rule ${rule.id} took part: ${namesOf(here).join(', ')}.`]
    })
    .join(' ')
}

/** The step at which an action takes place. What is done on the wire is done to the response, once it is there. */
function stepOf(action: Action): Step {
  if ('auth' in action) return 'authenticate'
  if ('quota' in action) return 'rateLimit'
  if ('idem' in action) return 'replay'
  if ('clock' in action) return 'faultsBefore'
  if ('state' in action) return action.state.at === 'after-handler' ? 'faultsAfter' : 'faultsBefore'
  if ('respond' in action) return action.respond.effects === 'apply' ? 'faultsAfter' : 'faultsBefore'
  return 'log'
}

/** How far the response came, as a sentence; empty where no fault was done to its connection. */
export function wayOf({ faults }: LogEntry): string {
  const isOnWire = faults !== undefined && namesOf(faults.actions).some((name) => ON_WIRE.has(name))
  if (!isOnWire || faults.sent === undefined) return ''
  const { stage, bytes, end } = faults.sent
  return `On the wire it came as far as ${stage}, with ${counted(bytes, 'byte')}: ${ENDS[end]}.`
}

const ENDS: Readonly<Record<Sent['end'], string>> = {
  whole: 'it was sent to its end',
  cut: 'the fault cut it off',
  held: 'the fault kept the connection open and silent',
  left: 'the client left',
}
