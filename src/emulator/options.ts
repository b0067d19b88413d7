import { z } from 'zod'
import type { Send } from '../adapters/webhooks/send.ts'
import { refuseInvalid } from '../core/errors.ts'
import { anyObject } from '../core/fields.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { RecordedEndpoints } from '../core/record/own-result.ts'
import { MAX_OPEN } from '../core/sandboxes/sandboxes.ts'
import type { ScenarioSource } from '../core/scenarios/source.ts'
import { strictObject } from '../core/strict-input.ts'
import { CLOCK_RANGE, clockInstant, FASTEST, type HostTime } from '../core/time/clock.ts'
import { formatInstant, parseInstant } from '../core/time/instant.ts'
import type { Later } from '../core/time/realtime.ts'
import { parsed, UNCOMPILED, zodIssues } from '../core/zod-issues.ts'
import type { Endpoint } from '../endpoints/define.ts'
import { latencyOf } from '../server/http/faults/latency.ts'
import { isLoopback, isOrigin } from '../server/origins.ts'
import {
  choiceOption,
  decimal,
  documentOption,
  kind,
  listOption,
  type Option,
  option,
  optional,
  textOption,
  toggle,
  type ValueSchema,
  yesOrNo,
} from './option.ts'

/** An instant, in the form in which the emulator writes instants. */
export const instant = kind(
  'instant',
  clockInstant(),
  `is not an instant of the clock. Give an ISO 8601 date-time from ${CLOCK_RANGE}, such as 2026-03-01T12:00:00Z.`,
  (value) => {
    const parsed = parseInstant(value)
    return parsed && formatInstant(parsed.ms)
  },
)

const port = kind(
  'number',
  z.int().min(0).max(65_535),
  'is not a port. Give a whole number from 0 (any free port) to 65535.',
  decimal,
)

export const seed = kind(
  'number',
  z.int().min(0),
  `is not a seed. Give a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
  decimal,
)

const count = kind(
  'number',
  z.int().min(1),
  'is not a number of sandboxes. Give a whole number of at least 1.',
  decimal,
)

export const rate = kind(
  'number',
  z.number().min(0).max(FASTEST),
  `is not a rate. Give a number from 0 (the clock is frozen) to ${FASTEST}.`,
  decimal,
)

/** An address or name to listen on. The command line also accepts an IPv6 address in brackets. */
const bindAddress = kind(
  'address',
  z.string().regex(/^(?:[a-z0-9._-]+|[0-9a-f:.]+(?:%[a-z0-9]+)?)$/i, {
    error: 'must be a name or an address without scheme and port, such as 0.0.0.0',
  }),
  'is not an address to listen on. Give a name or an address without scheme and port, such as 0.0.0.0.',
  (value) => /^\[(.+)\]$/.exec(value)?.[1] ?? value,
)

const HOST_HEADER = /^(?:\[[0-9a-f:.]+\]|[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*|[a-z0-9._-]+(?::[0-9]{1,5})?)$/i
const hostHeader = kind(
  'host',
  z.string().regex(HOST_HEADER, {
    error: 'must be a name or an address, with a port if needed, such as api:8080',
  }),
  'is not a host. Give a name or an address, with a port if needed, such as api:8080.',
)

const webhookReceiver = kind(
  'host:port',
  z.string().refine(isReceiver, { error: 'must be only host and port, such as receiver:8080' }),
  'is not a receiver. Give only host and port, such as receiver:8080 or [fd00::5]:8080.',
)

function isReceiver(value: string): boolean {
  const [, digits = '0'] = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i.exec(value) ?? []
  return Number(digits) >= 1 && Number(digits) <= 65_535 && URL.canParse(`http://${value}`)
}

/** An origin as browsers write it. `*` allows all origins except the opaque one, which is allowed by `null`. */
const origin = kind(
  'origin',
  z.string().refine((value) => ['*', 'null'].includes(value) || isOrigin(value), {
    error:
      'must be only scheme, host and port, such as https://app.example:8443, without a pattern, or * alone',
  }),
  'is not an origin. Give only scheme, host and port, such as https://app.example:8443 or capacitor://localhost, without a pattern; * alone allows every origin.',
)

