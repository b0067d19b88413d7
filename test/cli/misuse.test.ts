import { expect, test } from 'vitest'
import { allCommands } from '../../src/cli/command-line.ts'
import { command, temporaryFile, withError } from './in-process.ts'
import { running } from './running.ts'

test.for([
  ['--prot 1', "unknown option '--prot'\n(Did you mean --port?)", 'start'],
  ['requsts', "unknown command 'requsts'\n(Did you mean requests?)", ''],
  ['start --port', "option '-p, --port <number>' argument missing", 'start'],
  ['status x', "too many arguments for 'status'. Expected 0 arguments but got 1.", 'status'],
  ['faults lst', "unknown command 'lst'\n(Did you mean list?)", 'faults'],
  [
    'snapshot save',
    "missing required argument 'name': lower-case letters, digits and hyphens",
    'snapshot save',
  ],
] as const)('%s is misuse, and names the help', async ([line, problem, name]) => {
  const kind = name === '' || name === 'faults' ? 'commands' : 'arguments'
  const help = `Run "${`workspace-emulator ${name}`.trim()} --help" for its ${kind} and flags.`
  expect(await command(line.split(' '))).toEqual({ code: 2, out: '', err: `${problem}\n${help}` })
})

const INSTANT =
  'is not an instant of the clock. Give an ISO 8601 date-time from 1970-01-01T00:00:00.000Z to 9998-12-31T23:59:59.999Z, such as 2026-03-01T12:00:00Z.'

test.for([
  ['replay a.json --to jest', '--to: "jest" is unknown. Give vitest.'],
  ['call GET', '<path>: is missing. Give one, such as call GET /clock.'],
  [
    'requests --columns id,when',
    '--columns: "id,when" is not a list of columns. Give some of id,at,status,request,operation,error,method,path,key,idempotency_key,trace,duration_ms,decided,faults,changed,assumed.',
  ],
  [
    'clock advance tomorrow',
    '<duration>: "tomorrow" is not a duration. Give one such as 250ms, 90s, 10m, 24h, 29d or PT24H, or an instant with --to 2030-01-01T00:00:00Z.',
  ],
  ...['1e9', '100001'].map((rate) => [
    `clock rate ${rate}`,
    `<rate>: "${rate}" is not a rate. Give a number from 0 (the clock is frozen) to 100000.`,
  ]),
  ...['0', '1.5', '100001'].map((limit) => [
    `limits set data-views.list ${limit}`,
    `<limit>: "${limit}" is not accepted. Give a whole number from 1 to 100000.`,
  ]),
  [
    'limits fill data-views.list --remaining 100001',
    '--remaining: "100001" is not accepted. Give a whole number from 0 to 100000.',
  ],
  ['latency 2m', '"2m" is not a latency. Give one such as 300ms, 300-800ms or 2s, at most 60s, or off.'],
  [
    'start --latency slow',
    '--latency: "slow" is not a latency. Give a duration such as 300ms, 300-800ms or 2s, at most 60s.',
  ],
  ['completion csh', '<shell>: "csh" is unknown. Give bash, zsh or fish.'],
  ['schema fixtres', '<name>: there is no schema "fixtres". Did you mean "fixtures"?'],
  [
    'schema everything',
    '<name>: there is no schema "everything". Give one of fixtures, settings, fault-rule, scenario, state.',
  ],
  [
    'start --port abc --max-open-sandboxes 0 --clock 1900-01-01',
    `--port: "abc" is not a port. Give a whole number from 0 (any free port) to 65535.\n--clock: "1900-01-01" ${INSTANT}\n--max-open-sandboxes: "0" is not a number of sandboxes. Give a whole number of at least 1.`,
  ],
  [
    '--port 5 status',
    'too many arguments for \'start\'. Expected 0 arguments but got 1.\nRun "workspace-emulator start --help" for its arguments and flags.\nA command comes before its flags: workspace-emulator status [flags]',
  ],
])('%s is misuse, and says what to give', async ([line = '', err]) => {
  expect(await command(line.split(' '))).toEqual({ code: 2, out: '', err })
})

test('an unknown environment variable is an error in every command', async () => {
  const error =
    'There is no environment variable WORKSPACE_EMULATOR_SEEDS. Did you mean "WORKSPACE_EMULATOR_SEED"?'
  expect(await command(['status'], { WORKSPACE_EMULATOR_SEEDS: '1' })).toEqual(withError(2, error))
})

test.for(['--help', '-h', 'help'])('%s prints the help of all commands and is no error', async (word) => {
  const { code, out, err } = await command([word])
  expect([code, out.split('\n')[0], err]).toEqual([0, 'Usage: workspace-emulator [command] [flags]', ''])
})

