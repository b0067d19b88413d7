import { Settings } from '../assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { IssueList } from '../issue-list.ts'
import { isObject, type Json, type JsonObject, pointer, same, valueAt } from '../json.ts'
import type { Scope } from '../operation.ts'
import { HandlerScope } from '../request/exchange.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { checkDocument } from '../state/document.ts'
import { FAILED_EVENTS, SANDBOX_TABLE, SETTINGS, type SettingsRow } from '../state/state.ts'
import type { Transaction } from '../state/transaction.ts'
import { CLOCK_RANGE, END_OF_TIME } from '../time/clock.ts'
import { runDueEvents } from '../time/run-events.ts'
import type { FailedEvent } from '../time/scheduler.ts'
import { removeCalls } from './hooks.ts'
import { SCENARIO, type ScenarioRow } from './row.ts'
import type { ScenarioDefinition } from './source.ts'
import { acceptSteps } from './step-actions.ts'
import { acceptStubs, dropStubs, putStub } from './stub.ts'
import { armOwn, dueOf, scenarioSource, scheduleSteps, unscheduleSteps } from './timeline.ts'

/** A scenario after its check against a sandbox: the resulting settings, and the rules and stubs to write. */
type ScenarioPlan = ReturnType<typeof checkScenario>

/** The scenario that is active on a sandbox; undefined while none is. */
export function activeOn({ store }: Pick<Sandbox, 'store'>): ScenarioRow | undefined {
  return store.get(SANDBOX_TABLE, SCENARIO) as ScenarioRow | undefined
}

/**
 * Checks a scenario against a sandbox, under the settings that it would result in. Refuses it with all issues, by pointers
 * into the scenario. @param started virtual milliseconds; the timeline counts from it
 */
export function checkScenario(sandbox: Sandbox, scenario: ScenarioDefinition, started: number) {
  const { service } = sandbox
  const issues = new IssueList()
  const { values, changed } = settingsWith(scenario, withoutActive(sandbox), sandbox, issues)
  // The schemas of rules depend on the settings, so these must be valid.
  refuseInvalid(issues)
  const settings = new Settings(values, sandbox.options.strict)
  const faults = scenario.faults.flatMap((raw, index): object[] => {
    const checked = service.rules.check(raw, service, settings)
    if ('draft' in checked) return [checked.draft]
    issues.addAll(checked.issues, pointer('faults', index))
    return []
  })
  const stubs = acceptStubs(scenario.stubs, service, issues)
  for (const [index, step] of scenario.timeline.entries()) {
    if (dueOf(step, started) <= END_OF_TIME) continue
    const detail = `is after the last instant that the clock supports: ${CLOCK_RANGE}`
    issues.push({ pointer: pointer('timeline', index, 'at'), detail })
  }
  const timeline = acceptSteps(scenario.timeline, service, settings, issues)
  refuseInvalid(issues)
  return { scenario: { ...scenario, timeline }, settings, values, changed, faults, stubs }
}

/** A transaction under the settings that will be in force after its commit. */
export function scopeUnder(sandbox: Sandbox, settings: Settings, cause: string): HandlerScope {
  const { seed, name, origin, hooks, store, clock } = sandbox
  return new HandlerScope(store.begin(), clock.now, { seed, name, settings, origin, hooks }, cause)
}

/** Activates a scenario that has been checked, in the transaction of the scope. @returns its row */
export function activate(sandbox: Sandbox, scope: Scope, checked: ScenarioPlan): ScenarioRow {
  const { scenario, values, changed, stubs } = checked
  const { name, generation, timeline, on } = scenario
  const { tx } = scope
  // Failures from an earlier start of the scenario do not belong to this one.
  for (const row of tx.rows(FAILED_EVENTS) as Iterable<FailedEvent>)
    if (row.ref.startsWith(`scenario/${name}/`)) tx.delete(FAILED_EVENTS, row.id)
  putSettings(tx, values)
  const faults = checked.faults.map((draft) => ({ id: armOwn(sandbox, scope, name, draft).id, draft }))
  for (const draft of stubs) putStub(tx, draft, scenarioSource(name))
  const facts = { name, generation, started_at: scope.at, settings: changed, faults, stubs, timeline, on }
  const row = put(tx, facts)
  scheduleSteps(scope, row, scope.now)
  refuseUnfit(sandbox, tx)
  return row
}

