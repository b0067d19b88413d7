import { expect, test } from 'vitest'
import { allCommands } from '../cli/command-line.ts'
import {
  type Environment,
  flagOf,
  OPTION_NAMES,
  type OptionName,
  optionOf,
  referenceTable,
  resolveOptions,
  START_OPTIONS,
  UsageError,
  variableOf,
} from './options.ts'

const NO_FLAGS = new Map<OptionName, readonly string[]>()

function problemsOf(work: () => unknown): readonly string[] {
  try {
    work()
  } catch (error) {
    if (error instanceof UsageError) return error.problems
  }
  return []
}

function withVariables(env: Environment) {
  return resolveOptions(START_OPTIONS, NO_FLAGS, env)
}

test('without flags and variables every option has its default', () => {
  expect(withVariables({})).toEqual({
    port: 4010,
    host: '127.0.0.1',
    data: '.workspace-emulator',
    ephemeral: false,
    fixtures: 'demo',
    scenarios: 'scenarios',
    endpoints: 'endpoints',
    scenario: undefined,
    settings: undefined,
    seed: 1,
    clock: undefined,
    rate: 1,
    skipOnPoll: false,
    sandboxes: 'create',
    auth: 'registered',
    limits: true,
    strict: false,
    latency: undefined,
    revealFaults: false,
    countCoverage: false,
    maxOpenSandboxes: 200,
    discardJournal: false,
    controlToken: undefined,
    allowHosts: [],
    allowWebhooks: [],
    corsOrigins: [],
    controlOrigins: [],
    logLevel: 'info',
    logFormat: 'pretty',
    logRequests: 'off',
    quiet: false,
    noColor: false,
    json: false,
  })
})

test('a flag wins over a variable, a variable over the default', () => {
  const flags = new Map<OptionName, readonly string[]>([['port', ['1', '2']]])
  const env = { WORKSPACE_EMULATOR_PORT: '3', WORKSPACE_EMULATOR_SEED: '4' }
  expect(resolveOptions(['port', 'seed', 'rate'], flags, env)).toEqual({ port: 2, seed: 4, rate: 1 })
})

test('the flag and the variable of an option derive from its name', () => {
  expect([flagOf('skipOnPoll'), variableOf('skipOnPoll')]).toEqual([
    '--skip-on-poll',
    'WORKSPACE_EMULATOR_SKIP_ON_POLL',
  ])
  expect(variableOf('noColor')).toBe('WORKSPACE_EMULATOR_NO_COLOR')
})

test('variables of switches accept words such as TRUE and 0, variables of lists accept commas', () => {
  const env = {
    WORKSPACE_EMULATOR_EPHEMERAL: 'TRUE',
    WORKSPACE_EMULATOR_STRICT: '0',
    WORKSPACE_EMULATOR_ALLOW_HOST: 'api, api:8080',
    WORKSPACE_EMULATOR_LIMITS: 'off',
  }
  expect(withVariables(env)).toMatchObject({
    ephemeral: true,
    strict: false,
    allowHosts: ['api', 'api:8080'],
    limits: false,
  })
})

test('an empty variable counts as absent', () => {
  expect(withVariables({ WORKSPACE_EMULATOR_PORT: '' }).port).toBe(4010)
})

test('NO_COLOR turns colours off, unless it is empty', () => {
  expect(withVariables({ NO_COLOR: '1' }).noColor).toBe(true)
  expect(withVariables({ NO_COLOR: '' }).noColor).toBe(false)
})

test('all problems are reported at once, each with its flag or variable', () => {
  const flags = new Map<OptionName, readonly string[]>([['port', ['70000']]])
  const env = {
    WORKSPACE_EMULATOR_RATE: '-1',
    WORKSPACE_EMULATOR_PROT: '1',
    WORKSPACE_EMULATOR_STRICT: 'maybe',
    OTHER: 'x',
  }
  expect(problemsOf(() => resolveOptions(START_OPTIONS, flags, env))).toEqual([
    'There is no environment variable WORKSPACE_EMULATOR_PROT. Did you mean "WORKSPACE_EMULATOR_PORT"?',
    '--port: "70000" is not a port. Give a whole number from 0 (any free port) to 65535.',
    'WORKSPACE_EMULATOR_RATE: "-1" is not a rate. Give a number from 0 (the clock is frozen) to 100000.',
    'WORKSPACE_EMULATOR_STRICT: "maybe" is neither on nor off. Give 1 or 0.',
  ])
})

test('an empty value on the command line is refused', () => {
  const flags = new Map<OptionName, readonly string[]>([['data', ['']]])
  expect(problemsOf(() => resolveOptions(['data'], flags, {}))).toEqual([
    '--data: "" is empty. Give a value, or leave it out.',
  ])
})

test.for([
  [{}, 'http://127.0.0.1:4010'],
  [{ WORKSPACE_EMULATOR_PORT: '5000' }, 'http://127.0.0.1:5000'],
  [{ WORKSPACE_EMULATOR_HOST: '0.0.0.0' }, 'http://127.0.0.1:4010'],
  [{ WORKSPACE_EMULATOR_HOST: '::1', WORKSPACE_EMULATOR_PORT: '0' }, 'http://[::1]:4010'],
  [{ WORKSPACE_EMULATOR_HOST: '10.0.0.7' }, 'http://10.0.0.7:4010'],
  [{ WORKSPACE_EMULATOR_URL: 'http://e:1/', WORKSPACE_EMULATOR_PORT: '2' }, 'http://e:1'],
] as const)('clients find the emulator by the variables of its start: %o', ([env, url]) => {
  expect(resolveOptions(['url'], NO_FLAGS, env).url).toBe(url)
})

test('every option belongs to a command', async () => {
  const used = new Set((await allCommands()).flatMap(({ options }) => options))
  expect(OPTION_NAMES.filter((name) => !used.has(name))).toEqual([])
})

test('the reference has a line for every option, with flag, variable, default and meaning', () => {
  const lines = referenceTable(OPTION_NAMES).trimEnd().split('\n')
  expect(lines).toHaveLength(OPTION_NAMES.length + 2)
  expect(lines[2]).toBe(
    '| `-p, --port <number>` | `WORKSPACE_EMULATOR_PORT` | 4010 | TCP port; 0 chooses a free port and prints it |',
  )
  expect(lines.find((line) => line.includes('--limits'))).toContain('<on\\|off>')
  for (const name of OPTION_NAMES) expect(optionOf(name).description).not.toMatch(/\|/)
})
