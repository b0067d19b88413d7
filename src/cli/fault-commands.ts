import type { OwnCalls } from '../control-client/ask.ts'
import type { FaultDraft } from '../core/faults/rule.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { optional, toggle } from '../emulator/option.ts'
import { delayOf, LATENCY, type Latency, latencyOf, latencyRule } from '../server/http/faults/latency.ts'
import { call, isOn, sandboxCommand } from '../terminal/call-command.ts'
import { type JsonSource, locatingIssues, readSource } from '../terminal/json-files.ts'
import type { Line } from '../terminal/line.ts'
import { freeTexts, kinds, type OptionValues, SHARED, UsageError } from '../terminal/options.ts'
import { columns, shortened, show, table, textOf } from '../terminal/print.ts'

type Rule = OwnCalls['GET /faults/{id}']['output']
type Presets = OwnCalls['GET /fault-presets']['output']
type Preset = Presets['data'][number]

const RULE_OPTIONS = {
  operation: SHARED.operation,
  match: freeTexts(
    'field=value',
    'only what matches, such as path=/v1/pages or headers.user-agent=curl/*; may be repeated',
  ),
  first: optional(kinds.count, 'none', 'fire only on this number of matches, the first ones'),
  always: toggle('fire on every match'),
}

const RULE = { '<id>': 'the rule, as faults lists it' }

