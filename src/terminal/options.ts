import * as z from 'zod'
import { TOPICS } from '../client/advance-summary.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { NAME_PATTERN, NAME_RULE } from '../core/sandboxes/name.ts'
import { parseDuration, SECOND } from '../core/time/instant.ts'
import {
  BadValue,
  choiceOption,
  decimal,
  kind,
  listOption,
  type Option,
  option,
  optional,
  textOption,
  toggle,
} from '../emulator/option.ts'
import { instant, startOptions } from '../emulator/options.ts'

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

const count = kind('number', z.int().min(1), 'is not a count. Give a whole number from 1.', decimal)
const number = kind('number', z.int().min(0), 'is not a number. Give a whole number from 0.', decimal)
const percentage = kind(
  'percentage',
  z.number().min(0).max(100),
  'is not a percentage. Give a number from 0 to 100.',
  decimal,
)
const duration = kind(
  'duration',
  z.number(),
  'is not a duration. Give one such as 500ms, 30s, 10m, 24h or PT24H.',
  parseDuration,
)
/** The name of a sandbox or a snapshot. */
const sandboxName = kind('name', z.string().regex(NAME_PATTERN), `is not a name. Give ${NAME_RULE}.`)
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

/** The base URL of an API. */
const baseUrl = kind('url', z.url(), 'is not a URL. Give one such as https://api.example.com/v1.')

/** The columns that a table of requests can have. */
const REQUEST_COLUMNS = [
  ...['id', 'at', 'status', 'request', 'operation', 'error', 'method', 'path', 'key', 'idempotency_key'],
  ...['duration_ms', 'decided', 'faults', 'changed', 'assumed'],
]
const columnList = kind(
  'names',
  z.array(z.enum(REQUEST_COLUMNS)),
  `is not a list of columns. Give some of ${REQUEST_COLUMNS.join(',')}.`,
  (value) => value.split(','),
)
const severity = choiceOption('severity', ['error', 'warning'])
const OF_SEVERITY = 'of this severity or a more severe one'
const topic = choiceOption('topic', TOPICS)

const EVENT_TYPES = [
  'request',
  'event',
  'delivery',
  'transition',
  'clock',
  'schedule',
  'scenario',
  'sandbox',
] as const

/** An option that is any text. */
function text(placeholder: string, description: string, shown = 'none') {
  return optional(textOption(placeholder), shown, description)
}

/** An option that is any text, and may be repeated. */
function texts(placeholder: string, description: string) {
  return listOption(textOption(placeholder), { description })
}