/** The origin of the pages of one server. `*` and `null` would include pages of any site. */
const oneOrigin = kind(
  'origin',
  z.string().refine(isOrigin, {
    error: 'must be only scheme, host and port, such as http://localhost:5173; * and null are not accepted',
  }),
  'is not an origin of one server. Give only scheme, host and port, such as http://localhost:5173; * and null are not accepted.',
)

const token = kind(
  'token',
  z.string().regex(/^[\x21-\x7e]+$/, { error: 'must be visible ASCII characters without spaces' }),
  'cannot be sent in a header. Give visible ASCII characters without spaces.',
)

const onOff = kind('on|off', yesOrNo, 'is unknown. Give on or off.', (value) =>
  ['on', 'off'].includes(value) ? value === 'on' : undefined,
)

const latency = kind(
  'duration',
  z.string().refine((text) => latencyOf(text) !== undefined, {
    error: 'must be a duration such as 300ms, 300-800ms or 2s, at most 60s',
  }),
  'is not a latency. Give a duration such as 300ms, 300-800ms or 2s, at most 60s.',
)

const fixtures: z.ZodType<string | JsonObject> = z.custom<string | JsonObject>(
  (value) => typeof value === 'string' || isObject(value),
  { error: 'must be the name of shipped fixtures, the path of a JSON file, or a fixtures document' },
)
/** A folder, or the definitions themselves. */
const endpoints: z.ZodType<string | readonly Endpoint[]> = z.custom<string | readonly Endpoint[]>(
  (value) => (typeof value === 'string' && value !== '') || Array.isArray(value),
  { error: 'must be a directory, or a list of definitions' },
)
const settings = anyObject() as z.ZodType as z.ZodType<JsonObject>

/** Every option that an emulator starts with: of the library, the command line and the README. */
export const startOptions = {
  port: option(port, 4010, { short: '-p', description: 'TCP port; 0 chooses a free port and prints it' }),
  host: option(bindAddress, '127.0.0.1', {
    description: 'address to listen on; any address except loopback requires a control token',
  }),
  data: option(textOption('dir'), '.workspace-emulator', {
    description: 'directory of the state: default.json and its log',
  }),
  ephemeral: toggle('keep everything in memory, write nothing to disk'),
  fixtures: documentOption(fixtures, 'demo' as string, {
    description: 'starting state: shipped fixtures (empty, demo, large) or a JSON file',
  }),
  scenarios: option(textOption('dir'), 'scenarios', {
    description:
      'directory of your scenarios, in addition to the built-in ones; changed files are loaded again',
  }),
  endpoints: {
    kind: 'value',
    placeholder: 'dir',
    schema: endpoints,
    parse: textOption('dir').parse,
    default: 'endpoints' as string,
    description:
      'directory of your own endpoints, for paths without a contract; changed files are loaded again',
  } as Option<string | readonly Endpoint[], string>,
  scenario: optional(textOption('name'), 'none', 'scenario that is active from the start'),
  settings: documentOption(settings, undefined as string | undefined, {
    shown: 'none',
    description: 'JSON file with names and choices that the specification leaves open',
  }),
  seed: option(seed, 1, { description: 'seed of all random decisions' }),
  clock: optional(instant, 'now', 'virtual instant at which a new sandbox starts, from 1970 to 9998'),
  rate: option(rate, 1, { description: 'virtual seconds per real second; 0 freezes the clock' }),
  skipOnPoll: toggle('a poll of an unfinished batch first advances the clock to its next work event'),
  sandboxes: option(choiceOption('mode', ['create', 'strict']), 'create', {
    description: 'create: the first request to a sandbox creates it; strict: unknown names are refused',
  }),
  auth: option(choiceOption('mode', ['registered', 'any']), 'registered', {
    description:
      'registered: only keys of the sandbox; any: an unknown key acts as the first key of its kind',
  }),
  limits: option(onOff, true, {
    shown: 'on',
    description:
      'whether rate limits refuse requests; off: the headers are sent, but X-RateLimit-Remaining never falls below 1 and there is no Retry-After',
  }),
  strict: toggle('invent nothing: endpoints without a contract respond with 501, assumed bodies are off'),
  tomorrow: toggle('change responses and webhooks of a new sandbox as a later version of the service may'),
  latency: optional(latency, 'none', 'delay of every response of a new sandbox, such as 300ms or 300-800ms'),
  revealFaults: toggle('responses name the fault rules that fired on them: header X-Emulator-Fault'),
  countCoverage: toggle('count which points of the contract clients meet, for `workspace-emulator coverage`'),
  maxOpenSandboxes: option(count, MAX_OPEN, {
    description: 'maximum number of sandboxes on the disk that are open at once',
  }),
  discardJournal: toggle(
    'start without a journal that is damaged, or continues another content of its state file',
  ),
  controlToken: optional(token, 'none', 'bearer token that the control interface requires'),
  allowHosts: listOption(hostHeader, {
    flag: 'allow-host',
    description: 'further host name under which clients address the emulator; may be repeated',
  }),
  allowWebhooks: listOption(webhookReceiver, {
    flag: 'allow-webhook',
    description:
      'receiver of webhooks on another machine; the emulator sends to no other machine; may be repeated',
  }),
  corsOrigins: listOption(origin, {
    flag: 'cors-origin',
    description: 'further origin whose web pages may use the API, or *; may be repeated',
  }),
  controlOrigins: listOption(oneOrigin, {
    flag: 'control-origin',
    description: 'further origin whose web pages may use the control interface; may be repeated',
  }),
}

