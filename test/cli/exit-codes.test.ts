import { afterAll, beforeAll, expect, test } from 'vitest'
import { allCommands } from '../../src/cli/command-line.ts'
import { command, temporaryDirectory, temporaryFile } from './in-process.ts'
import { createBatch, openRunning, type Running } from './running.ts'

const commands = await allCommands()

/** A port without a server, and that fetch does not block (it blocks port 1). */
const SILENT = 'http://127.0.0.1:2'

/** The arguments of each command that calls an emulator, and the command that has to run before it. */
const CLIENTS: Readonly<
  Record<string, { readonly argv?: readonly string[]; readonly before?: readonly string[] }>
> = {
  wait: {},
  status: {},
  env: {},
  call: { argv: ['GET', '/clock'] },
  clock: {},
  'clock advance': { argv: ['1h'] },
  'clock rate': { argv: ['60'] },
  reset: {},
  requests: {},
  'requests export': {},
  'requests verify': { argv: ['{"method": "POST"}'] },
  'requests wait': { argv: ['{"method": "POST"}'] },
  record: {},
  explain: {},
  events: {},
  'snapshot list': {},
  'snapshot save': { argv: ['s'] },
  'snapshot restore': { argv: ['s'], before: ['snapshot', 'save', 's'] },
  'snapshot delete': { argv: ['s'], before: ['snapshot', 'save', 's'] },
  'sandbox list': {},
  'sandbox create': { argv: ['w2'] },
  'sandbox delete': { argv: ['w1'], before: ['sandbox', 'create', 'w1'] },
  'faults list': {},
  'faults add': { argv: ['rate-limited'] },
  'faults clear': {},
  'faults presets': {},
  gates: {},
  'gates release': {},
  'gates abort': {},
  latency: { argv: ['20ms'] },
  'limits list': {},
  'limits fill': { argv: ['pages.create', '--remaining', '3'] },
  'limits set': { argv: ['pages.create', '5', '--window', '10s'] },
  'limits clear': {},
  state: {},
  'state list': { argv: ['pages'] },
  'state get': { argv: ['organizations', 'org-larkmoor'] },
  'state put': { argv: ['organizations', 'o2', '{"id": "o2", "name": "Other"}'] },
  'state patch': { argv: ['organizations', 'org-larkmoor', '{"name": "Other"}'] },
  'state delete': { argv: ['pages', 'page-handbook'] },
  'state export': {},
  'state import': { argv: ['FILE'] },
  'batch list': {},
  'batch show': { argv: ['BATCH'] },
  'batch hold': { argv: ['BATCH'] },
  'batch release': { argv: ['BATCH'] },
  'batch fail': { argv: ['BATCH', 'The model is overloaded.'] },
  'batch expire': { argv: ['BATCH'] },
  'batch complete': { argv: ['BATCH'] },
  'batch cleanup': { argv: ['BATCH'], before: ['batch', 'complete', 'BATCH'] },
  'batch results': { argv: ['BATCH'] },
  'webhook list': {},
  'webhook add': {},
  'webhook remove': {},
  'webhook deliveries': {},
  'webhook inbox': {},
  'settings get': { argv: ['batch.unknown_files'] },
  'settings set': { argv: ['batch.unknown_files', 'accept'] },
  assumptions: {},
  coverage: {},
  conduct: {},
  'scenario list': {},
  endpoints: {},
  'scenario start': { argv: ['happy-path'] },
  'webhook trigger': { argv: ['batch_prediction.completed'] },
  'scenario stop': { before: ['scenario', 'start', 'happy-path'] },
}

/** The commands that are not run against an emulator here. */
const OTHERS = [
  'start',
  'certify',
  'hunt',
  'open',
  'stop',
  'exec',
  'init',
  'endpoints add',
  'mcp',
  'validate',
  'import',
  'drift',
  'drift record',
  'replay',
  'doctor',
  'openapi',
  'schema',
  'completion',
  'webhook listen',
  'webhook redeliver',
]

let shared: Running

beforeAll(async () => {
  shared = await openRunning({ fixtures: 'demo', countCoverage: true })
})

afterAll(() => shared.emulator.close())

test('every command is covered by these rules', () => {
  const known = [...Object.keys(CLIENTS), ...OTHERS]
  expect(known.toSorted()).toEqual(commands.map(({ name }) => name).toSorted())
})

test.for(Object.entries(CLIENTS))(
  '%s: 0 and one line of JSON, 1 without an emulator, 2 for misuse',
  async ([name, call]) => {
    const { run, emulator } = shared
    expect((await run('reset')).code).toBe(0)
    const batch = await createBatch(emulator.baseUrl, 'only')
    const file = JSON.stringify(emulator.sandbox.document())
    const filled = (words: readonly string[] = []) =>
      words.map((each) =>
        each === 'FILE' ? temporaryFile('state.json', file) : each === 'BATCH' ? batch : each,
      )
    if (call.before !== undefined) expect((await run(...filled(call.before))).code).toBe(0)
    const argv = [...name.split(' '), ...filled(call.argv)]
    const { code, out, err } = await run(...argv, '--json')
    expect([code, err]).toEqual([0, ''])
    expect(out).not.toContain('\n')
    expect(JSON.parse(out)).toEqual(expect.any(Object))
    const brief = name === 'wait' ? ['--timeout', '0s'] : []
    const failed = await command([...argv, ...brief, '--json', '--url', SILENT])
    expect(failed).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining(`Nothing listens at ${SILENT}.`),
    })
    expect(await command([...argv, '--jsn'])).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(/^unknown option '--jsn'\n\(Did you mean --json\?\)\n/),
    })
  },
)

test.for(OTHERS)('%s has --json and treats an unknown flag as misuse', async (name) => {
  expect(commands.find((each) => each.name === name)?.options).toHaveProperty('json')
  const { code, err } = await command([...name.split(' '), '--jsn'])
  expect([code, err]).toEqual([2, expect.stringContaining('(Did you mean --json?)')])
})

test('doctor prints its findings as JSON for problems, too', async () => {
  const taken = String(shared.emulator.port)
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

test('start and exec report the same error when the emulator cannot start', async () => {
  const taken = String(shared.emulator.port)
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
