import { type AnySetting, Settings } from '../../core/assumptions.ts'
import { type Issue, isObject, type Json, pointer, same } from '../../core/json.ts'
import type { Arrow } from '../../core/lifecycle.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { agrees, type Difference, differencesOf, isPlain, shownBy, shownValue } from './checks.ts'
import type { HarExchange, Traffic } from './har.ts'
import { repetitionDifferences, transitionDifferences } from './sequences.ts'

/** The result of comparing traffic with the contract. */
export interface Comparison {
  /** Each with the pointer of its first entry. */
  readonly differences: readonly Issue[]
  /** The questions that the traffic answers, each with a setting or a transition. */
  readonly settled: readonly {
    readonly item: string
    readonly setting?: string
    readonly shows: readonly string[]
    readonly agrees: boolean
  }[]
  /** Settings with which fewer differences remain, and how many. */
  readonly settings: Readonly<Record<string, Json>>
  readonly remaining: number
}

/** Compares traffic with the contract under the settings of a sandbox, and finds settings with which they agree. */
export function compareTraffic(
  { exchanges, unrouted }: Traffic,
  { service, settings }: Pick<Sandbox, 'service' | 'settings'>,
): Comparison {
  const { assumptions } = service
  const arrows = new Set<Arrow>()
  const others: readonly Difference[] = [
    ...unrouted.map((place) => [place, 'the emulator has no such operation'] as const),
    ...transitionDifferences(exchanges, service, arrows),
    ...repetitionDifferences(exchanges),
  ]
  const all = (under: Settings): Issue[] =>
    grouped([...exchanges.flatMap((each) => differencesOf(each, under, assumptions)), ...others])
  const shown = new ShownSettings({ service, settings })
  for (const each of exchanges) shown.add(each)
  const { tally, chosen } = shown
  const settled = [...tally].map(([setting, values]) => ({
    item: setting.item,
    setting: setting.key,
    shows: values.map(([value, number]) => `${shownValue(value)} (${number})`),
    agrees: values.every(([value]) => agrees(settings.get(setting), value)),
  }))
  const assumed = [...arrows].filter(({ because }) => because !== 'spec')
  const moves = assumed.map(({ because: item, from, to }) => ({
    item,
    shows: [`${from} to ${to}`],
    agrees: true,
  }))
  return {
    differences: all(settings),
    settled: [...settled, ...moves].sort((a, b) => (a.item < b.item ? -1 : 1)),
    settings: chosen,
    remaining: all(new Settings({ ...settings.overrides, ...chosen }, settings.strict)).length,
  }
}

/** The settings that exchanges show, and the values with which the emulator would respond as the service did. */
export class ShownSettings {
  readonly tally = new Map<AnySetting, [value: Json, count: number][]>()
  readonly #under: Pick<Sandbox, 'service' | 'settings'>

  constructor(under: Pick<Sandbox, 'service' | 'settings'>) {
    this.#under = under
  }

  add(exchange: HarExchange): void {
    for (const [setting, value] of shownBy(exchange, this.#under.settings, this.#under.service.assumptions)) {
      const values = this.tally.get(setting) ?? []
      const known = values.find(([each]) => same(each, value))
      if (known === undefined) values.push([value, 1])
      else known[1] += 1
      values.sort((a, b) => b[1] - a[1])
      this.tally.set(setting, values)
    }
  }

  /** The settings that differ from those in force, with the most frequent values. */
  get chosen(): Record<string, Json> {
    const { service, settings } = this.#under
    const chosen: Record<string, Json> = {}
    for (const [setting, values] of this.tally) {
      const actual = settings.get<Json>(setting)
      const value = joined(actual, values)
      const isValid =
        service.assumptions.check({ ...settings.overrides, ...chosen, [setting.key]: value }).length === 0
      if (isValid && isPlain(value) && !agrees(actual, value)) chosen[setting.key] = value
    }
    return chosen
  }
}

/** Equal differences as one issue, with the pointer of the first entry. */
function grouped(differences: readonly Difference[]): Issue[] {
  const groups = new Map<string, Difference[]>()
  for (const difference of [...differences].sort(([a], [b]) => a.entry - b.entry)) {
    const [{ request }, detail] = difference
    // Settings, headers and error bodies are those of all operations, and a difference may be about any item of a list.
    const owner = /^(?:status|setting|header|error body) /.test(detail) ? '' : request
    const key = `${owner} ${detail.replaceAll(/(\/|entry )\d+/g, '$1*')}`
    const group = groups.get(key) ?? []
    group.push(difference)
    groups.set(key, group)
  }
  return [...groups.values()].map((group) => {
    const [{ entry, request }, detail] = group[0] as Difference // no group is empty
    const entries = new Set(group.map(([each]) => each.entry)).size
    const more = entries === 1 ? '' : ` (in ${entries} entries)`
    return { pointer: pointer('log', 'entries', entry), detail: `${request}: ${detail}${more}` }
  })
}

// The most frequent value. Lists and objects are shown in parts, so all parts count.
function joined(actual: Json, values: readonly (readonly [value: Json, count: number])[]): Json {
  const shown = values.map(([value]) => value)
  const [first = actual] = shown
  if (Array.isArray(first)) {
    const all = [actual, ...shown].flat()
    return all.filter((one, n) => all.findIndex((each) => same(each, one)) === n)
  }
  return isObject(first) ? Object.assign({}, actual, ...shown.toReversed()) : first
}
