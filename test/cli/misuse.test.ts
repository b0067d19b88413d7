import { expect, test } from 'vitest'
import { allCommands } from '../../src/cli/command-line.ts'
import { command, temporaryFile } from './in-process.ts'
import { running } from './running.ts'

test.for([
  [
    ['--prot', '1'],
    'unknown option \'--prot\'\n(Did you mean --port?)\nRun "workspace-emulator start --help" for its arguments and flags.',
  ],
  [
    ['requsts'],
    'unknown command \'requsts\'\n(Did you mean requests?)\nRun "workspace-emulator --help" for its commands and flags.',
  ],
  [
    ['--port', '5', 'status'],
    'too many arguments for \'start\'. Expected 0 arguments but got 1.\nRun "workspace-emulator start --help" for its arguments and flags.\nA command comes before its flags: workspace-emulator status [flags]',
  ],
  [
    ['start', '--port'],
    'option \'-p, --port <number>\' argument missing\nRun "workspace-emulator start --help" for its arguments and flags.',
  ],
  [
    ['status', 'x'],
    'too many arguments for \'status\'. Expected 0 arguments but got 1.\nRun "workspace-emulator status --help" for its arguments and flags.',
  ],
  [
    ['faults', 'lst'],
    'unknown command \'lst\'\n(Did you mean list?)\nRun "workspace-emulator faults --help" for its commands and flags.',
  ],
  [
    ['snapshot', 'save'],
    'missing required argument \'name\': lower-case letters, digits and hyphens\nRun "workspace-emulator snapshot save --help" for its arguments and flags.',
  ],
  [['replay', 'a.json', '--to', 'jest'], '--to: "jest" is unknown. Give vitest.'],
  [['call', 'GET'], '<path>: is missing. Give one, such as call GET /clock.'],
  [
    ['requests', '--columns', 'id,when'],
    '--columns: "id,when" is not a list of columns. Give some of id,at,status,request,operation,error,method,path,key,idempotency_key,trace,duration_ms,decided,faults,changed,assumed.',
  ],
  [
    ['clock', 'advance', 'tomorrow'],
    '<duration>: "tomorrow" is not a duration. Give one such as 250ms, 90s, 10m, 24h, 29d or PT24H, or an instant with --to 2030-01-01T00:00:00Z.',
  ],
  ...['-1', '1e9', '100001', 'fast'].map(
    (rate) =>
      [
        ['clock', 'rate', rate],
        `<rate>: "${rate}" is not a rate. Give a number from 0 (the clock is frozen) to 100000.`,
      ] as const,
  ),
  ...['-5', '0', '1.5', '100001', 'many'].map(
    (limit) =>
      [
        ['limits', 'set', 'data-views.list', limit],
        `<limit>: "${limit}" is not accepted. Give a whole number from 1 to 100000.`,
      ] as const,
  ),
  [
    ['limits', 'fill', 'data-views.list', '--remaining', '100001'],
    '--remaining: "100001" is not accepted. Give a whole number from 0 to 100000.',
  ],
  [
    ['start', '--port', 'abc', '--max-open-sandboxes', '0', '--clock', 'noon'],
    [
      '--port: "abc" is not a port. Give a whole number from 0 (any free port) to 65535.',
      '--clock: "noon" is not an instant of the clock. Give an ISO 8601 date-time from 1970-01-01T00:00:00.000Z to 9998-12-31T23:59:59.999Z, such as 2026-03-01T12:00:00Z.',
      '--max-open-sandboxes: "0" is not a number of sandboxes. Give a whole number of at least 1.',
    ].join('\n'),
  ],
  [
    ['start', '--clock', '1900-01-01'],
    '--clock: "1900-01-01" is not an instant of the clock. Give an ISO 8601 date-time from 1970-01-01T00:00:00.000Z to 9998-12-31T23:59:59.999Z, such as 2026-03-01T12:00:00Z.',
  ],
] as const)('%j is misuse', async ([argv, err]) => {
  expect(await command(argv)).toEqual({ code: 2, out: '', err })
})

test('an unknown environment variable is an error in every command', async () => {
  const { code, err } = await command(['status'], { WORKSPACE_EMULATOR_SEEDS: '1' })
  expect([code, err]).toEqual([
    2,
    'There is no environment variable WORKSPACE_EMULATOR_SEEDS. Did you mean "WORKSPACE_EMULATOR_SEED"?',
  ])
})

test.for([
  [['--help'], 'Usage: workspace-emulator [command] [flags]'],
  [['-h'], 'Usage: workspace-emulator [command] [flags]'],
  [['start', '--help'], 'Usage: workspace-emulator start [options]'],
  [['clock', 'advance', '-h'], 'Usage: workspace-emulator clock advance [options] [duration]'],
  [['help'], 'Usage: workspace-emulator [command] [flags]'],
  [['help', 'doctor'], 'Usage: workspace-emulator doctor [options]'],
  [['help', 'clock', 'advance'], 'Usage: workspace-emulator clock advance [options] [duration]'],
] as const)('%j prints help and is no error', async ([argv, usage]) => {
  const { code, out, err } = await command(argv)
  expect([code, out.split('\n')[0], err]).toEqual([0, usage, ''])
})