test.for([
  ['sandbox create', '--seed <number> seed of all random decisions (default: as the emulator was started)'],
  ['clock advance', '--status <status> status of the batch to advance to, instead of its end (default: no'],
  ['start', '--seed <number> seed of all random decisions (default: 1)'],
  ['faults', 'Usage: workspace-emulator faults [options] [command]'],
] as const)('the help of %s says: %s', async ([name, said]) => {
  const { out } = await command([...name.split(' '), '--help'])
  expect(out.replaceAll(/\s+/g, ' ')).toContain(said)
})

test('each command prints its own help, also after the word help', async () => {
  const names = (await allCommands()).map(({ name }) => name)
  expect(names).toContain('clock advance')
  for (const name of names) {
    const own = await command([...name.split(' '), '--help'])
    expect(own.out).toMatch(new RegExp(`^Usage: workspace-emulator ${name} `))
    expect(await command(['help', ...name.split(' ')])).toEqual(own)
  }
})

test('the help ends with the variable of a flag that the command has, and fits a narrow terminal', async () => {
  const ends = (await allCommands()).map(async ({ name }) => {
    const { out } = await command([...name.split(' '), '--help'], { NO_COLOR: '1' }, 60)
    const [flags = '', end = ''] = out.split('Every flag has an environment variable: ')
    const said = /^--[a-z-]+ has WORKSPACE_EMULATOR_[A-Z_]+\. The flag overrides it\.$/
    expect(end.replaceAll(/\s+/g, ' ')).toMatch(said)
    expect(flags).toContain(`${end.split(' ')[0]} `)
    for (const line of out.slice(flags.length).split('\n')) expect(line.length).toBeLessThanOrEqual(60)
    return end.split(' ')[0]
  })
  expect(new Set(await Promise.all(ends))).toContain('--url')
  const { out } = await command(['--help'], { NO_COLOR: '1' }, 60)
  expect(out).toMatch(/\nWithout a command, start runs\. Its flags:\n {2}workspace-emulator start --help$/)
})

test('a group without a second word runs its first command', async () => {
  const { run } = await running()
  expect(await run('settings')).toEqual(await run('settings', 'get'))
})

test.for(['--version', '-v'])('%s prints the version of the package', async (flag) => {
  const out = expect.stringMatching(/^\d+\.\d+\.\d+$/)
  expect(await command([flag])).toEqual({ code: 0, out, err: '' })
})

test.for([
  ['faults clear --json --url http://127.0.0.1:2', 1, 'Nothing listens at http://127.0.0.1:2.'],
  ['faults --json --frist', 2, "unknown option '--frist'"],
] as const)('with --json an error is a line of JSON, too: %s', async ([line, code, message]) => {
  const outcome = await command(line.split(' '))
  expect(outcome).toEqual(withError(code, /^.*$/))
  expect(JSON.parse(outcome.err).error).toMatchObject({ exit_code: code })
  expect(JSON.parse(outcome.err).error.message).toContain(message)
})

test('start and exec report the same error when the emulator cannot start', async () => {
  const { emulator } = await running()
  const message = `Port ${emulator.port} on 127.0.0.1 is in use. Choose another with --port, or a free one with --port 0.`
  const err = JSON.stringify({ error: { message, exit_code: 1 } })
  const flags = ['--json', '--ephemeral', '--port', String(emulator.port)]
  expect(await command(['start', ...flags])).toEqual({ code: 1, out: '', err })
  expect(await command(['exec', ...flags, '--', 'true'])).toEqual({ code: 1, out: '', err })
})

test.for([
  [
    'fixtures',
    '{\n  "collections": {\n    "pagees": []\n  }\n}\n',
    'The fixtures cannot be used:\n  FILE:3: /collections/pagees: There is no such collection. Did you mean "pages"?',
  ],
  ['fixtures', '{"extends": "./demmo.json"}', 'demmo.json: cannot be read, which FILE extends; '],
  [
    'settings',
    '{\n  "status.conflict": 409,\n  "status.not_fond": 404\n}\n',
    'The settings cannot be used:\n  FILE:3: /status.not_fond: There is no setting "status.not_fond". Did you mean "status.not_found"?',
  ],
  ['settings', '[]', 'FILE:1: must be a JSON object'],
] as const)('start --%s reports the file, line and field of what is wrong: %s', async ([kind, text, err]) => {
  const file = temporaryFile('file.json', text)
  const outcome = await command(['start', '--port', '0', '--ephemeral', `--${kind}`, file])
  expect(outcome).toEqual(withError(1, err.replace('FILE', file)))
})
