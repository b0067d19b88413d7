import { didYouMean } from '../../kernel/assumptions.ts'
import { SECOND } from '../../kernel/duration.ts'
import { UsageError } from './usage.ts'
import * as values from './values.ts'
import { BadValue, type Parse } from './values.ts'

/**
 * One option. Its key in the table makes its flag (`skipOnPoll`: `--skip-on-poll`) and its environment variable
 * (`WORKSPACE_EMULATOR_SKIP_ON_POLL`).
 */
export interface Option<T> {
  /** A `switch` takes no value, a `list` may be repeated (in the environment: separated by commas). */
  readonly kind: 'value' | 'switch' | 'list'
  readonly short?: string
  /** What stands for the value in help texts. */
  readonly placeholder?: string
  readonly parse: Parse<T>
  readonly default: T
  /** The default as help texts show it, where the value itself says too little. */
  readonly shown?: string
  readonly says: string
}

const PREFIX = 'WORKSPACE_EMULATOR_'

const optionTable = {
  port: {
    ...one('number', values.port, 4010),
    short: '-p',
    says: 'TCP port; 0 takes a free one and prints it',
  },
  host: {
    ...one('address', values.bindAddress, '127.0.0.1'),
    says: 'address to listen on; any but a loopback one makes a control token mandatory',
  },
  data: {
    ...one('dir', values.text, '.workspace-emulator'),
    says: 'directory of the state: default.json and its log',
  },
  ephemeral: { ...flag(), says: 'keep everything in memory, write nothing to disk' },
  fixtures: {
    ...one('file', values.text, 'demo'),
    says: 'starting world: a shipped one (empty, demo, large) or a JSON file',
  },
  settings: {
    ...maybe('file', values.text, 'none'),
    says: 'JSON file with names and choices that the specification leaves open',
  },
  seed: { ...one('number', values.seed, 1), says: 'decides everything that is left to chance' },
  clock: { ...maybe('instant', values.instant, 'now'), says: 'virtual instant at which a new world starts' },
  rate: {
    ...one('number', values.rate, 1),
    says: 'virtual seconds per real second; 0 freezes the clock',
  },
  skipOnPoll: {
    ...flag(),
    says: 'a poll of an unfinished batch first advances the clock to its next work event',
  },
  auth: {
    ...one('mode', values.choice(['registered', 'any']), 'registered'),
    says: 'registered: only keys that the world knows; any: an unknown key acts as the first of its kind',
  },
  limits: {
    ...one('on|off', values.onOff, true),
    shown: 'on',
    says: 'whether rate limits refuse requests; their headers are sent in either case',
  },
  strict: {
    ...flag(),
    says: 'invent nothing: endpoints without a contract answer 501, assumed bodies are off',
  },
  durability: {
    ...one('level', values.choice(['process', 'power']), 'process'),
    says: 'what may not lose an acknowledged write: the death of the process, or a power cut',
  },
  controlToken: {
    ...maybe('token', values.token, 'none'),
    says: 'bearer token that the control interface demands',
  },
  allowHost: {
    ...many('host', values.hostHeader),
    says: 'further host name under which clients address the emulator; may be repeated',
  },
  corsOrigin: {
    ...many('origin', values.origin),
    says: 'further origin whose web pages may use the API, or *; may be repeated',
  },
  logLevel: {
    ...one('level', values.choice(['debug', 'info', 'warn', 'error', 'silent']), 'info'),
    says: 'least severity that is logged: debug, info, warn, error or silent',
  },
  logFormat: {
    ...one('format', values.choice(['pretty', 'json']), 'pretty'),
    says: 'pretty for people, json for machines; logs go to stderr',
  },
  quiet: { ...flag(), says: 'no banner, and only warnings and errors in the log' },
  noColor: { ...flag(), says: 'no colours (NO_COLOR does the same)' },
  json: { ...flag(), says: 'one line of JSON on stdout instead of text' },
  url: {
    ...one('url', values.emulatorUrl, 'http://127.0.0.1:4010'),
    says: 'address of the emulator',
  },
  timeout: { ...one('duration', values.duration, 30 * SECOND), shown: '30s', says: 'how long to wait' },
} as const satisfies Record<string, Option<unknown>>

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

function one<T>(placeholder: string, parse: Parse<T>, value: T) {
  return { kind: 'value', placeholder, parse, default: value } as const
}

function maybe<T>(placeholder: string, parse: Parse<T>, shown: string) {
  return {
    kind: 'value',
    placeholder,
    parse: parse as Parse<T | undefined>,
    default: undefined as T | undefined,
    shown,
  } as const
}

function many<T>(placeholder: string, parse: Parse<T>) {
  const list: Parse<readonly T[]> = (value) => [parse(value)]
  return { kind: 'list', placeholder, parse: list, default: [] as readonly T[], shown: 'none' } as const
}

function flag() {
  return { kind: 'switch', parse: values.truth, default: false as boolean } as const
}