test.for([
  [
    ['sandbox', 'create'],
    '--seed <number> seed of all random decisions (default: as the emulator was started)',
  ],
  [
    ['clock', 'advance'],
    '--status <status> status of the batch to advance to, instead of its end (default: none)',
  ],
  [['requests'], '--status <status> only requests with this status, such as 429'],
  [['start'], '--seed <number> seed of all random decisions (default: 1)'],
] as const)('the help of %j says of an option what it means there', async ([argv, said]) => {
  const { out } = await command([...argv, '--help'])
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
    expect(end.replaceAll(/\s+/g, ' ')).toMatch(
      /^--[a-z-]+ has WORKSPACE_EMULATOR_[A-Z_]+\. The flag overrides it\.$/,
    )
    expect(flags).toContain(`${end.split(' ')[0]} `)
    for (const line of out.slice(flags.length).split('\n')) expect(line.length).toBeLessThanOrEqual(60)
    return end.split(' ')[0]
  })
  expect(new Set(await Promise.all(ends))).toContain('--url')
  const { out } = await command(['--help'], { NO_COLOR: '1' }, 60)
  expect(out.split('\n').slice(-2)).toEqual([
    'Without a command, start runs. Its flags:',
    '  workspace-emulator start --help',
  ])
})

test.for([
  ['faults', 'faults list'],
  ['settings', 'settings get'],
] as const)('%s without a second word runs %s', async ([group, first]) => {
  const { run } = await running()
  expect(await run(group)).toEqual(await run(...first.split(' ')))
  expect((await command([group, '--help'])).out).toContain(
    `Usage: workspace-emulator ${group} [options] [command]`,
  )
})

test('the help of start shows each flag with its default', async () => {
  const { out } = await command(['start', '--help'])
  expect(out).toMatch(/-p, --port <number>.*\(default:\s+4010\)/s)
  expect(out).toMatch(/--skip-on-poll/)
  expect(out).toContain('WORKSPACE_EMULATOR_PORT')
})

test.for([['--version'], ['-v']])('%s prints the version of the package', async ([flag = '']) => {
  expect(await command([flag])).toEqual({
    code: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    err: '',
  })
})

test.for([
  [['faults', 'clear', '--json', '--url', 'http://127.0.0.1:2'], 1, 'Nothing listens at http://127.0.0.1:2.'],
  [['faults', '--json', '--frist'], 2, "unknown option '--frist'"],
  [['clock', 'advance', '--json'], 2, ''],
] as const)('with --json an error is a line of JSON, too: %j', async ([argv, code, message]) => {
  const { err, out, ...rest } = await command([...argv])
  expect([rest.code, out, err.includes('\n')]).toEqual([code, '', false])
  expect(JSON.parse(err).error).toEqual({ exit_code: code, message: expect.stringContaining(message) })
})

/** `start` with a file as the value of a flag. */
function startWith(flag: string, file: string) {
  return command(['start', '--port', '0', '--ephemeral', flag, file])
}

test.for([
  [
    '--fixtures',
    '{\n  "collections": {\n    "pagees": []\n  }\n}\n',
    'The fixtures cannot be used:\n  FILE:3: /collections/pagees: There is no such collection. Did you mean "pages"?',
  ],
  [
    '--fixtures',
    '{\n',
    'The fixtures cannot be used:\n  FILE:1: is not JSON: expected "," or "}", but the text ends',
  ],
  [
    '--settings',
    '{\n  "status.conflict": 409,\n  "status.not_fond": 404\n}\n',
    'The settings cannot be used:\n  FILE:3: /status.not_fond: There is no setting "status.not_fond". Did you mean "status.not_found"?',
  ],
  ['--settings', '[]', 'FILE:1: must be a JSON object'],
] as const)('start %s reports the file, line and field of what is wrong: %s', async ([flag, text, err]) => {
  const file = temporaryFile('file.json', text)
  expect(await startWith(flag, file)).toEqual({ code: 1, out: '', err: err.replace('FILE', file) })
})

test.for([
  [
    '--settings',
    /^\/nowhere\/file\.json: there is no such file; the path is relative to the working directory$/,
  ],
  ['--fixtures', /\/nowhere\/file\.json: cannot be read; .* one of empty, demo, large\.$/],
] as const)('start %s reports a missing file', async ([flag, err]) => {
  expect(await startWith(flag, '/nowhere/file.json')).toMatchObject({
    code: 1,
    err: expect.stringMatching(err),
  })
})

test('start reports which file extends a missing one', async () => {
  const { err } = await startWith('--fixtures', temporaryFile('sandbox.json', '{"extends": "./demmo.json"}'))
  expect(err).toMatch(/demmo\.json: cannot be read, which .*sandbox\.json extends; /)
})
