import type { StateFault } from '../faults/actions.ts'
import { deleteRow, insertRows } from '../faults/acts/rows.ts'
import { idOf, type Scope } from '../operation.ts'
import { WORLD } from '../state/state.ts'
import type { Transaction } from '../state/store.ts'
import { clockRow, END_OF_TIME } from '../time/clock.ts'
import { parseDuration } from '../time/duration.ts'
import { SCHEDULE, type ScheduledEvent } from '../time/scheduler.ts'
import { counted } from '../words.ts'
import type { World } from '../worlds/world.ts'
import { leaveCall } from './calls.ts'
import { refOfFunction, SCENARIO, type ScenarioRow } from './row.ts'
import { armOwn, clearRule } from './rules.ts'
import { ScriptFault } from './script-fault.ts'
import type { ScenarioStep } from './source.ts'
import type { StepAction } from './step-actions.ts'

/** The kind of the events that the steps of a timeline are. */
export const STEP = 'scenario.step'

/** The virtual instant of a step. */
export function dueOf({ at }: ScenarioStep, started: number): number {
  return started + (parseDuration(at) ?? 0)
}

/** Schedules the steps of a timeline that are due behind an instant; `from` itself counts as behind. */
export function scheduleSteps(scope: Scope, { name, started_at, timeline }: ScenarioRow, from: number): void {
  for (const [index, step] of timeline.entries()) {
    const due = dueOf(step, Date.parse(started_at))
    if (due < from || due > END_OF_TIME) continue
    const what = step.do === 'function' ? 'its function is called' : counted(step.do.length, 'action')
    const says = `Step ${index} of the scenario ${name}, ${step.at} after its start: ${what}.`
    scope.schedule({ due, kind: STEP, ref: refOfFunction(name, { timeline: index }), urgency: 'work', says })
  }
}

/** Takes the steps of a scenario that are still to come out of the schedule. */
export function unscheduleSteps(tx: Transaction, scenario: string): void {
  for (const event of tx.rows(SCHEDULE) as Iterable<ScheduledEvent>) {
    if (event.kind === STEP && event.ref.startsWith(`scenario/${scenario}/`)) tx.delete(SCHEDULE, event.id)
  }
}

/** Carries out a step in the transaction of its event, or leaves its function to be called. */
export function runStep(world: World, scope: Scope, { ref, id }: ScheduledEvent): void {
  const { tx, at } = scope
  const active = tx.get(WORLD, SCENARIO) as ScenarioRow | undefined
  const [name, number] = idOf(ref).split('/')
  const index = Number(number)
  // A document may hold events of a scenario that it does not hold.
  const step = active?.name === name ? active?.timeline[index] : undefined
  if (active === undefined || step === undefined) return
  if (step.do === 'function') {
    const call = { scenario: active.name, ref: { timeline: index }, at, event: null, batch: null }
    leaveCall(tx, { ...call, depth: 0, caused_by: id })
    return
  }
  for (const [number, action] of step.do.entries()) {
    try {
      act(world, scope, active, action as StepAction)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw new ScriptFault(
        `Action ${number} of step ${index} of the scenario ${active.name}: ${error.message}`,
      )
    }
  }
}

function act(
  world: World,
  scope: Scope,
  { name }: ScenarioRow,
  { state, clock, arm, clear }: StepAction,
): void {
  if (state !== undefined) changeState(world, scope, state)
  if (clock !== undefined) {
    const stopped = { now: scope.now, rate: 0, skip_on_poll: world.skipsOnPoll }
    scope.tx.put(WORLD, clockRow(stopped, world.options.host))
  }
  if (arm !== undefined) armOwn(world, scope, name, arm)
  if (clear !== undefined) clearRule(scope, clear)
}

function changeState({ service }: World, scope: Scope, fault: StateFault): void {
  const { delete: gone, insert_rows: rows } = fault
  // Those that a request would have named were refused when the step was written.
  const id = typeof fault.id === 'string' ? fault.id : undefined
  if (gone !== undefined)
    deleteRow(scope, service, gone.collection, typeof gone.id === 'string' ? gone.id : id)
  if (rows !== undefined) insertRows(scope, service, undefined, rows)
  for (const { name, apply } of service.moves.values()) {
    if (Object.hasOwn(fault, name) && fault[name] !== undefined) apply(scope, id, fault[name])
  }
}
