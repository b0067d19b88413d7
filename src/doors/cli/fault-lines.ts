import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { cell, columns, objectsOf } from './print.ts'

/** Characters of what a rule does in a row of a table; `--json` has all of them. */
const MOST = 100

/** Fault rules one below the other. */
export function ruleTable(rules: readonly JsonObject[]): string[] {
  const rows = rules.map((rule) => {
    const { id, source, status, matched, fired } = rule
    return [...[id, source, status, matched, fired].map(cell), aboutOf(rule), whenOf(rule), doesOf(rule)]
  })
  return columns([['ID', 'SOURCE', 'STATUS', 'MATCHED', 'FIRED', 'ABOUT', 'WHEN', 'DOES'], ...rows])
}

/** That rules never fired; nothing where all did. */
export function unfiredLines(ids: Json | undefined): string[] {
  return Array.isArray(ids) && ids.length > 0 ? [`Never fired: ${ids.join(', ')}.`] : []
}

/** Presets one below the other, those of a family together. */
export function presetTable(presets: readonly JsonObject[]): string[] {
  const rows = presets.map(({ family, name, says }) => [family, name, says].map(cell))
  return columns([['FAMILY', 'PRESET', 'WHAT A CLIENT SEES'], ...rows])
}

/** Values of requests that stand for a fault. */
export function magicLines(values: readonly JsonObject[]): string[] {
  const rows = values.flatMap(({ place, values: forms }) =>
    objectsOf(forms).map(({ form, says }) => [`  ${cell(form)}`, cell(place), cell(says)]),
  )
  return rows.length === 0 ? [] : ['', 'Values of requests that need no rule:', ...columns(rows)]
}

/** One preset with all that it is made of. */
export function presetLines(preset: JsonObject): string[] {
  const { name, says, then, times } = preset
  return [
    `${name}: ${says}`,
    `  about  ${aboutOf(preset)}`,
    `  when   ${whenOf(preset)}`,
    ...actionsOf(preset).map((action, n) => `  ${n === 0 ? 'does ' : '     '}  ${action}`),
    ...(then === undefined ? [] : [`  then   ${then}`]),
    ...(times === undefined ? [] : [`  times  ${times}`]),
  ]
}

/** Which requests, or webhooks, a rule is about. */
function aboutOf({ match }: JsonObject): string {
  if (!isObject(match)) return match === 'everything' ? 'every request' : ''
  return Object.entries(match)
    .map(([name, value]) => (name === 'operation' ? String(value) : `${name} ${compact(value)}`))
    .join(', ')
}

/** Which of the matches fire. */
function whenOf({ when }: JsonObject): string {
  const { by, ...timing } = isObject(when) ? when : {}
  const parts = Object.entries(timing).map(([name, value]) => `${name} ${compact(value)}`)
  const counted = by === undefined ? '' : `by ${[by].flat().join(' and ')}`
  return [parts.length === 0 ? 'always' : parts.join(', '), counted].filter((each) => each !== '').join(' ')
}

function doesOf(rule: JsonObject): string {
  const { description } = rule
  const text = typeof description === 'string' ? description : actionsOf(rule).join('; ')
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text
}

/** What is done, in order: the plain actions, and those of the steps of a sequence under their names. */
function actionsOf({ do: plain, actions }: JsonObject): string[] {
  const named = isObject(actions) ? Object.entries(actions) : []
  return [
    ...objectsOf(plain).map(actionText),
    ...named.map(([name, list]) => `${name}: ${objectsOf(list).map(actionText).join(', ')}`),
  ]
}

function actionText(action: JsonObject): string {
  return Object.entries(action)
    .map(([name, parameters]) => `${name} ${compact(parameters)}`)
    .join(', ')
}

function compact(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
