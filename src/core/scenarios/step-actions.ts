import { z } from 'zod'
import type { Settings } from '../assumptions.ts'
import { nonEmptyText } from '../fields.ts'
import type { IssueList } from '../issue-list.ts'
import { type Issue, isObject, pointer, valueAt } from '../json.ts'
import type { FaultParameters, Service } from '../service.ts'
import { checkInsertRows } from '../state/rows.ts'
import { membersOf, strictObject } from '../strict-input.ts'
import { parsed, zodIssues } from '../zod-issues.ts'
import type { ScenarioStep } from './row.ts'

/** Checks an action of a step. Issues have pointers into the action. */
export function checkStepAction(
  raw: unknown,
  service: Service,
  settings: Settings,
): { readonly action: StepAction } | { readonly issues: readonly Issue[] } {
  const { error, data } = parsed(stepAction(service, settings), raw)
  if (error !== undefined) return { issues: zodIssues(error, '') }
  const { state } = data
  if (state === undefined) return { action: data }
  const inside = [...requestIssues(state), ...checkInsertRows(state, service, settings)]
  if (inside.length === 0) return { action: data }
  return { issues: inside.map((issue) => ({ ...issue, pointer: `/state${issue.pointer}` })) }
}

/** The steps of a timeline with their checked actions. Adds the issues. @param at the place of the scenario, as a JSON Pointer */
export function acceptSteps(
  timeline: readonly ScenarioStep[],
  service: Service,
  settings: Settings,
  issues: IssueList,
  at = '',
): ScenarioStep[] {
  return timeline.map((step, index) => {
    if (step.do === 'function') return step
    const actions = step.do.map((action, number) => {
      if (issues.isFull) return action
      const checked = checkStepAction(action, service, settings)
      if ('action' in checked) return checked.action
      issues.addAll(checked.issues, at + pointer('timeline', index, 'do', number))
      return action
    })
    return { ...step, do: actions }
  })
}

/** What a step of a timeline can do, as data: an object with exactly one of these fields. */
function stepFields(service: Service, settings: Settings) {
  // The service of a test may lack the primitive.
  const state: z.ZodType<FaultParameters['state']> =
    service.primitives.get('state')?.schema(service, settings) ?? z.never()
  return {
    /** As the fault primitive `state`, but without values from a request. */
    state: state.optional(),
    /** Stops the clock at this step. */
    clock: strictObject({ freeze: z.literal(true) }).optional(),
    /** Arms a fault rule, which is removed with the scenario. */
    arm: service.rules.draft(service, settings).optional(),
    /** Removes a fault rule. */
    clear: nonEmptyText().optional(),
  }
}

export type StepAction = z.output<z.ZodObject<ReturnType<typeof stepFields>>>

/** The schema of an action of a step. */
export function stepAction(service: Service, settings: Settings) {
  const shape = stepFields(service, settings)
  return strictObject(shape).refine((value) => membersOf(value).length === 1, {
    error: `must have exactly one of ${Object.keys(shape).join(', ')}`,
  })
}

// A step has no request, so its ids cannot come from one.
function requestIssues(state: FaultParameters['state']): Issue[] {
  const issues: Issue[] = []
  for (const pointer of ['/id', '/delete/id']) {
    if (isObject(valueAt(state, pointer)))
      issues.push({ pointer, detail: 'must be an id: a step of a timeline has no request' })
  }
  for (const pointer of ['/at', '/visible_after_reads']) {
    if (valueAt(state, pointer) !== undefined)
      issues.push({ pointer, detail: 'is for requests, and a step of a timeline has none' })
  }
  if (state.delete !== undefined && state.delete.id === undefined && state.id === undefined) {
    const detail = 'is required: a step of a timeline has no request that selects the record'
    issues.push({ pointer: '/delete/id', detail })
  }
  return issues
}
