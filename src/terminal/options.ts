import { z } from 'zod'
import { didYouMean } from '../core/did-you-mean.ts'
import { NAME_PATTERN, NAME_RULE } from '../core/sandboxes/name.ts'
import { parseDuration, SECOND } from '../core/time/instant.ts'
import {
  BadValue,
  choiceOption,
  decimal,
  type Kind,
  kind,
  listOption,
  type Option,
  option,
  optional,
  textOption,
  toggle,
} from '../emulator/option.ts'
import { startOptions } from '../emulator/options.ts'

/** A wrong command line or environment. Each problem contains the cause, its place and the fix. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

const PREFIX = 'WORKSPACE_EMULATOR_'

/** The kinds of values that options of commands have. */
export const kinds = {
  count: kind('number', z.int().min(1), 'is not a count. Give a whole number from 1.', decimal),
  number: kind('number', z.int().min(0), 'is not a number. Give a whole number from 0.', decimal),
  percentage: kind(
    'percentage',
    z.number().min(0).max(100),
    'is not a percentage. Give a number from 0 to 100.',
    decimal,
  ),
  duration: kind(
    'duration',
    z.number(),
    'is not a duration. Give one such as 500ms, 30s, 10m, 24h or PT24H.',
    parseDuration,
  ),
  /** The name of a sandbox or a snapshot. */
  sandboxName: kind('name', z.string().regex(NAME_PATTERN), `is not a name. Give ${NAME_RULE}.`),
  /** The base URL of an API. */
  baseUrl: kind('url', z.url(), 'is not a URL. Give one such as https://api.example.com/v1.'),
}

/** The address of an emulator; that of its API or control interface is accepted too. */
const emulatorUrl = kind(
  'url',
  z.string(),
  'is not the address of an emulator. Give one such as http://127.0.0.1:4010.',
  (value) =>
    URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
      ? value.replace(/\/+$/, '').replace(/\/(?:v1|__emulator)$/, '')
      : undefined,
)

/** A whole number within the bounds of a field of the control interface. */
export function numberIn(field: z.ZodType<number>): Kind<number> {
  const { minimum, maximum } = z.toJSONSchema(field)
  return kind('number', field, `is not accepted. Give a whole number from ${minimum} to ${maximum}.`, decimal)
}

/** An option that is any text. */
export function freeText(placeholder: string, description: string, shown = 'none') {
  return optional(textOption(placeholder), shown, description)
}

/** An option that is any text, and may be repeated. */
export function freeTexts(placeholder: string, description: string) {
  return listOption(textOption(placeholder), { description })
}

/** The option with another description, and another default in the help. */
export function described<O extends Option<unknown>>(
  option: O,
  description: string,
  shown = option.shown,
): O {
  return { ...option, description, shown }
}

/** The options of a command by their names, in the order of its help. */
export type Options = Readonly<Record<string, Option<unknown>>>

/** The values of some options. */
export type OptionValues<O extends Options> = { readonly [N in keyof O]: O[N]['default'] }

/** The options of `start`. */
export const START_OPTIONS = {
  ...startOptions,
  logLevel: option(choiceOption('level', ['debug', 'info', 'warn', 'error', 'silent']), 'info', {
    description: 'lowest severity that is logged: debug, info, warn, error or silent',
  }),
  logFormat: option(choiceOption('format', ['pretty', 'json']), 'pretty', {
    description: 'pretty for people, json for machines; logs go to stderr',
  }),
  logRequests: option(choiceOption('mode', ['on', 'off', 'errors']), 'off', {
    shown: 'on for a terminal, otherwise off',
    description: 'whether stderr gets a line for each request: on, off, or errors for those that fail',
  }),
  quiet: toggle('no banner, and only warnings and errors in the log'),
  noColor: toggle('no colours (NO_COLOR does the same)'),
  json: toggle('one line of JSON on stdout instead of text'),
}

/** The options that several commands have besides those of `start`; an option of one command stands with it. */
export const SHARED = {
  url: option(emulatorUrl, 'http://127.0.0.1:4010', { description: 'address of the emulator' }),
  sandbox: optional(kinds.sandboxName, 'default', 'sandbox of the command; it is created when first named'),
  timeout: option(kinds.duration, 30 * SECOND, { shown: '30s', description: 'how long to wait' }),
  status: freeText('status', 'only requests with this status, such as 429, or of this class, such as 4xx'),
  operation: freeText('name', 'only requests of an operation: pages.create'),
  since: freeText('instant|id', 'only requests from this virtual instant on, or after this request'),
  stable: toggle('without real-time fields, so that equal runs print equal text'),
  secrets: toggle('show the secrets that sign webhooks instead of a mask'),
  follow: toggle('continue with new entries as they come; with --json one object on each line'),
  run: freeText('glob', 'only cases with this name; * is any run of characters', 'all'),
  junit: freeText('file', 'file for the results as JUnit XML; an existing one is replaced'),
  retries: optional(kinds.number, 'not declared', 'how often the clients repeat a failed call'),
}

const { json, noColor, controlToken } = START_OPTIONS

/** The options of every command that only prints. */
export const PRINT_OPTIONS = { json, noColor }

