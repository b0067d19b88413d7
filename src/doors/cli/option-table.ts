import { SECOND } from '../../kernel/time/duration.ts'
import type { Parse } from './values.ts'
import * as values from './values.ts'

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

/** Every option of every command. */
export const optionTable = {
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
  scenarios: {
    ...one('dir', values.text, 'scenarios'),
    shown: 'scenarios, or the shipped ones where there is no such directory',
    says: 'directory of the scenarios; what changes in it is loaded again',
  },
  scenario: { ...maybe('name', values.text, 'none'), says: 'scenario that is active from the start on' },
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
  revealFaults: {
    ...flag(),
    says: 'answers name the fault rules that fired on them: header X-Emulator-Fault',
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
  allowWebhook: {
    ...many('host:port', values.target),
    says: 'receiver of webhooks beyond this machine, to which alone the emulator sends; may be repeated',
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
  sandbox: {
    ...maybe('name', values.sandboxName, 'default'),
    says: 'sandbox that the command is about; it is made when it is first named',
  },
  timeout: { ...one('duration', values.duration, 30 * SECOND), shown: '30s', says: 'how long to wait' },
  to: { ...maybe('instant', values.instant, 'none'), says: 'virtual instant to advance to' },
  steps: { ...maybe('number', values.count, 'none'), says: 'number of events to advance over' },
  untilBatch: { ...maybe('id', values.text, 'none'), says: 'batch to advance for, until it is terminal' },
  items: {
    ...maybe('number', values.count, 'none'),
    says: 'finished items of the batch to advance to, instead of its end',
  },
  status: {
    ...maybe('status', values.text, 'none'),
    says: 'status to look for',
  },
  operation: { ...maybe('name', values.text, 'none'), says: 'only requests of an operation: pages.create' },
  method: { ...maybe('method', values.text, 'none'), says: 'only requests with this method' },
  path: {
    ...maybe('glob', values.text, 'none'),
    says: 'only requests to this path; * is any run of characters',
  },
  idempotencyKey: {
    ...maybe('glob', values.text, 'none'),
    says: 'only requests with this Idempotency-Key; * is any run of characters',
  },
  since: {
    ...maybe('instant|id', values.text, 'none'),
    says: 'only requests from this virtual instant on, or after the request with this id',
  },
  limit: { ...maybe('number', values.count, '100'), says: 'how many requests to list, the newest ones' },
  id: { ...maybe('id', values.text, 'the name of the preset'), says: 'name of the rule' },
  nth: { ...maybe('number', values.count, 'none'), says: 'fire on exactly this match' },
  first: { ...maybe('number', values.count, 'none'), says: 'fire on so many matches from the first on' },
  after: { ...maybe('number', values.count, 'none'), says: 'fire on all matches behind so many' },
  every: { ...maybe('number', values.count, 'none'), says: 'fire on each n-th match' },
  probability: {
    ...maybe('share', values.share, 'none'),
    says: 'fire on this share of the matches, drawn by the seed: 0 to 1',
  },
  by: {
    ...many('what', values.text),
    says: 'what matches are counted by, such as operation or idempotency_key; may be repeated',
  },
  times: { ...maybe('number', values.count, 'none'), says: 'how often the rule may fire in all' },
  ttl: { ...maybe('duration', values.text, 'none'), says: 'virtual time for which the rule is armed: 10m' },
  reset: { ...flag(), says: 'put the starting world back first' },
  persist: { ...flag(), says: 'keep the sandbox on disk, so that it outlives the process' },
  fromSnapshot: {
    ...maybe('name', values.sandboxName, 'none'),
    says: 'snapshot to start from, of the sandbox that --sandbox names',
  },
} as const satisfies Record<string, Option<unknown>>

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
