import { didYouMean } from '../../kernel/assumptions.ts'
import { type Option, optionTable } from './option-table.ts'
import { UsageError } from './usage.ts'
import { BadValue, type Parse } from './values.ts'

const PREFIX = 'WORKSPACE_EMULATOR_'

export type OptionName = keyof typeof optionTable

/** The values of some options. */
export type OptionValues<N extends OptionName = OptionName> = {
  readonly [K in N]: (typeof optionTable)[K] extends Option<infer T> ? T : never
}

/** What stood on the command line, by option: every text that was given for it, in order. */
export type Flags = ReadonlyMap<OptionName, readonly string[]>

export type Environment = Readonly<Record<string, string | undefined>>

export const OPTION_NAMES = Object.keys(optionTable) as readonly OptionName[]

/** The environment of this process. */
export function environment(): Environment {
  return process.env
}

export function optionOf(name: OptionName): Option<unknown> {
  return optionTable[name]
}

/** `skipOnPoll`: `--skip-on-poll`. */
export function flagOf(name: OptionName): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** `skipOnPoll`: `WORKSPACE_EMULATOR_SKIP_ON_POLL`. */
export function variableOf(name: OptionName): string {
  return PREFIX + flagOf(name).slice(2).replaceAll('-', '_').toUpperCase()
}

/** The default as people read it: `4010`, `off`, `none`. */
export function shownDefault(name: OptionName): string {
  const option = optionOf(name)
  if (option.shown !== undefined) return option.shown
  return option.kind === 'switch' ? 'off' : String(option.default)
}

/** Whether npm runs this process as one of its scripts. */
export function isNpmScript(env: Environment): boolean {
  return (env.npm_lifecycle_event ?? '') !== ''
}

/** The file to which a workflow step may append its summary in Markdown; undefined where nobody reads one. */
export function stepSummaryFile(env: Environment): string | undefined {
  return env.GITHUB_STEP_SUMMARY || undefined
}

/**
 * The values in force: flag before environment before default. An empty variable counts as absent, as compose files
 * write it. Throws {@link UsageError} with everything that is wrong, unknown variables of our prefix included.
 */
export function resolveOptions<N extends OptionName>(
  names: readonly N[],
  flags: Flags,
  env: Environment,
): OptionValues<N> {
  const problems = unknownVariables(env)
  const entries = names.map((name) => [name, valueInForce(name, flags, env, problems)] as const)
  if (problems.length > 0) throw new UsageError(problems)
  return Object.fromEntries(entries) as OptionValues<N>
}

/** The options that a flag or a variable gives, whatever their values. */
export function givenOptions(
  names: readonly OptionName[],
  flags: Flags,
  env: Environment,
): ReadonlySet<OptionName> {
  return new Set(names.filter((name) => flags.has(name) || (env[variableOf(name)] ?? '') !== ''))
}

function valueInForce(name: OptionName, flags: Flags, env: Environment, problems: string[]): unknown {
  const option = optionOf(name)
  const given = flags.get(name)
  if (given !== undefined) return parsed(option, flagOf(name), given, problems)
  const variable = variableOf(name)
  const value = env[variable]
  if (value === undefined || value === '') return fallback(name, env)
  const texts = option.kind === 'list' ? value.split(',').map((each) => each.trim()) : [value]
  return parsed(option, variable, texts, problems)
}

function parsed(
  option: Option<unknown>,
  where: string,
  texts: readonly string[],
  problems: string[],
): unknown {
  const results = texts.map((value) => attempt(option.parse, where, value, problems))
  return option.kind === 'list' ? results.flat() : results.at(-1)
}

function attempt(parse: Parse<unknown>, where: string, value: string, problems: string[]): unknown {
  try {
    if (value === '') throw new BadValue('is empty. Give a value, or leave it out.')
    return parse(value)
  } catch (error) {
    if (!(error instanceof BadValue)) throw error
    problems.push(`${where}: "${value}" ${error.message}`)
    return undefined
  }
}

// Beside the emulator (in its container, in its shell) the address follows from the variables that it was started with.
function fallback(name: OptionName, env: Environment): unknown {
  if (name === 'noColor') return (env.NO_COLOR ?? '') !== ''
  if (name !== 'url') return optionOf(name).default
  const { port, host } = resolveOptions(['port', 'host'], new Map(), env)
  const everywhere = host === '0.0.0.0' || host === '::'
  const address = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${address}:${port || optionTable.port.default}`
}

function unknownVariables(env: Environment): string[] {
  const known = OPTION_NAMES.map(variableOf)
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => `There is no environment variable ${name}.${didYouMean(name, known)}`)
}
