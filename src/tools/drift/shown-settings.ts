import { type AnySetting, Settings } from '../../core/assumptions.ts'
import { successOverrides } from '../../core/core-assumptions.ts'
import { isObject, type Json, same } from '../../core/json.ts'
import type { AnyOperation } from '../../core/operation.ts'
import { successOf } from '../../core/request/response.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { agrees, isPlain, shownBy } from './checks.ts'
import type { HarExchange } from './har.ts'

/** The settings that exchanges show, and the values with which the emulator would respond as the service did. */
export class ShownSettings {
  readonly tally = new Map<AnySetting, [value: Json, count: number][]>()
  readonly #successes = new Map<AnyOperation, number>()
  readonly #under: Pick<Sandbox, 'service' | 'settings'>

  constructor(under: Pick<Sandbox, 'service' | 'settings'>) {
    this.#under = under
  }

  add(exchange: HarExchange): void {
    if (exchange.status < 300) this.#successes.set(exchange.declared, exchange.status)
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
    // One setting has the status of many operations.
    const usual = new Settings({ ...settings.overrides, ...chosen })
    const { key } = successOverrides
    const single = [...this.#successes].flatMap(([operation, status]) => {
      const [{ name, success }, own] = [operation, { [operation.name]: status }]
      const isOther = typeof success === 'object' && status !== successOf(operation, usual)
      return isOther && service.assumptions.check({ [key]: own }).length === 0
        ? [[name, status] as const]
        : []
    })
    const overrides = { ...usual.get(successOverrides), ...Object.fromEntries(single) }
    return single.length > 0 ? { ...chosen, [key]: overrides } : chosen
  }
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
