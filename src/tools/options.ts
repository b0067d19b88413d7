import { SECOND } from '../core/time/instant.ts'
import { choiceOption, listOption, option, optional, textOption, toggle } from '../emulator/option.ts'
import { described, freeText, kinds, PRINT_OPTIONS, SHARED, START_OPTIONS } from '../terminal/options.ts'

/** The options of `certify`. They stand apart from its code, which is loaded when it runs. */
export const CERTIFY_OPTIONS = {
  adapter: toggle('the command is an adapter: it gets commands as JSON on stdin (level B)'),
  clients: option(kinds.count, 1, {
    description: 'copies of the command that run in one sandbox, under one limit; reports their attempts',
  }),
  retries: SHARED.retries,
  receiver: freeText(
    'url',
    'test a receiver of webhooks at this address of this machine instead of a client',
  ),
  receiverSecret: {
    ...freeText('text', 'secret of the receiver', 'a new one, which the command gets'),
    flag: 'secret',
    variable: 'receiver-secret',
  },
  countUrl: {
    ...freeText('url', 'address at which the receiver answers {"count": number of its effects} (level B)'),
    flag: 'count',
    variable: 'receiver-count',
  },
  settings: described(
    START_OPTIONS.settings,
    'file with the settings webhooks.scheme and webhooks.signature of the receiver',
  ),
  run: SHARED.run,
  skipFrom: freeText('file', 'file with the cases that are skipped: on each line a pattern and the reason'),
  junit: SHARED.junit,
  timeout: described(SHARED.timeout, 'real time for each case; a client that takes longer is ended', '10s'),
  json: described(PRINT_OPTIONS.json, 'the whole report as one line of JSON on stdout instead of text'),
}

const { fixtures, settings, seed, clock, rate, skipOnPoll, auth, limits, strict } = START_OPTIONS
const { scenarios, scenario, endpoints } = START_OPTIONS

/** The options of `hunt` for the emulator of each run. */
export const HUNTED_OPTIONS = {
  fixtures,
  settings,
  seed: described(seed, 'seed of the data, and of the order of the sequences of two faults'),
  ...{ clock, rate, skipOnPoll, auth, limits, strict, scenarios, scenario, endpoints },
}

export const HUNT_OPTIONS = {
  budget: option(kinds.duration, 5 * 60 * SECOND, {
    shown: '5m',
    description: 'real time after which no further run begins',
  }),
  run: described(SHARED.run, 'only faults with this name; * is any run of characters'),
  timeout: described(
    SHARED.timeout,
    'real time for one run, after which the command hangs',
    'five times as long as without faults, at least 10s',
  ),
  findings: freeText('directory', 'directory for a fault rule, a test and a recording of each finding'),
  junit: described(SHARED.junit, 'JUnit XML that the command writes: its failures count, not the output'),
  ...HUNTED_OPTIONS,
  json: described(PRINT_OPTIONS.json, 'the findings as one line of JSON on stdout instead of text'),
  noColor: PRINT_OPTIONS.noColor,
}

export const REPLAY_OPTIONS = {
  until: optional(kinds.count, 'all', 'stop after this many inputs, with the dashboard open'),
  exportTo: {
    ...optional(choiceOption('form', ['vitest']), 'none', 'print a test instead'),
    flag: 'to',
    variable: 'replay-to',
  },
  runScripts: toggle('run the scripts in the recording, with the rights of your user: read them first'),
  endpoints,
  ...PRINT_OPTIONS,
}

const base = optional(kinds.baseUrl, 'that of most exchanges', 'base URL of the service in a HAR file')

export const IMPORT_OPTIONS = {
  base,
  out: option(textOption('file'), 'fixtures/imported.json', {
    description: 'fixtures to write; an existing file is replaced',
  }),
  settingsOut: freeText('file', 'settings file to write, with what the traffic shows about the service'),
  keepNames: toggle('keep names and texts as they were recorded; keys, tokens and signed URLs are removed'),
  absolute: toggle('keep timestamps, instead of counting them back from the newest one'),
  data: described(START_OPTIONS.data, 'directory of the secret from which the replaced texts follow'),
  ...PRINT_OPTIONS,
}

/** Who a difference can be the fault of: the emulator, the document that it follows, or the service. */
export const BLAMES = ['emulator', 'service', 'contract'] as const

const keyEnv = freeText('variable', 'environment variable with the key of the service')

export const DRIFT_OPTIONS = {
  base,
  against: optional(
    kinds.baseUrl,
    'none',
    'base URL of the running service, which the recorded reads are sent to',
  ),
  keyEnv,
  writes: toggle('send recorded writes to the service, too'),
  budget: {
    ...option(kinds.count, 200, { description: 'the most requests to the service' }),
    variable: 'drift-budget',
  },
  settings,
  writeSettings: freeText('file', 'settings file to which the values of the open questions are added'),
  failOn: {
    ...listOption(choiceOption('blame', BLAMES), {
      description: 'whose differences make the exit code 1: emulator, service or contract; may be repeated',
      shown: 'all',
    }),
    default: BLAMES as readonly (typeof BLAMES)[number][],
    variable: 'drift-fail-on',
  },
  junit: SHARED.junit,
  markdown: toggle('print the report as Markdown, for an issue'),
  ...PRINT_OPTIONS,
}

export const DRIFT_RECORD_OPTIONS = {
  against: optional(kinds.baseUrl, 'none', 'base URL of the service'),
  keyEnv,
  writes: { ...toggle('let requests pass that are neither GET nor HEAD'), variable: 'drift-record-writes' },
  out: {
    ...option(textOption('directory'), 'recordings', { description: 'directory of the HAR file of the run' }),
    variable: 'drift-out',
  },
  ...PRINT_OPTIONS,
}

export const MCP_OPTIONS = {
  url: SHARED.url,
  controlToken: START_OPTIONS.controlToken,
  sandbox: described(SHARED.sandbox, 'sandbox of tools that name none'),
  readOnly: toggle('offer only the tools that change nothing'),
  json: described(PRINT_OPTIONS.json, 'an error of the command as one line of JSON on stderr'),
  noColor: PRINT_OPTIONS.noColor,
}
