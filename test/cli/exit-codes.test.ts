import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../../src/adapters/cli/command-line.ts'
import { command, temporaryDirectory, temporaryFile } from './in-process.ts'
import { running } from './running.ts'

/** A port that is nobody's, and that fetch does not refuse by itself. */
const SILENT = 'http://127.0.0.1:2'

/** What each command that asks an emulator is called with, and what has to be there before. */
const CLIENTS: Readonly<
  Record<string, { readonly argv?: readonly string[]; readonly before?: readonly string[] }>
> = {
  wait: {},
  status: {},
  clock: {},
  'clock advance': { argv: ['1h'] },
  reset: {},
  requests: {},
  explain: {},
  snapshot: {},
  'snapshot list': {},
  'snapshot save': { argv: ['s'] },
  'snapshot restore': { argv: ['s'], before: ['snapshot', 'save', 's'] },
  'snapshot delete': { argv: ['s'], before: ['snapshot', 'save', 's'] },
  'snapshot export': { argv: ['s'], before: ['snapshot', 'save', 's'] },
  'snapshot import': { argv: ['copy', 'FILE'], before: ['snapshot', 'save', 's'] },
  sandbox: {},
  'sandbox list': {},
  'sandbox create': { argv: ['w1'] },
  'sandbox delete': { argv: ['w1'], before: ['sandbox', 'create', 'w1'] },
  faults: {},
  'faults list': {},
  'faults add': { argv: ['rate-limited'] },
  'faults clear': {},
  'faults presets': {},
  scenario: {},
  'scenario list': {},
  'scenario start': { argv: ['calm'] },
  'scenario stop': { before: ['scenario', 'start', 'calm'] },
}

/** Those that ask none: what they succeed with, and what they fail with. */
const OTHERS = ['start', 'exec', 'validate', 'doctor', 'version']

test('every command is held against these rules', () => {
  const known = [...Object.keys(CLIENTS), ...OTHERS]
  expect(known.toSorted()).toEqual(commands.map(({ name }) => name).toSorted())
})

test.for(Object.entries(CLIENTS))(
  '%s: 0 and one line of JSON, 1 without an emulator, 2 for misuse',
  async ([name, call]) => {
    const { run, emulator } = await running({ scenarios: dirname(temporaryFile('calm.json', '{}')) })
    await fetch(`${emulator.baseUrl}/data-views`)
    if (call.before !== undefined) expect((await run(...call.before)).code).toBe(0)
    const file = JSON.stringify(emulator.sandbox.document())
    const argv = [...name.split(' '), ...(call.argv ?? [])].map((each) =>
      each === 'FILE' ? temporaryFile('snapshot.json', file) : each,
    )
    const { code, out, err } = await run(...argv, '--json')
    expect([code, err]).toEqual([0, ''])
    expect(out).not.toContain('\n')
    expect(JSON.parse(out)).toEqual(expect.any(Object))
    const brief = name === 'wait' ? ['--timeout', '2s'] : []
    const failed = await command([...argv, ...brief, '--json', '--url', SILENT])
    expect(failed).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining(`Nothing listens at ${SILENT}.`),
    })
    expect(await command([...argv, '--jsn'])).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/^There is no flag --jsn\. Did you mean "--json"\?\n/),
    })
  },
)

test.for(OTHERS)('%s has --json and calls a flag that it does not know misuse', async (name) => {
  expect(commands.find((each) => each.name === name)?.options).toContain('json')
  const { code, err } = await command([name, '--jsn'])
  expect([code, err]).toEqual([2, expect.stringContaining('Did you mean "--json"?')])
})

test('validate and doctor print their findings as JSON when something is wrong, too', async () => {
  const good = temporaryFile('sandbox.json', '{}')
  const bad = temporaryFile('sandbox.json', '{"collections": {"pagees": []}}')
  for (const [file, expected] of [
    [good, 0],
    [bad, 1],
  ] as const) {
    const { code, out, err } = await command(['validate', '--json', file])
    expect([code, JSON.parse(out).valid, err]).toEqual([expected, expected === 0, ''])
  }
  const taken = String((await running()).emulator.port)
  for (const [port, expected] of [
    ['0', 0],
    [taken, 1],
  ] as const) {
    const { code, out, err } = await command([
      'doctor',
      '--json',
      '--data',
      temporaryDirectory(),
      '--port',
      port,
    ])
    expect([code, JSON.parse(out).ok, err]).toEqual([expected, expected === 0, ''])
  }
})

test('start and exec fail alike when the emulator cannot start', async () => {
  const taken = String((await running()).emulator.port)
  const message = `Port ${taken} on 127.0.0.1 is in use. Choose another with --port, or a free one with --port 0.`
  for (const rest of [['start'], ['exec']]) {
    const words = rest[0] === 'exec' ? ['--', 'true'] : []
    const argv = [...rest, '--json', '--ephemeral', '--port', taken, ...words]
    expect(await command(argv)).toEqual({
      code: 1,
      out: '',
      err: JSON.stringify({ error: { message, exit_code: 1 } }),
    })
  }
})
