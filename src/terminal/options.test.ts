import { expect, test } from 'vitest'
import { allCommands } from '../cli/command-line.ts'
import {
  type Environment,
  resolveOptions,
  SHARED,
  START_OPTIONS,
  UsageError,
  unknownVariables,
  variableOf,
} from './options.ts'

const { port, seed, rate } = START_OPTIONS

const NO_FLAGS = new Map()

function withVariables(env: Environment) {
  return resolveOptions(START_OPTIONS, NO_FLAGS, env)
}

test('without flags and variables an option has its default', () => {
  const defaults = { port: 4010, ephemeral: false, limits: true, corsOrigins: [], clock: undefined }
  expect(withVariables({})).toMatchObject(defaults)
})

test('a flag wins over a variable, a variable over the default', () => {
  const flags = new Map([['port', ['1', '2']]])
  const env = { WORKSPACE_EMULATOR_PORT: '3', WORKSPACE_EMULATOR_SEED: '4' }
  expect(resolveOptions({ port, seed, rate }, flags, env)).toEqual({ port: 2, seed: 4, rate: 1 })
})

test.for<[variable: string, text: string, option: keyof typeof START_OPTIONS, value: unknown]>([
  ['WORKSPACE_EMULATOR_EPHEMERAL', 'TRUE', 'ephemeral', true],
  ['WORKSPACE_EMULATOR_STRICT', '0', 'strict', false],
  ['WORKSPACE_EMULATOR_LIMITS', 'off', 'limits', false],
  ['WORKSPACE_EMULATOR_ALLOW_HOST', 'api, api:8080', 'allowHosts', ['api', 'api:8080']],
  // An empty variable counts as absent.
  ['WORKSPACE_EMULATOR_PORT', '', 'port', 4010],
  ['NO_COLOR', '1', 'noColor', true],
  ['NO_COLOR', '', 'noColor', false],
])('the variable %s with the value "%s" gives %s', ([variable, text, option, value]) => {
  expect(withVariables({ [variable]: text })).toMatchObject({ [option]: value })
})

test('all problems are reported at once, each with its flag or variable', async () => {
  const flags = new Map([
    ['port', ['70000']],
    ['data', ['']],
  ])
  const env = {
    WORKSPACE_EMULATOR_RATE: '-1',
    WORKSPACE_EMULATOR_PROT: '1',
    WORKSPACE_EMULATOR_STRICT: 'maybe',
    OTHER: 'x',
  }
  const unknown = await unknownVariables(env, START_OPTIONS, async () => [START_OPTIONS])
  const problems = [
    'There is no environment variable WORKSPACE_EMULATOR_PROT. Did you mean "WORKSPACE_EMULATOR_PORT"?',
    '--port: "70000" is not a port. Give a whole number from 0 (any free port) to 65535.',
    '--data: "" is empty. Give a value, or leave it out.',
    'WORKSPACE_EMULATOR_RATE: "-1" is not a rate. Give a number from 0 (the clock is frozen) to 100000.',
    'WORKSPACE_EMULATOR_STRICT: "maybe" is neither on nor off. Give 1 or 0.',
  ]
  expect(() => resolveOptions(START_OPTIONS, flags, env, unknown)).toThrow(new UsageError(problems))
})

test.for([
  [{}, 'http://127.0.0.1:4010'],
  [{ WORKSPACE_EMULATOR_PORT: '5000' }, 'http://127.0.0.1:5000'],
  [{ WORKSPACE_EMULATOR_HOST: '0.0.0.0' }, 'http://127.0.0.1:4010'],
  [{ WORKSPACE_EMULATOR_HOST: '::1', WORKSPACE_EMULATOR_PORT: '0' }, 'http://[::1]:4010'],
  [{ WORKSPACE_EMULATOR_HOST: '10.0.0.7' }, 'http://10.0.0.7:4010'],
  [{ WORKSPACE_EMULATOR_URL: 'http://e:1/', WORKSPACE_EMULATOR_PORT: '2' }, 'http://e:1'],
] as const)('clients find the emulator by the variables of its start: %o', ([env, url]) => {
  expect(resolveOptions({ url: SHARED.url }, NO_FLAGS, env).url).toBe(url)
})

test('options of two commands with one environment variable are the same option', async () => {
  const kinds = new Map<string, string>()
  for (const { name, options } of await allCommands()) {
    for (const [key, option] of Object.entries(options)) {
      const [variable, shape] = [variableOf(key, option), `${key} ${option.kind} ${option.placeholder}`]
      expect(kinds.get(variable) ?? shape, `${variable} of ${name}`).toBe(shape)
      kinds.set(variable, shape)
    }
  }
})

test('a variable of another command is known, an unknown one is named with the nearest', async () => {
  const all = async () => (await allCommands()).map(({ options }) => options)
  const env = { WORKSPACE_EMULATOR_FAIL_UNDER: '1', WORKSPACE_EMULATOR_FAIL_UNDR: '1' }
  expect(await unknownVariables(env, START_OPTIONS, all)).toEqual([
    'There is no environment variable WORKSPACE_EMULATOR_FAIL_UNDR. Did you mean "WORKSPACE_EMULATOR_FAIL_UNDER"?',
  ])
})

test('a description fits a cell of a table', async () => {
  for (const { options } of await allCommands())
    for (const { description } of Object.values(options)) expect(description).not.toMatch(/\|/)
})