type StartValues = {
  readonly [K in keyof typeof startOptions]?:
    | ((typeof startOptions)[K] extends { readonly schema: ValueSchema<infer T> } ? T : never)
    | undefined
}

/** Options of `startEmulator`. Each may be left out; the command line has a flag for each. */
export interface EmulatorOptions extends StartValues {
  /** Receives notices about the files of the state, about scenarios, and defects. Default: nothing is logged. */
  readonly logger?: Logger | undefined
  /** Default true. false: no port is opened; requests come through `emulator.fetch`, `emulator.app` or `emulator.router()`. */
  readonly listen?: boolean | undefined
}

/**
 * Refuses unknown options, invalid values, and a control interface that other machines could reach without a token.
 * @throws Refusal `validation_failed`, with the JSON Pointer of each
 */
export function checkStartOptions(options: EmulatorOptions): void {
  const schemas = Object.entries(startOptions).map(([name, { schema }]) => [name, schema as z.ZodType])
  const logger = z.custom<Logger>(
    (value) => ['info', 'warn', 'error'].every((level) => typeof Object(value)[level] === 'function'),
    { error: 'must have the functions info, warn and error' },
  )
  const listen = z.boolean()
  const all = strictObject({ ...(Object.fromEntries(schemas) as z.ZodRawShape), logger, listen }).partial()
  const { error } = parsed(all, options, UNCOMPILED)
  if (error !== undefined) refuseInvalid(zodIssues(error, ''))
  if (options.listen === false) {
    const detail = 'cannot be given with listen: false, which opens no port; leave one of them out'
    const given = (['port', 'host'] as const).filter((name) => options[name] !== undefined)
    refuseInvalid(given.map((name) => ({ pointer: `/${name}`, detail })))
  }
  const { host = startOptions.host.default, controlToken } = options
  if (isLoopback(host) || controlToken !== undefined) return
  const detail = `is required because other machines can reach the emulator at ${host}: without it, the control interface would be open to them`
  refuseInvalid([{ pointer: '/controlToken', detail }])
}

/** What a replay does in place of the emulator. */
export interface ReplayOptions {
  /** The `http://host:port` of the recorded emulator. */
  readonly origin: string
  /** Makes an attempt to deliver a webhook. */
  readonly send: Send
  /** Plans the waits of faults. */
  readonly later: Later
  /** Waits before the commands of a function of a scenario are applied. */
  readonly returned: (call: string) => Promise<void>
  /** Whether the fault rules act on a new connection. */
  readonly actsOnConnection: (connection: string) => boolean
  /** The recorded endpoints of the user; undefined if there are none, or if their files are run. */
  readonly endpoints: RecordedEndpoints | undefined
}

/** Options for tests of the emulator itself. */
export interface InternalOptions extends EmulatorOptions {
  /** The source of scenarios, in place of a folder. */
  readonly scenarioSource?: ScenarioSource
  readonly hostTime?: HostTime
  /** Starts with broken files of endpoints, and loads those that are created later. */
  readonly followEndpoints?: boolean
  /** Repeats a recording. */
  readonly replay?: ReplayOptions
  /** Ends the process. Absent when the emulator runs in a process of its user. */
  readonly onShutdown?: () => void
}

/** Receives log entries. */
export interface Logger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Logs nothing. */
export const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} }
