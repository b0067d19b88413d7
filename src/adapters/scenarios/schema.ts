import { z } from 'zod'
import { didYouMean } from '../../core/did-you-mean.ts'
import { duration, schemaKey } from '../../core/fields.ts'
import { type Issue, isObject } from '../../core/json.ts'
import { type ScenarioDefinition, scenarioClock } from '../../core/scenarios/source.ts'
import { strictObject } from '../../core/strict-input.ts'
import { reportIn } from '../../core/zod-issues.ts'

/** Replaces each function in the data of a script. It is a symbol, so no value of a file can equal it. */
export const FUNCTION = Symbol('function of a script')

/** Returns all issues of a value, with JSON Pointers into it. */
export type Check = (raw: unknown) => readonly Issue[]

/** The events and checks that scenarios depend on, passed in by the composition root. */
export interface ScenarioVocabulary {
  /** The events that hooks can subscribe to. */
  readonly events: readonly string[]
  readonly checks: {
    readonly fixtures: Check
    readonly settings: Check
    readonly pace: Check
    readonly outcomes: Check
    /** One draft of a fault rule. */
    readonly rule: Check
    readonly stub: Check
    /** One action of a timeline step: a primitive that changes the sandbox. */
    readonly action: Check
  }
}

/** The schema of a scenario, with {@link FUNCTION} in place of each function. */
export function scenarioSchema(vocabulary: ScenarioVocabulary): z.ZodType<ScenarioData> {
  return strictObject(scenarioFields(vocabulary)) as unknown as z.ZodType<ScenarioData>
}

/** The fields of a scenario. */
export function scenarioFields({ events, checks }: ScenarioVocabulary) {
  const steps = strictObject({
    at: duration(),
    do: z
      .unknown()
      .superRefine(step(checks.action))
      .transform((value) => (value === FUNCTION ? 'function' : value)),
  })
  return {
    $schema: schemaKey(),
    description: z.string().optional(),
    fixtures: checked(checks.fixtures).optional(),
    clock: scenarioClock().optional(),
    settings: checked(checks.settings).optional(),
    pace: checked(checks.pace).optional(),
    outcomes: checked(checks.outcomes).optional(),
    faults: z.array(checked(checks.rule)).default([]),
    stubs: z.array(checked(checks.stub)).default([]),
    timeline: z.array(steps).default([]),
    on: hooks(events).default([]),
  }
}

const STEP = 'must be a function, or a list of actions such as [{ "state": { ... } }]'

function step(check: Check) {
  return (value: unknown, context: z.RefinementCtx): void => {
    if (value === FUNCTION) return
    if (!Array.isArray(value) || value.length === 0) context.addIssue({ code: 'custom', message: STEP })
    else for (const [index, action] of value.entries()) reportIn(context, check(action), [String(index)])
  }
}

function hooks(events: readonly string[]) {
  return z
    .custom<object>(isObject, { error: 'must be an object of functions, each under the name of an event' })
    .superRefine((on, context) => {
      for (const [event, hook] of Object.entries(on)) {
        if (!events.includes(event)) {
          const message = `is no event.${didYouMean(event, events) || ` Use one of ${events.join(', ')}.`}`
          context.addIssue({ code: 'custom', path: [event], message })
        } else if (hook !== FUNCTION) {
          const message = 'must be a function; a .json file cannot have one, a .ts or .js file can'
          context.addIssue({ code: 'custom', path: [event], message })
        }
      }
    })
    .transform((on) => Object.keys(on))
}

function checked(check: Check) {
  return z.unknown().superRefine((value, context) => {
    if (value !== undefined) reportIn(context, check(value))
  })
}

/** A scenario in force. */
export type ScenarioVersion = ScenarioDefinition & { readonly description?: string | undefined }

/** The checked data of a scenario. */
export type ScenarioData = Omit<ScenarioVersion, 'name' | 'file' | 'generation'>
