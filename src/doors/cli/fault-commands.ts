import { parameterHelp } from '../../kernel/faults/header/parameters.ts'
import type { Preset } from '../../kernel/faults/preset.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { ask, RequestRefused } from './control-client.ts'
import { type WrittenRule, writtenRule } from './fault-draft.ts'
import { magicLines, presetLines, presetTable, ruleTable, unfiredLines } from './fault-lines.ts'
import type { FAULT_OPTIONS, Invocation, SandboxInvocation } from './invocation.ts'
import { issueLine, located } from './json-files.ts'
import { columns, objectsOf, show } from './print.ts'
import { CommandFailed } from './usage.ts'

/** `faults list`: the fault rules of the sandbox in the order in which they are asked. */
export async function list(invocation: SandboxInvocation): Promise<number> {
  const body = await ask(invocation.options, 'GET', '/faults')
  const rules = objectsOf(body.data)
  const none = 'No fault rule is armed. "workspace-emulator faults presets" lists what can be.'
  return show(invocation, body, rules.length === 0 ? [none] : ruleTable(rules))
}

/** `faults add`: arms a rule, or a list of them. */
export async function add(invocation: Invocation<(typeof FAULT_OPTIONS)[number]>): Promise<number> {
  const { options, args } = invocation
  const [source = ''] = args
  const rule = await writtenRule(source, options)
  const body = await ask(options, 'POST', '/faults', rule.body).catch((error: unknown) => {
    throw inFile(error, rule)
  })
  const rules = body.object === 'list' ? objectsOf(body.data) : [body]
  return show(invocation, body, ruleTable(rules))
}

/** `faults clear`: removes one rule, or all, and says which of them never fired. */
export async function clear(invocation: SandboxInvocation): Promise<number> {
  const [id] = invocation.args
  if (id === undefined) {
    const body = await ask(invocation.options, 'DELETE', '/faults')
    const removed = Array.isArray(body.removed) ? body.removed : []
    const what = removed.length === 0 ? 'No fault rule was armed.' : `Removed: ${removed.join(', ')}.`
    return show(invocation, body, [what, ...unfiredLines(body.never_fired)])
  }
  const rule = await ask(invocation.options, 'DELETE', `/faults/${encodeURIComponent(id)}`)
  return show(invocation, rule, [`Removed: ${id}. ${fateOf(rule)}`])
}

/** `faults presets`: the ready-made faults, or one of them in full. */
export async function presets(invocation: SandboxInvocation): Promise<number> {
  const [name] = invocation.args
  if (name === undefined) {
    const body = await ask(invocation.options, 'GET', '/faults/presets')
    return show(invocation, body, [
      ...presetTable(objectsOf(body.data)),
      ...magicLines(objectsOf(body.magic_values)),
    ])
  }
  const body = await ask(invocation.options, 'GET', `/faults/presets/${encodeURIComponent(name)}`)
  // What the emulator lists is what its code declares.
  const preset = body as JsonObject & Preset
  const header = preset.match === 'everything' || preset.match.webhook === undefined
  return show(invocation, body, [
    ...presetLines(body),
    '',
    `  workspace-emulator faults add ${name}`,
    ...(header ? [`  X-Emulator-Fault: ${name}`, '', ...parameterLines(preset)] : []),
  ])
}

function parameterLines(preset: Preset): string[] {
  const rows = parameterHelp(preset).map(({ names, says }) => [`    ;${names.join(' ;')}`, says])
  return ['  Parameters of the header:', ...columns(rows)]
}

function fateOf({ matched, fired }: JsonObject): string {
  const times = (count: unknown) => (count === 1 ? 'once' : `${count} times`)
  if (fired === 0)
    return matched === 0
      ? 'It never fired: nothing matched.'
      : `It never fired; it matched ${times(matched)}.`
  return `It fired ${times(fired)}.`
}

/** What was refused, with the lines of the file that it came from. */
function inFile(error: unknown, { file }: WrittenRule): unknown {
  if (file === undefined || !(error instanceof RequestRefused) || error.issues.length === 0) return error
  const lines = located(file.text, error.issues).map((issue) => issueLine(file.path, issue))
  return new CommandFailed(['The rule cannot be armed:', ...lines].join('\n  '))
}
