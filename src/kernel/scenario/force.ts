import { Settings } from '../assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { checkDraft, disarm } from '../faults/arm.ts'
import type { FaultDraft } from '../faults/draft.ts'
import { faultRules } from '../faults/rule.ts'
import { type Issue, type JsonObject, pointer, same } from '../json.ts'
import type { Scope } from '../operation.ts'
import { HandlerScope } from '../request/exchange.ts'
import { checkDocument } from '../state/document.ts'
import { PARKED, SETTINGS, type SettingsRow, WORLD } from '../state/state.ts'
import type { Transaction } from '../state/store.ts'
import { END_OF_TIME } from '../time/clock.ts'
import type { Sandbox } from '../worlds/sandbox.ts'
import { dropCalls } from './calls.ts'
import { SCENARIO, type ScenarioRow, type ScenarioSetting } from './row.ts'
import { armOwn, clearOwn, sourceOf } from './rules.ts'
import { settingsWith, settingsWithout } from './settings.ts'
import type { LoadedScenario } from './source.ts'
import { checkStepAction } from './step-actions.ts'
import { dropStubs, putStub, type StubDraft } from './stub.ts'
import { acceptStubs } from './stub-schema.ts'
import { dueOf, scheduleSteps, unscheduleSteps } from './timeline.ts'

/** A scenario, held against a world: what it makes of the settings, and what goes into the tables. */
export interface Checked {
  readonly scenario: LoadedScenario
  readonly settings: Settings
  readonly values: JsonObject
  readonly changed: readonly ScenarioSetting[]
  readonly faults: readonly FaultDraft[]
  readonly stubs: readonly StubDraft[]
}

/** The scenario that is active on a world; undefined while none is. */
export function activeOn({ store }: Pick<Sandbox, 'store'>): ScenarioRow | undefined {
  return store.get(WORLD, SCENARIO) as ScenarioRow | undefined
}

/**
 * Holds a scenario against a world under the settings that it would give it. Refuses it with everything that is wrong, by
 * pointers into the scenario. @param started virtual milliseconds; the timeline counts from it
 */
export function checkScenario(sandbox: Sandbox, scenario: LoadedScenario, started: number): Checked {
  const { service } = sandbox
  const issues: Issue[] = []
  const { values, changed } = settingsWith(scenario, withoutActive(sandbox), sandbox, issues)
  // Nothing can be read under settings that are not right.
  refuseInvalid(issues)
  const settings = new Settings(values, sandbox.options.strict)
  const faults = scenario.faults.flatMap((raw, index) => {
    const checked = checkDraft(raw, service, settings)
    if ('draft' in checked) return [checked.draft]
    issues.push(...below(pointer('faults', index), checked.issues))
    return []
  })
  const stubs = acceptStubs(scenario.stubs, service, issues)
  for (const [index, step] of scenario.timeline.entries()) {
    const at = pointer('timeline', index)
    if (dueOf(step, started) > END_OF_TIME)
      issues.push({ pointer: `${at}/at`, detail: 'leads past the end of time' })
    const actions = step.do === 'function' ? [] : step.do
    for (const [number, action] of actions.entries())
      issues.push(...below(`${at}${pointer('do', number)}`, checkStepAction(action, service, settings)))
  }
  refuseInvalid(issues)
  return { scenario, settings, values, changed, faults, stubs }
}

/** A transaction under the settings that are to be in force when it is over. */
export function scopeUnder(sandbox: Sandbox, settings: Settings, cause: string): HandlerScope {
  const { seed, name, faults, store, clock } = sandbox
  return new HandlerScope(store.begin(), clock.now, { seed, name, settings, faults }, cause)
}

/** Puts a scenario into force that has been checked, in the transaction of the scope. @returns its row */
export function enforce(sandbox: Sandbox, scope: Scope, checked: Checked): ScenarioRow {
  const { scenario, values, changed, stubs } = checked
  const { name, generation, timeline, on } = scenario
  const { tx } = scope
  forgetFailures(tx, name)
  putSettings(tx, values)
  const faults = checked.faults.map((draft) => ({ id: armOwn(sandbox, scope, name, draft).id, draft }))
  for (const draft of stubs) putStub(tx, draft, sourceOf(name))
  const facts = { name, generation, started_at: scope.at, settings: changed, faults, stubs, timeline, on }
  const row = put(tx, facts)
  scheduleSteps(scope, row, scope.now)
  refuseUnfit(sandbox, tx)
  return row
}

/**
 * Swaps what a scenario has in force for its newer version: rules, stubs, settings, hooks, and the steps that lie ahead.
 * Rules that are as they were keep their counters. What the world holds, and its clock, stays as it is. All or nothing.
 * @throws Refusal with everything that is wrong, and the old version stays in force
 */