/** The options of every command that talks to a running emulator. */
export const CLIENT_OPTIONS = { url: SHARED.url, controlToken, json, noColor }

/** The options of every command about one of its sandboxes. */
export const SANDBOX_OPTIONS = { ...CLIENT_OPTIONS, sandbox: SHARED.sandbox }

/** An option that makes a command fail if there is a finding of a severity or a more severe one. */
export function failing(what: string) {
  return optional(
    choiceOption('severity', ['error', 'warning']),
    'none',
    `exit with 1 if ${what} of this severity or a more severe one`,
  )
}

/** The texts that the command line gives for each option, in order. */
export type Flags = ReadonlyMap<string, readonly string[]>

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. */
export function environment(): Environment {
  return process.env
}

/** `skipOnPoll`: `--skip-on-poll`. */
export function flagOf(name: string, { flag }: Pick<Option<unknown>, 'flag'> = {}): string {
  return `--${flag ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** `skipOnPoll`: `WORKSPACE_EMULATOR_SKIP_ON_POLL`. */
export function variableOf(name: string, option: Pick<Option<unknown>, 'flag' | 'variable'> = {}): string {
  return PREFIX + (option.variable ?? flagOf(name, option).slice(2)).replaceAll('-', '_').toUpperCase()
}

/** `-p, --port <number>`. */
export function usageOf(name: string, option: Option<unknown>): string {
  const { short, placeholder } = option
  const flags = [...(short === undefined ? [] : [short]), flagOf(name, option)].join(', ')
  return placeholder === undefined ? flags : `${flags} <${placeholder}>`
}

/** The default as the help shows it: `4010`, `off`, `none`. */
export function shownDefault({ shown, kind, default: value }: Option<unknown>): string {
  return shown ?? (kind === 'switch' ? 'off' : String(value))
}

/** Whether npm runs this process as one of its scripts. */
export function isNpmScript(env: Environment): boolean {
  return (env.npm_lifecycle_event ?? '') !== ''
}

/**
 * The values of options: a flag wins over a variable, a variable over the default. An empty variable counts as absent, as in
 * compose files. Throws {@link UsageError} with every problem, those that are known before included.
 */
export function resolveOptions<O extends Options>(
  options: O,
  flags: Flags,
  env: Environment,
  known: readonly string[] = [],
): OptionValues<O> {
  const problems = [...known]
  const entries = Object.entries(options).map(([name, option]) => {
    const { kind, parse } = option
    const variable = env[variableOf(name, option)] ?? ''
    const fromVariable = kind === 'list' ? variable.split(',').map((each) => each.trim()) : [variable]
    const texts = flags.get(name) ?? (variable === '' ? undefined : fromVariable)
    if (texts === undefined) return [name, fallback(name, option, env)]
    const where = flags.has(name) ? flagOf(name, option) : variableOf(name, option)
    const values = texts.map((value) => {
      try {
        if (value === '') throw new BadValue('is empty. Give a value, or leave it out.')
        return parse(value)
      } catch (error) {
        if (!(error instanceof BadValue)) throw error
        problems.push(`${where}: "${value}" ${error.message}`)
        return undefined
      }
    })
    return [name, kind === 'list' ? values : values.at(-1)]
  })
  if (problems.length > 0) throw new UsageError(problems)
  return Object.fromEntries(entries) as OptionValues<O>
}

/** The options that a flag or a variable sets, whatever their values. */
export function givenOptions(options: Options, flags: Flags, env: Environment): ReadonlySet<string> {
  const isGiven = (name: string) => flags.has(name) || (env[variableOf(name, options[name])] ?? '') !== ''
  return new Set(Object.keys(options).filter(isGiven))
}

/** The value of an argument. Throws {@link UsageError}. */
export function argumentOf<T>(name: string, { parse }: Kind<T>, text = ''): T {
  try {
    return parse(text)
  } catch (error) {
    throw error instanceof BadValue ? new UsageError([`<${name}>: "${text}" ${error.message}`]) : error
  }
}

// In the container or the shell of the emulator, the address comes from the variables of its start.
function fallback(name: string, option: Option<unknown>, env: Environment): unknown {
  if (name === 'noColor') return (env.NO_COLOR ?? '') !== ''
  if (option !== SHARED.url) return option.default
  const { port, host } = resolveOptions({ port: startOptions.port, host: startOptions.host }, new Map(), env)
  const everywhere = host === '0.0.0.0' || host === '::'
  const address = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${address}:${port || startOptions.port.default}`
}

/** The problems of variables with our prefix that no option has. @param all loads the options of all commands */
export async function unknownVariables(
  env: Environment,
  own: Options,
  all: () => Promise<readonly Options[]>,
): Promise<string[]> {
  const variables = (options: Options) => Object.entries(options).map((each) => variableOf(...each))
  const usual = variables(own)
  const odd = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !usual.includes(name))
  const known = odd.length === 0 ? [] : (await all()).flatMap(variables)
  return odd
    .filter((name) => !known.includes(name))
    .map((name) => `There is no environment variable ${name}.${didYouMean(name, known)}`)
}