/** Every option of every command. */
const optionTable = {
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
  detach: toggle('continue in the background when the emulator is ready; the command stop ends it'),
  url: option(emulatorUrl, 'http://127.0.0.1:4010', { description: 'address of the emulator' }),
  sandbox: optional(
    sandboxName,
    'default',
    'sandbox that the command is about; it is created when it is first named',
  ),
  timeout: option(duration, 30 * SECOND, { shown: '30s', description: 'how long to wait' }),
  to: optional(instant, 'none', 'virtual instant to advance to'),
  steps: optional(count, 'none', 'number of events to advance over'),
  maxEvents: optional(count, 'none', 'stop after this many events, whether or not the target is reached'),
  all: toggle('list each event on its own line, repeated ones too'),
  only: optional(topic, 'all', 'list only the events of batches, webhooks or automations'),
  untilBatch: text('id', 'batch to advance for, until it is terminal'),
  items: optional(count, 'none', 'finished items of the batch to advance to, instead of its end'),
  status: text('status', 'only requests with this status, such as 429, or of this class, such as 4xx'),
  operation: text('name', 'only requests of an operation: pages.create'),
  method: text('method', 'only requests with this method'),
  path: text('glob', 'only requests to this path; * is any run of characters'),
  idempotencyKey: text('glob', 'only requests with this Idempotency-Key; * is any run of characters'),
  since: text('instant|id', 'only requests from this virtual instant on, or after the request with this id'),
  limit: optional(count, '100', 'how many requests to list, the newest ones'),
  first: optional(count, 'none', 'fire only on this number of matches, the first ones'),
  match: texts(
    'field=value',
    'only what matches, such as path=/v1/pages or headers.user-agent=curl/*; may be repeated',
  ),
  always: toggle('fire on every match'),
  reset: toggle('reset the sandbox to its starting state first'),
  persist: toggle('keep the sandbox on disk, so that it outlives the process'),
  full: toggle('with the bodies of requests and responses, as far as the log has kept them'),
  columns: option(columnList, ['id', 'at', 'status', 'request', 'operation', 'error'], {
    description: `columns of the table: ${REQUEST_COLUMNS.join(', ')}`,
  }),
  follow: toggle('continue with new entries as they come; with --json one object on each line'),
  type: listOption(choiceOption('type', EVENT_TYPES), {
    description: `only events of this type: ${EVENT_TYPES.join(', ')}; may be repeated`,
  }),
  stable: toggle('without real-time fields, so that equal runs print equal text'),
  har: text('file', 'HAR file to write; an existing one is replaced', 'stdout'),
  out: option(textOption('file'), 'fixtures/imported.json', {
    description: 'fixtures to write; an existing file is replaced',
  }),
  settingsOut: text('file', 'settings file to write, with what the traffic shows about the service'),
  keepNames: toggle('keep names and texts as they were recorded; keys, tokens and signed URLs are removed'),
  absolute: toggle('keep timestamps, instead of counting them back from the newest one'),
  base: optional(baseUrl, 'that of most exchanges', 'base URL of the service in a HAR file'),
  output: { ...text('file', 'file to write; an existing one is replaced', 'stdout'), short: '-o' },
  until: optional(count, 'all', 'stop after this many inputs, with the dashboard open'),
  from: text('file', 'OpenAPI document (3.0 or 3.1, JSON or YAML) with the endpoint'),
  exportTo: {
    ...optional(choiceOption('form', ['vitest']), 'none', 'print a test instead'),
    flag: 'to',
    variable: 'replay-to',
  },
  runScripts: toggle('run the scripts in the recording, with the rights of your user: read them first'),
  exactly: optional(number, 'at least 1', 'how many requests must have come'),
  count: option(count, 1, { description: 'how many requests to wait for' }),
  secrets: toggle('show the secrets that sign webhooks instead of a mask'),
  secret: text('text', 'secret that signs the webhooks'),
  event: texts('type', 'only webhooks of this type; may be repeated'),
  batch: text('id', 'batch that the webhook is about', 'newest'),
  patch: {
    ...text('json', 'merge patch for the object in the webhook, as JSON'),
    flag: 'data',
    variable: 'webhook-data',
  },
  forwardTo: text('url', 'receiver that the webhooks are sent to'),
  remaining: option(number, 0, { description: 'number of requests that the window still admits' }),
  window: option(duration, 60 * SECOND, { shown: '60s', description: 'length of the window' }),
  teamspace: text('id', 'teamspace whose window is used up', 'all'),
  failUnder: optional(percentage, 'none', 'exit with 1 if less than this percentage of the points was met'),
  coverage: text(
    'file',
    'file of the points of the contract that clients have met; the points of earlier runs in it are kept',
  ),
  recordFailures: text(
    'directory',
    'if the command fails, directory for a recording of each sandbox that had requests; it is created',
  ),
  adapter: toggle('the command is an adapter: it gets commands as JSON on stdin (level B)'),
  clients: option(count, 1, {
    description:
      'run this many copies of the command in one sandbox, under one limit, and report their attempts',
  }),
  run: text('glob', 'only cases with this name; * is any run of characters', 'all'),
  budget: option(duration, 5 * 60 * SECOND, {
    shown: '5m',
    description: 'real time after which no further run begins',
  }),
  findings: text('directory', 'directory for a fault rule, a test and a recording of each finding'),
  skipFrom: text('file', 'file with the cases that are skipped: on each line a pattern and the reason'),
  junit: text('file', 'file for the results as JUnit XML; an existing one is replaced'),
  failOn: optional(severity, 'none', `exit with 1 if there is a finding ${OF_SEVERITY}`),
  conduct: optional(severity, 'none', `exit with 1 if a client has a finding ${OF_SEVERITY}`),
  retries: optional(number, 'not declared', 'how often the clients repeat a failed call'),
  except: texts('code', 'verdict that does not count; may be repeated'),
  vitest: toggle('a test for Vitest; without this flag and --playwright, package.json decides'),
  playwright: toggle('a test for Playwright'),
  endpointExamples: {
    ...toggle('examples of endpoints of your own: chat with a streamed answer, messages, search, files'),
    flag: 'endpoints',
    variable: 'init-endpoints',
  },
  dryRun: toggle('list the files, and write none'),
  yes: toggle('write without a question'),
  readOnly: toggle('offer only the tools that change nothing'),
  fromSnapshot: optional(sandboxName, 'none', 'snapshot to start from, of the sandbox that --sandbox names'),
}

export type OptionName = keyof typeof optionTable

/** The values of some options. */
export type OptionValues<N extends OptionName = OptionName> = {
  readonly [K in N]: (typeof optionTable)[K]['default']
}