const SWAPPED = 'The script of the scenario was changed: a replay runs its last version from the start.'

/**
 * Replaces an active scenario by its newer version: its rules, stubs, settings, hooks and future steps. Unchanged rules keep
 * their counters. The records and the clock of the sandbox do not change. All or nothing.
 * @throws Refusal with everything that is wrong, and the old version stays in force
 */
export function swapScenario(sandbox: Sandbox, scenario: ScenarioDefinition): void {
  runDueEvents(sandbox)
  const active = activeOn(sandbox)
  if (active?.name !== scenario.name) return
  const checked = checkScenario(sandbox, scenario, Date.parse(active.started_at))
  const scope = scopeUnder(sandbox, checked.settings, `scenario/${scenario.name}`)
  const { tx } = scope
  const { generation, timeline, on } = checked.scenario
  if (generation !== active.generation) sandbox.recording.cannotRepeat(SWAPPED)
  putSettings(tx, checked.values)
  const faults = swapRules(sandbox, scope, active, checked.faults)
  if (!same(active.stubs, checked.stubs)) {
    dropStubs(tx, scenarioSource(active.name))
    for (const draft of checked.stubs) putStub(tx, draft, scenarioSource(active.name))
  }
  const { id: _, ...before } = active
  const facts = { settings: checked.changed, faults, stubs: checked.stubs, timeline, on }
  const row = put(tx, { ...before, ...facts, generation })
  if (!same(active.timeline, row.timeline)) {
    unscheduleSteps(tx, active.name)
    // Steps that are due now have run already.
    scheduleSteps(scope, row, scope.now + 1)
  }
  refuseUnfit(sandbox, tx)
  sandbox.commit(scope)
}

/**
 * Stops the active scenario: removes its rules, stubs, future steps and hooks, and those of its settings that were not changed
 * since. Its changes of records stay. Returns its row; undefined when no scenario is active.
 */
export function stopScenario(sandbox: Sandbox): ScenarioRow | undefined {
  runDueEvents(sandbox)
  const active = activeOn(sandbox)
  if (active === undefined) return undefined
  const values = withoutActive(sandbox)
  const scope = scopeUnder(sandbox, new Settings(values, sandbox.options.strict), `scenario/${active.name}`)
  removeEffects(sandbox, scope, active)
  putSettings(scope.tx, values)
  scope.tx.delete(SANDBOX_TABLE, SCENARIO)
  refuseUnfit(sandbox, scope.tx)
  sandbox.commit(scope)
  return active
}

/** Removes the rules, stubs, future steps and pending calls of a scenario. */
export function removeEffects(sandbox: Sandbox, scope: Scope, { name }: ScenarioRow): void {
  sandbox.service.rules.removeOf(scope, scenarioSource(name))
  dropStubs(scope.tx, scenarioSource(name))
  unscheduleSteps(scope.tx, name)
  removeCalls(scope.tx, name)
}

/** The settings without those of the active scenario. Settings that were changed since its start keep their values. */
function withoutActive(sandbox: Sandbox): JsonObject {
  const values = new Map(Object.entries(sandbox.settings.overrides as JsonObject))
  for (const { key, value, before } of activeOn(sandbox)?.settings ?? []) {
    if (!same(values.get(key), value)) continue
    if (before === undefined) values.delete(key)
    else values.set(key, before)
  }
  return Object.fromEntries(values)
}