export const faultCommands = [
  call('faults list', 'GET /faults', {
    description: 'List the fault rules that are armed',
    lines: ({ data }) => (data.length === 0 ? [NONE] : ruleTable(data)),
  }),
  sandboxCommand('faults add', {
    description: 'Arm a fault rule: a preset, a JSON file or JSON; flags change its fields',
    args: { '<rule>': 'name of a preset, path of a JSON file, or JSON in quotes' },
    options: RULE_OPTIONS,
    run: async (ask, invocation) => {
      const { options, args } = invocation
      const [text = ''] = args
      // Names of presets have neither dots nor slashes.
      const isPreset = !/[./\\[{]/.test(text)
      const { value, file }: JsonSource = isPreset
        ? { value: { preset: text } }
        : await readSource('rule', text)
      // The emulator checks the rule.
      const rule = withFlags(value, options) as FaultDraft
      const query = { first: options.first?.toString(), always: isOn(options.always) }
      const arming = ask('POST /faults', { body: rule, query })
      const body = await locatingIssues(arming, file, 'The rule cannot be armed:')
      const rules = 'data' in body ? body.data : [body]
      return show(invocation, body, [
        ...ruleTable(rules),
        ...rules.map(({ id, life, preset }) => `${id}: ${life}${preset === null ? '' : CHANGES_LIFE}`),
      ])
    },
  }),
  call('faults clear', ['DELETE /faults/{id}', 'DELETE /faults'], {
    description: 'Remove a fault rule, or all, and show which of them never fired',
    args: { '[id]': RULE['<id>'] },
    lines: (body) => {
      if ('id' in body) return [`Removed: ${body.id}. ${usageOf(body)}`]
      const { removed, never_fired: unfired } = body
      if (removed.length === 0) return ['No fault rule was armed.']
      return [`Removed: ${removed.join(', ')}.`, ...unfiredLines(unfired)]
    },
  }),
  call('faults presets', ['GET /fault-presets/{name}', 'GET /fault-presets'], {
    description: 'List the ready-made faults, or show one in full',
    args: { '[name]': 'name of a preset' },
    lines: (body) =>
      'data' in body ? [...presetTable(body.data), ...magicLines(body.magic_values)] : presetLines(body),
  }),
  sandboxCommand('latency', {
    description: 'Show the delay of every response, change it, or end it with off',
    args: { '[delay]': 'such as 300ms, 300-800ms or 2s, at most 60s; or off' },
    run: async (ask, invocation) => {
      const [text] = invocation.args
      const wanted = text === undefined || text === 'off' ? null : latencyOf(text)
      if (wanted === undefined)
        throw new UsageError([
          `"${text}" is not a latency. Give one such as 300ms, 300-800ms or 2s, at most 60s, or off.`,
        ])
      const { data } = await ask('GET /faults')
      const present = data.find(({ id }) => id === LATENCY)
      if (text !== undefined && present) await ask('DELETE /faults/{id}', { params: { id: LATENCY } })
      if (wanted !== null) await ask('POST /faults', { body: latencyRule(wanted) })
      const latency = text === undefined && present ? delayOf(present.do) : wanted
      return show(invocation, { latency }, [latencySentence(latency)])
    },
  }),
]

const CHANGES_LIFE = ' --always and --first N change that.'

const NONE = 'No fault rule is armed. "workspace-emulator faults presets" lists the presets.'

function usageOf({ matched, fired }: Rule): string {
  const times = (count: number) => (count === 1 ? 'once' : `${count} times`)
  if (fired !== 0) return `It fired ${times(fired)}.`
  return matched === 0 ? 'It never fired: nothing matched.' : `It never fired; it matched ${times(matched)}.`
}

function withFlags(value: Json, options: OptionValues<typeof RULE_OPTIONS>): Json {
  const { operation, match, first, always } = options
  if (first !== undefined && always) throw new UsageError(['Give --first or --always, not both.'])
  if (operation === undefined && match.length === 0) return value
  if (!isObject(value)) {
    throw new UsageError(['--operation and --match change one rule. Give a rule that is an object.'])
  }
  const narrowed = { ...(operation !== undefined && { operation }), ...matchOf(match) }
  return { ...value, match: { ...(isObject(value.match) && value.match), ...narrowed } }
}

/** Fields of `match` that are objects: `--match headers.user-agent=curl/*`. */
const MAPS = ['headers', 'query']

function matchOf(pairs: readonly string[]): JsonObject {
  const match: Record<string, Json> = {}
  for (const pair of pairs) {
    const [, field = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (field === '') throw new UsageError([`--match: "${pair}" is not FIELD=VALUE, such as path=/v1/pages.`])
    const [, map = '', key = ''] = /^([a-z]+)\.(.+)$/s.exec(field) ?? []
    if (MAPS.includes(map)) match[map] = { ...((match[map] ?? {}) as JsonObject), [key]: value }
    else match[field] = field === 'connection_request_index' ? Number(value) : value
  }
  return match
}

/** Fault rules as a table. */
function ruleTable(rules: readonly Rule[]): Line[] {
  const rows = rules.map((rule) => {
    const { id, source, status, matched, fired } = rule
    const does = shortened(rule.description ?? actionsOf(rule).join('; '))
    return [id, source, status, matched, fired, aboutOf(rule), whenOf(rule), does]
  })
  return table(['ID', 'SOURCE', 'STATUS', 'MATCHED', 'FIRED', 'ABOUT', 'WHEN', 'DOES'], rows)
}

/** A line with the rules that never fired; no line when there are none. */
export function unfiredLines(ids: readonly string[]): string[] {
  return ids.length > 0 ? [`Never fired: ${ids.join(', ')}.`] : []
}

const LASTS = { once: 'once', until_removed: 'until removed' } as const

/** Presets as a table, with their families. The name is first, where it is never cut off. */
function presetTable(presets: readonly Preset[]): Line[] {
  const rows = presets.map((each) => [each.name, each.family, LASTS[each.lasts], each.description])
  return table(['PRESET', 'FAMILY', 'LASTS', 'WHAT A CLIENT SEES'], rows)
}

/** Values of requests that fire a fault without a rule. */
function magicLines(values: Presets['magic_values']): Line[] {
  const rows = values.flatMap(({ place, values: forms }) =>
    forms.map(({ form, description }) => [`  ${form}`, place, description]),
  )
  return ['', 'Values in requests that cause a fault without a rule:', ...columns(rows)]
}

/** One preset with all its fields, and the ways to arm it. */
function presetLines(preset: Preset): string[] {
  const { name, description, then, times, lasts, match } = preset
  const fitsHeader = match === 'everything' || match.webhook === undefined
  return [
    `${name}: ${description}`,
    `  about  ${aboutOf(preset)}`,
    `  when   ${whenOf(preset)}`,
    ...actionsOf(preset).map((action, n) => `  ${n === 0 ? 'does ' : '     '}  ${action}`),
    ...(then === undefined ? [] : [`  then   ${then}`]),
    ...(times === undefined ? [] : [`  times  ${times}`]),
    `  lasts  ${LASTS[lasts]}`,
    '',
    `  workspace-emulator faults add ${name}`,
    ...(fitsHeader ? [`  X-Emulator-Fault: ${name}`] : []),
  ]
}

/** The requests or webhooks that a rule is about. */
function aboutOf({ match }: Rule | Preset): string {
  if (match === 'everything') return 'every request'
  return Object.entries(match)
    .map(([name, value]) => (name === 'operation' ? String(value) : `${name} ${textOf(value)}`))
    .join(', ')
}

/** The matches on which a rule fires. */
function whenOf({ when = {} }: Rule | Preset): string {
  const { by, ...timing } = when
  const parts = Object.entries(timing).map(([name, value]) => `${name} ${textOf(value)}`)
  const counted = by === undefined ? '' : `by ${[by].flat().join(' and ')}`
  return [parts.length === 0 ? 'always' : parts.join(', '), counted].filter((each) => each !== '').join(' ')
}

/** The actions in order: those of `do`, then the named actions of a sequence. */
function actionsOf({ do: plain = [], actions = {} }: Rule | Preset): string[] {
  const named = Object.entries(actions)
  return [
    ...plain.map(actionText),
    ...named.map(([name, list]) => `${name}: ${list.map(actionText).join(', ')}`),
  ]
}

function actionText(action: object): string {
  return Object.entries(action)
    .map(([name, parameters]) => `${name} ${textOf(parameters)}`)
    .join(', ')
}

function latencySentence(latency: Latency | null): string {
  if (latency === null) return 'Responses are not delayed.'
  const [from, to] = latency
  return `Every response is delayed by ${from === to ? '' : `${from} to `}${to} ms.`
}