export function swapScenario(sandbox: Sandbox, scenario: LoadedScenario): void {
  sandbox.catchUp()
  const active = activeOn(sandbox)
  if (active?.name !== scenario.name) return
  const checked = checkScenario(sandbox, scenario, Date.parse(active.started_at))
  const scope = scopeUnder(sandbox, checked.settings, `scenario/${scenario.name}`)
  const { tx } = scope
  const { generation, timeline, on } = scenario
  putSettings(tx, checked.values)
  const faults = swapRules(sandbox, scope, active, checked.faults)
  if (!same(active.stubs, checked.stubs)) {
    dropStubs(tx, sourceOf(active.name))
    for (const draft of checked.stubs) putStub(tx, draft, sourceOf(active.name))
  }
  const { id: _, ...before } = active
  const facts = { settings: checked.changed, faults, stubs: checked.stubs, timeline, on }
  const row = put(tx, { ...before, ...facts, generation })
  if (!same(active.timeline, row.timeline)) {
    unscheduleSteps(tx, active.name)
    // Whatever is due by now has happened.
    scheduleSteps(scope, row, scope.now + 1)
  }
  refuseUnfit(sandbox, tx)
  sandbox.commit(scope)
}

/** Takes a scenario back: its rules, stubs, steps to come, hooks, and the settings that nobody has changed since. What it has done to the world stays done. */
export function stopScenario(sandbox: Sandbox): ScenarioRow | undefined {
  sandbox.catchUp()
  const active = activeOn(sandbox)
  if (active === undefined) return undefined
  const values = withoutActive(sandbox)
  const scope = scopeUnder(sandbox, new Settings(values, sandbox.options.strict), `scenario/${active.name}`)
  takeBack(scope, active)
  putSettings(scope.tx, values)
  scope.tx.delete(WORLD, SCENARIO)
  refuseUnfit(sandbox, scope.tx)
  sandbox.commit(scope)
  return active
}

/** What an active scenario has in tables, removed. */
export function takeBack(scope: Scope, { name }: ScenarioRow): void {
  clearOwn(scope, name)
  dropStubs(scope.tx, sourceOf(name))
  unscheduleSteps(scope.tx, name)
  dropCalls(scope.tx, name)
}

function withoutActive(sandbox: Sandbox): JsonObject {
  const chosen = sandbox.settings.overrides as JsonObject
  const active = activeOn(sandbox)
  return active === undefined ? chosen : settingsWithout(active, chosen)
}

// Rules that are the same keep their place and their counters; the others follow in the order of the script.
function swapRules(sandbox: Sandbox, scope: Scope, active: ScenarioRow, drafts: readonly FaultDraft[]) {
  const left = [...active.faults]
  const kept = drafts.map((draft) => {
    const index = left.findIndex((each) => same(each.draft, draft))
    return index < 0 ? undefined : left.splice(index, 1)[0]
  })
  const rules = scope.tx.in(faultRules)
  for (const { id } of left) if (rules.get(id)?.source === sourceOf(active.name)) disarm(scope, id)
  return drafts.map(
    (draft, index) => kept[index] ?? { id: armOwn(sandbox, scope, active.name, draft).id, draft },
  )
}

// A row is never changed; what a source hands over may be. Members without a value are left out.
function put(tx: Transaction, facts: Omit<ScenarioRow, 'id'>): ScenarioRow {
  const row: ScenarioRow = { id: SCENARIO, ...JSON.parse(JSON.stringify(facts)) }
  if (!same(tx.get(WORLD, SCENARIO), row)) tx.put(WORLD, row)
  return row
}

function putSettings(tx: Transaction, values: JsonObject): void {
  const present = tx.get(WORLD, SETTINGS) as SettingsRow
  if (!same(present.values, values)) tx.put(WORLD, { id: SETTINGS, values } as SettingsRow)
}

// What went wrong the last time a scenario ran is no news of this time.
function forgetFailures(tx: Transaction, name: string): void {
  for (const row of tx.rows(PARKED) as Iterable<{ readonly id: string; readonly ref?: unknown }>) {
    if (typeof row.ref === 'string' && row.ref.startsWith(`scenario/${name}/`)) tx.delete(PARKED, row.id)
  }
}

// Records that were right under the old settings need not be under the new ones.
function refuseUnfit(sandbox: Sandbox, tx: Transaction): void {
  const { values } = tx.get(WORLD, SETTINGS) as SettingsRow
  if (values === sandbox.settings.overrides) return
  const { service, ledger, options } = sandbox
  const collections = Object.fromEntries(
    [...service.collections.keys()].map((name) => [name, [...tx.rows(name)]]),
  )
  const merged = { ...sandbox.document(), settings: values, collections }
  const checked = checkDocument(merged, service, ledger, options.strict)
  if (!('issues' in checked)) return
  const [first] = checked.issues
  refuse('conflict', {
    detail: `What the world holds is not right under the settings of the scenario: ${first?.pointer} ${first?.detail}`,
    mitigation:
      'Change those records, or begin with the starting world: POST /__emulator/scenarios/{name}/start {"reset": true}.',
  })
}

function below(at: string, issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, pointer: at + issue.pointer }))
}