// Rules that are the same keep their place and their counters; the others follow in the order of the script.
function swapRules(sandbox: Sandbox, scope: Scope, active: ScenarioRow, drafts: readonly object[]) {
  const left = [...active.faults]
  const kept = drafts.map((draft) => {
    const index = left.findIndex((each) => same(each.draft, draft))
    return index < 0 ? undefined : left.splice(index, 1)[0]
  })
  const ids = left.map(({ id }) => id)
  sandbox.service.rules.removeOf(scope, scenarioSource(active.name), ids)
  return drafts.map((draft, n) => kept[n] ?? { id: armOwn(sandbox, scope, active.name, draft).id, draft })
}

// A copy, because rows never change and the objects of a source may. Fields without a value are left out.
function put(tx: Transaction, facts: Omit<ScenarioRow, 'id'>): ScenarioRow {
  const row: ScenarioRow = { id: SCENARIO, ...JSON.parse(JSON.stringify(facts)) }
  if (!same(tx.get(SANDBOX_TABLE, SCENARIO), row)) tx.put(SANDBOX_TABLE, row)
  return row
}

function putSettings(tx: Transaction, values: JsonObject): void {
  const present = tx.get(SANDBOX_TABLE, SETTINGS) as SettingsRow
  if (!same(present.values, values)) tx.put(SANDBOX_TABLE, { id: SETTINGS, values } as SettingsRow)
}

// Records that were valid under the old settings may be invalid under the new ones.
function refuseUnfit(sandbox: Sandbox, tx: Transaction): void {
  const { values } = tx.get(SANDBOX_TABLE, SETTINGS) as SettingsRow
  if (values === sandbox.settings.overrides) return
  const { service, options } = sandbox
  const names = [...service.collections.keys()]
  const collections = Object.fromEntries(names.map((name) => [name, [...tx.rows(name)]]))
  const merged = { ...sandbox.document(), settings: values, collections }
  const checked = checkDocument(merged, service, options.strict)
  if (!('issues' in checked)) return
  const [first] = checked.issues
  refuse('conflict', {
    detail: `The records of the sandbox are not valid under the settings of the scenario: ${first?.pointer} ${first?.detail}`,
    mitigation:
      'Change those records, or begin with the starting state: "workspace-emulator scenario start NAME --reset".',
  })
}

/**
 * Adds the settings of a scenario to others: its `settings`, and its fields that are short forms of a setting. An object in
 * such a field is merged with the chosen value. Adds to the issues, with pointers into the scenario.
 * @returns all settings that differ from the defaults, and those of the scenario with the values before
 */
function settingsWith(
  scenario: ScenarioDefinition,
  chosen: JsonObject,
  { service }: Pick<Sandbox, 'service'>,
  issues: IssueList,
) {
  const given = new Map(
    Object.entries(scenario.settings ?? {}).map(([key, value]) => [key, { value, at: '' }]),
  )
  for (const [member, { key }] of Object.entries(service.script?.settingAliases ?? {})) {
    const value = valueAt(scenario, [member])
    if (value === undefined) continue
    if (given.has(key))
      issues.push({
        pointer: pointer(member),
        detail: `is also set by /settings${pointer(key)}; set it in one place only`,
      })
    given.set(key, { value: over(chosen, key, value), at: pointer(member) })
  }
  const values: JsonObject = Object.fromEntries([...given].map(([key, { value }]) => [key, value]))
  for (const issue of service.assumptions.check({ ...chosen, ...values })) {
    const key = [...given.keys()].find((each) => `${issue.pointer}/`.startsWith(`${pointer(each)}/`))
    if (key === undefined) continue
    const { at = '' } = given.get(key) ?? {}
    const inside = issue.pointer.slice(pointer(key).length)
    issues.push({ ...issue, pointer: at === '' ? `/settings${issue.pointer}` : at + inside })
  }
  const changed = [...given].map(([key, { value }]) => ({
    key,
    value,
    ...(Object.hasOwn(chosen, key) && { before: chosen[key] as Json }),
  }))
  return { values: { ...chosen, ...values }, changed }
}

// `{"in_progress": "1s"}` does not contain the other phases, so these keep their values.
function over(chosen: JsonObject, key: string, value: Json): Json {
  const present = valueAt(chosen, [key])
  return isObject(present) && isObject(value) ? { ...present, ...value } : value
}
