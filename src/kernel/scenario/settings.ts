import type { Ledger } from '../assumptions.ts'
import { type Issue, isObject, type Json, type JsonObject, pointer, same } from '../json.ts'
import type { Service } from '../operation.ts'
import type { ScenarioRow, ScenarioSetting } from './row.ts'
import type { LoadedScenario } from './source.ts'

/** What a scenario makes of the settings of a world. */
export interface ScenarioSettings {
  /** All choices that differ from the defaults. */
  readonly values: JsonObject
  /** What the scenario has chosen, and what stood before. */
  readonly changed: readonly ScenarioSetting[]
}

/**
 * Puts the settings of a scenario over others: its `settings`, and the members that are short for one, of which an object is
 * laid over what is chosen already. What is wrong is added to the issues, with pointers into the scenario.
 */
export function settingsWith(
  scenario: LoadedScenario,
  chosen: JsonObject,
  { service, ledger }: { readonly service: Service; readonly ledger: Ledger },
  issues: Issue[],
): ScenarioSettings {
  const given = new Map(
    Object.entries(scenario.settings ?? {}).map(([key, value]) => [key, { value, at: '' }]),
  )
  for (const [member, key] of shortFor(service)) {
    const value = memberOf(scenario, member)
    if (value === undefined) continue
    if (given.has(key))
      issues.push({ pointer: pointer(member), detail: `is given by /settings${pointer(key)} as well` })
    given.set(key, { value: over(chosen, key, value), at: pointer(member) })
  }
  const values = Object.fromEntries([...given].map(([key, { value }]) => [key, value]))
  for (const issue of ledger.check({ ...chosen, ...values })) {
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

/** The choices as they were without a scenario. What somebody else has changed since stays as it is. */
export function settingsWithout({ settings }: Pick<ScenarioRow, 'settings'>, chosen: JsonObject): JsonObject {
  const values = new Map(Object.entries(chosen))
  for (const { key, value, before } of settings) {
    if (!same(values.get(key), value)) continue
    if (before === undefined) values.delete(key)
    else values.set(key, before)
  }
  return Object.fromEntries(values)
}

/** The members of a scenario that are short for a setting, with its key. */
function shortFor({ scripts }: Service): (readonly [member: string, key: string])[] {
  return [...scripts.values()].flatMap(({ short }) =>
    Object.entries(short).map(([member, { key }]) => [member, key] as const),
  )
}

function memberOf(scenario: object, name: string): Json | undefined {
  return Object.hasOwn(scenario, name) ? (scenario as Readonly<Record<string, Json>>)[name] : undefined
}

// `{"in_progress": "1s"}` says nothing of the other phases, which keep what they have.
function over(chosen: JsonObject, key: string, value: Json): Json {
  const present = Object.hasOwn(chosen, key) ? chosen[key] : undefined
  return isObject(present) && isObject(value) ? { ...present, ...value } : value
}