export const OPTION_NAMES = Object.keys(optionTable) as readonly OptionName[]

/** The options of `start`, in the order of its help. */
export const START_OPTIONS = [
  ...(Object.keys(startOptions) as (keyof typeof startOptions)[]),
  ...(['logLevel', 'logFormat', 'logRequests', 'quiet', 'noColor', 'json'] as const),
]

/** The options of `certify`, in the order of its help. */
export const CERTIFY_OPTIONS = [
  'adapter',
  'clients',
  'retries',
  'run',
  'skipFrom',
  'junit',
  'timeout',
  'json',
] as const

/** The options of `hunt` for the emulator of each run. */
export const HUNTED_OPTIONS = [
  ...(['fixtures', 'settings', 'seed', 'clock', 'rate', 'skipOnPoll', 'auth', 'limits', 'strict'] as const),
  ...(['scenarios', 'scenario', 'endpoints'] as const),
]

/** The texts that the command line gives for each option, in order. */
export type Flags = ReadonlyMap<OptionName, readonly string[]>

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process. */
export function environment(): Environment {
  return process.env
}

export function optionOf(name: OptionName): Option<unknown> {
  return optionTable[name]
}

/** `skipOnPoll`: `--skip-on-poll`. */
export function flagOf(name: OptionName): string {
  const flag = optionOf(name).flag ?? name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return `--${flag}`
}

/** `skipOnPoll`: `WORKSPACE_EMULATOR_SKIP_ON_POLL`. */
export function variableOf(name: OptionName): string {
  const flag = optionOf(name).variable ?? flagOf(name).slice(2)
  return PREFIX + flag.replaceAll('-', '_').toUpperCase()
}

/** `-p, --port <number>`. */
export function usageOf(name: OptionName): string {
  const { short, placeholder } = optionOf(name)
  const flags = short === undefined ? flagOf(name) : `${short}, ${flagOf(name)}`
  return placeholder === undefined ? flags : `${flags} <${placeholder}>`
}

/** The default as the help shows it: `4010`, `off`, `none`. */
export function shownDefault(name: OptionName): string {
  const { shown, kind, default: value } = optionOf(name)
  return shown ?? (kind === 'switch' ? 'off' : String(value))
}

/** The reference of some options as a Markdown table, for docs/cli.md. */
export function referenceTable(names: readonly OptionName[]): string {
  const rows = names.map((name) => {
    const flags = usageOf(name).replaceAll('|', '\\|')
    return `| \`${flags}\` | \`${variableOf(name)}\` | ${shownDefault(name)} | ${optionOf(name).description} |`
  })
  return ['| flag | environment variable | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n')
}

/** Whether npm runs this process as one of its scripts. */
export function isNpmScript(env: Environment): boolean {
  return (env.npm_lifecycle_event ?? '') !== ''
}

/**
 * The values of options: a flag wins over a variable, a variable over the default. An empty variable counts as absent, as in
 * compose files. Throws {@link UsageError} with every problem, unknown variables with our prefix included.
 */
export function resolveOptions<N extends OptionName>(
  names: readonly N[],
  flags: Flags,
  env: Environment,
): OptionValues<N> {
  const problems = unknownVariables(env)
  const entries = names.map((name) => [name, resolved(name, flags, env, problems)] as const)
  if (problems.length > 0) throw new UsageError(problems)
  return Object.fromEntries(entries) as OptionValues<N>
}

/** The options that a flag or a variable sets, whatever their values. */
export function givenOptions(
  names: readonly OptionName[],
  flags: Flags,
  env: Environment,
): ReadonlySet<OptionName> {
  return new Set(names.filter((name) => flags.has(name) || (env[variableOf(name)] ?? '') !== ''))
}

function resolved(name: OptionName, flags: Flags, env: Environment, problems: string[]): unknown {
  const { kind, parse } = optionOf(name)
  const variable = env[variableOf(name)] ?? ''
  const fromVariable = kind === 'list' ? variable.split(',').map((each) => each.trim()) : [variable]
  const texts = flags.get(name) ?? (variable === '' ? undefined : fromVariable)
  if (texts === undefined) return fallback(name, env)
  const where = flags.has(name) ? flagOf(name) : variableOf(name)
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
  return kind === 'list' ? values : values.at(-1)
}

/** An argument that is a number from 0. Throws {@link UsageError}. */
export function numberArgument(name: string, value = ''): number {
  const number = decimal(value)
  if (number !== undefined) return number
  throw new UsageError([`<${name}>: "${value}" is not a number. Give one from 0, such as 10.`])
}

// In the container or the shell of the emulator, the address comes from the variables of its start.
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
