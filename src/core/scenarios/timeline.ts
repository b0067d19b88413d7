import { idOf, type Scope } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { changeRecords } from '../state/rows.ts'
import { SANDBOX_TABLE } from '../state/state.ts'
import type { Transaction } from '../state/transaction.ts'
import { END_OF_TIME } from '../time/clock.ts'
import { formatInstant, parseDuration } from '../time/instant.ts'
import { SCHEDULE, type ScheduledEvent } from '../time/scheduler.ts'
import { counted } from '../words.ts'
import { addCall } from './hooks.ts'
import { refOfFunction, SCENARIO, type ScenarioRow, type ScenarioStep } from './row.ts'
import { ScriptFault } from './source.ts'
import type { StepAction } from './step-actions.ts'

/** The kind of scheduled events for the steps of a timeline. */
export const STEP = 'scenario.step'

/** The virtual instant of a step, in milliseconds. */
export function dueOf({ at }: ScenarioStep, started: number): number {
  return started + (parseDuration(at) ?? 0)
}

/** Schedules the steps of a timeline that are due at `from` or later. */
export function scheduleSteps(scope: Scope, { name, started_at, timeline }: ScenarioRow, from: number): void {
  for (const [index, step] of timeline.entries()) {
    const due = dueOf(step, Date.parse(started_at))
    if (due < from || due > END_OF_TIME) continue
    const what = step.do === 'function' ? 'its function is called' : counted(step.do.length, 'action')
    const description = `Step ${index} of the scenario ${name}, ${step.at} after its start: ${what}.`
    scope.schedule({
      due,
      kind: STEP,
      ref: refOfFunction(name, { timeline: index }),
      urgency: 'work',
      description,
    })
  }
}

/** Removes the future steps of a scenario from the schedule. */
export function unscheduleSteps(tx: Transaction, scenario: string): void {
  for (const event of tx.rows(SCHEDULE) as Iterable<ScheduledEvent>) {
    if (event.kind === STEP && event.ref.startsWith(`scenario/${scenario}/`)) tx.delete(SCHEDULE, event.id)
  }
}

/** Runs the actions of a step in the transaction of its event, or adds a call of its function. Throws {@link ScriptFault}. */
export function runStep(sandbox: Sandbox, scope: Scope, { ref, id }: ScheduledEvent): void {
  const { tx, at } = scope
  const active = tx.get(SANDBOX_TABLE, SCENARIO) as ScenarioRow | undefined
  const [name, number] = idOf(ref).split('/')
  const index = Number(number)
  // A document may contain events of a scenario that it does not contain.
  const step = active?.name === name ? active?.timeline[index] : undefined
  if (active === undefined || step === undefined) return
  if (step.do === 'function') {
    const call = { scenario: active.name, ref: { timeline: index }, at, event: null }
    addCall(tx, { ...call, depth: 0, caused_by: id })
    return
  }
  for (const [number, action] of step.do.entries()) {
    try {
      act(sandbox, scope, active, action as StepAction)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw new ScriptFault(
        `Action ${number} of step ${index} of the scenario ${active.name}: ${error.message}`,
      )
    }
  }
}

function act(
  sandbox: Sandbox,
  scope: Scope,
  { name }: ScenarioRow,
  { state, clock, arm, clear }: StepAction,
): void {
  // Ids from a request were refused when the step was checked.
  const idOf = (ref: unknown) => (typeof ref === 'string' ? ref : undefined)
  if (state !== undefined) changeRecords(scope, sandbox.service, undefined, state, idOf)
  if (clock !== undefined) scope.tx.put(SANDBOX_TABLE, sandbox.clock.rowWith({ rate: 0 }))
  if (arm !== undefined) armOwn(sandbox, scope, name, arm)
  if (clear !== undefined) sandbox.service.rules.remove(scope, clear)
}

/** The `source` of the rules and the stubs of a scenario. */
export function scenarioSource(scenario: string): `scenario:${string}` {
  return `scenario:${scenario}`
}

/** Arms a rule of a scenario, whose draft has been checked. */
export function armOwn(
  { service, options }: Sandbox,
  scope: Scope,
  scenario: string,
  draft: object,
): { readonly id: string } {
  return service.rules.arm(scope, service, draft, scenarioSource(scenario), formatInstant(options.host()))
}
