import type { FaultDraft } from '../../core/faults/rule.ts'
import { untimed } from '../../core/faults/when.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { OwnCalls } from '../control/client/ask.ts'
import { callCommand } from './call-command.ts'
import { command, listCommands, SANDBOX_OPTIONS, type SandboxInvocation } from './command.ts'
import { controlOf } from './control-client.ts'
import { type JsonSource, readSource, refusedFile } from './json-files.ts'
import { type OptionValues, UsageError } from './options.ts'
import { cell, columns, prettyLines, show } from './print.ts'

type Rule = OwnCalls['GET /faults/{id}']['output']
type Presets = OwnCalls['GET /faults/presets']['output']
type Preset = Presets['data'][number]

const RULE_OPTIONS = [...SANDBOX_OPTIONS, 'operation', 'match', 'first', 'always'] as const

const ID = { name: '<id>', description: 'the rule, as faults lists it' }

function onRule(name: string, description: string, route: 'GET /faults/{id}' | 'POST /faults/{id}/reset') {
  return callCommand({
    name: `faults ${name}`,
    description,
    args: [ID],
    route,
    lines: (rule) => prettyLines(rule),
  })
}

export const faultCommands = [
  ...listCommands(
    'faults',
    'List the fault rules that are armed',
    'List the fault rules, the same as faults alone',
    SANDBOX_OPTIONS,
    list,
  ),
  command({
    name: 'faults add',
    description: 'Arm a fault rule: a preset, a JSON file or JSON; flags change its fields',
    args: [{ name: '<rule>', description: 'name of a preset, path of a JSON file, or JSON in quotes' }],
    options: RULE_OPTIONS,
    run: async (invocation) => {
      const { options, args } = invocation
      const { value, file } = await readRule(args[0] ?? '')
      const rule = await withFlags(value, options)
      const refused = file && ((error: unknown) => refusedFile('The rule cannot be armed:', file, error))
      // The emulator checks the rule.
      const body = await controlOf(options)('POST /faults', { body: rule as FaultDraft }).catch(
        (error: unknown) => {
          throw refused === undefined ? error : refused(error)
        },
      )
      const rules = 'data' in body ? body.data : [body]
      return show(invocation, body, [...ruleTable(rules), ...rules.map(lifeLine)])
    },
  }),
  command({
    name: 'faults toggle',
    description: 'Arm a preset, or remove its rule if it is already armed',
    args: [{ name: '<preset>', description: 'name of a preset' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const ask = controlOf(invocation.options)
      const [preset = ''] = invocation.args
      const { data } = await ask('GET /faults')
      const rule = data.find((each) => each.preset === preset && each.status === 'armed')
      if (rule === undefined) {
        const body = (await ask('POST /faults', { body: { preset } })) as Rule
        return show(invocation, body, [`On: ${body.id}. ${body.life}`])
      }
      const body = await ask('DELETE /faults/{id}', { params: { id: rule.id } })
      return show(invocation, body, [`Off: ${rule.id}. ${usageOf(rule)}`])
    },
  }),
  onRule('show', 'Show a fault rule in full', 'GET /faults/{id}'),
  onRule(
    'reset',
    'Reset a fault rule: its counters are 0, and its time to live starts now',
    'POST /faults/{id}/reset',
  ),
  callCommand({
    name: 'faults change',
    description: 'Change fields of a fault rule: null removes one; its counters keep their values',
    args: [ID, { name: '<patch>', description: 'merge patch: JSON in quotes, or the path of a JSON file' }],
    route: 'PATCH /faults/{id}',
    body: 'patch',
    lines: (rule) => prettyLines(rule),
  }),
  command({
    name: 'faults clear',
    description: 'Remove a fault rule, or all, and show which of them never fired',
    args: [{ name: '[id]', description: ID.description }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const ask = controlOf(invocation.options)
      const [id] = invocation.args
      if (id === undefined) {
        const body = await ask('DELETE /faults')
        const { removed } = body
        const what = removed.length === 0 ? 'No fault rule was armed.' : `Removed: ${removed.join(', ')}.`
        return show(invocation, body, [what, ...unfiredLines(body.never_fired)])
      }
      const rule = await ask('DELETE /faults/{id}', { params: { id } })
      return show(invocation, rule, [`Removed: ${id}. ${usageOf(rule)}`])
    },
  }),
  command({
    name: 'faults presets',
    description: 'List the ready-made faults, or show one in full',
    args: [{ name: '[name]', description: 'name of a preset' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const [name] = invocation.args
      if (name !== undefined) return showPreset(invocation, name)
      const body = await controlOf(invocation.options)('GET /faults/presets')
      const lines = [...presetTable(body.data), ...magicLines(body.magic_values)]
      return show(invocation, body, lines)
    },
  }),
]

async function list(invocation: SandboxInvocation): Promise<number> {
  const body = await controlOf(invocation.options)('GET /faults')
  const none = 'No fault rule is armed. "workspace-emulator faults presets" lists the presets.'
  return show(invocation, body, body.data.length === 0 ? [none] : ruleTable(body.data))
}

async function showPreset(invocation: SandboxInvocation, name: string): Promise<number> {
  const preset = await controlOf(invocation.options)('GET /faults/presets/{name}', { params: { name } })
  const fitsHeader = preset.match === 'everything' || preset.match.webhook === undefined
  return show(invocation, preset, [
    ...presetLines(preset),
    '',
    `  workspace-emulator faults add ${name}`,
    ...(fitsHeader ? [`  X-Emulator-Fault: ${name}`] : []),
  ])
}

/** How long an armed rule lasts, and the flags that change it. */
function lifeLine({ id, life, preset }: Rule): string {
  return `${id}: ${life}${preset === null ? '' : ' --always and --first N change that.'}`
}

function usageOf({ matched, fired }: Rule): string {
  const times = (count: number) => (count === 1 ? 'once' : `${count} times`)
  if (fired !== 0) return `It fired ${times(fired)}.`
  return matched === 0 ? 'It never fired: nothing matched.' : `It never fired; it matched ${times(matched)}.`
}

// Names of presets have neither dots nor slashes.
function readRule(text: string): Promise<JsonSource> | JsonSource {
  return /[./\\[{]/.test(text) ? readSource('rule', text) : { value: { preset: text } }
}

type RuleOptions = OptionValues<(typeof RULE_OPTIONS)[number]>

async function withFlags(value: Json, options: RuleOptions): Promise<Json> {
  const { operation, match, first, always } = options
  if (operation === undefined && match.length === 0 && first === undefined && !always) return value
  if (first !== undefined && always) throw new UsageError(['Give --first or --always, not both.'])
  if (!isObject(value)) {
    throw new UsageError(['Flags change one rule. Give a rule that is an object, or the list without flags.'])
  }
  // Otherwise the field `times` of the rule would still limit --always or --first.
  const { times: _, ...untimedRule } = value
  const narrowed = { ...(operation !== undefined && { operation }), ...matchOf(match) }
  const when = first === undefined && !always ? undefined : await timingOf(value, first, options)
  return {
    ...(when === undefined ? value : untimedRule),
    ...(Object.keys(narrowed).length > 0 && {
      match: { ...(isObject(value.match) ? value.match : {}), ...narrowed },
    }),
    ...(when && { when }),
  }
}

/** The timing of the rule or of its preset, changed to fire on the first `first` matches, or on all. Its field `by` stays. */
async function timingOf(
  { when, preset }: JsonObject,
  first: number | undefined,
  options: RuleOptions,
): Promise<JsonObject> {
  const own =
    isObject(when) || typeof preset !== 'string'
      ? when
      : (await controlOf(options)('GET /faults/presets/{name}', { params: { name: preset } })).when
  // The emulator checks the timing.
  const rest = untimed(isObject(own) ? own : {}) as JsonObject
  return first === undefined ? rest : { ...rest, first }
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
    else match[field] = /^connection_request_index$/.test(field) ? Number(value) : value
  }
  return match
}

/** Maximum number of characters of the actions in a row of a table; `--json` has all of them. */
const MAX_ACTIONS = 100

/** Fault rules as a table. */
function ruleTable(rules: readonly Rule[]): string[] {
  const rows = rules.map((rule) => {
    const { id, source, status, matched, fired } = rule
    return [...[id, source, status, matched, fired].map(cell), aboutOf(rule), whenOf(rule), doesOf(rule)]
  })
  return columns([['ID', 'SOURCE', 'STATUS', 'MATCHED', 'FIRED', 'ABOUT', 'WHEN', 'DOES'], ...rows])
}

/** A line with the rules that never fired; no line when there are none. */
export function unfiredLines(ids: readonly string[]): string[] {
  return ids.length > 0 ? [`Never fired: ${ids.join(', ')}.`] : []
}

const LASTS = { once: 'once', until_removed: 'until removed' } as const

/** Presets as a table, with their families. */
function presetTable(presets: readonly Preset[]): string[] {
  const rows = presets.map(({ family, name, lasts, description }) => [
    family,
    name,
    LASTS[lasts],
    description,
  ])
  return columns([['FAMILY', 'PRESET', 'LASTS', 'WHAT A CLIENT SEES'], ...rows])
}

/** Values of requests that fire a fault without a rule. */
function magicLines(values: Presets['magic_values']): string[] {
  const rows = values.flatMap(({ place, values: forms }) =>
    forms.map(({ form, description }) => [`  ${form}`, place, description]),
  )
  return rows.length === 0
    ? []
    : ['', 'Values in requests that cause a fault without a rule:', ...columns(rows)]
}

/** One preset with all its fields. */
function presetLines(preset: Preset): string[] {
  const { name, description, then, times, lasts } = preset
  return [
    `${name}: ${description}`,
    `  about  ${aboutOf(preset)}`,
    `  when   ${whenOf(preset)}`,
    ...actionsOf(preset).map((action, n) => `  ${n === 0 ? 'does ' : '     '}  ${action}`),
    ...(then === undefined ? [] : [`  then   ${then}`]),
    ...(times === undefined ? [] : [`  times  ${times}`]),
    `  lasts  ${LASTS[lasts]}`,
  ]
}

/** The requests or webhooks that a rule is about. */
function aboutOf({ match }: Rule | Preset): string {
  if (match === 'everything') return 'every request'
  return Object.entries(match)
    .map(([name, value]) => (name === 'operation' ? String(value) : `${name} ${compact(value)}`))
    .join(', ')
}

/** The matches on which a rule fires. */
function whenOf({ when = {} }: Rule | Preset): string {
  const { by, ...timing } = when
  const parts = Object.entries(timing).map(([name, value]) => `${name} ${compact(value)}`)
  const counted = by === undefined ? '' : `by ${[by].flat().join(' and ')}`
  return [parts.length === 0 ? 'always' : parts.join(', '), counted].filter((each) => each !== '').join(' ')
}

function doesOf(rule: Rule): string {
  const text = rule.description ?? actionsOf(rule).join('; ')
  return text.length > MAX_ACTIONS ? `${text.slice(0, MAX_ACTIONS)}…` : text
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
    .map(([name, parameters]) => `${name} ${compact(parameters)}`)
    .join(', ')
}

function compact(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
