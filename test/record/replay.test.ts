import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import type { RecordingBundle } from '../../src/core/record/bundle.ts'
import { wholeState } from '../../src/core/record/start.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { startEmulator } from '../../src/index.ts'
import { scenarioFiles } from '../../src/tools/replay/bundle-file.ts'
import { replayBundle } from '../../src/tools/replay/run.ts'
import { command, lastingCommand, temporaryDirectory, withError } from '../cli/in-process.ts'
import { running } from '../cli/running.ts'
import { sessions } from './sessions.ts'
import { recording } from './support.ts'

function changed({ file, text }: { file: string; text: string }, change: (bundle: RecordingBundle) => void) {
  const bundle = JSON.parse(text)
  change(bundle)
  writeFileSync(file, JSON.stringify(bundle, null, 2))
  return file
}

/** The outcome of a replay without a difference. */
const same = (inputs: string) => {
  const out = `${inputs} repeated: every output is the same, byte for byte.`
  return { code: 0, out, err: '' }
}

async function recordedBy(run: (...argv: string[]) => Promise<unknown>): Promise<string> {
  const file = join(temporaryDirectory(), 'recording.json')
  await run('record', '-o', file)
  return file
}

test.for<[what: string, how: (state: string) => string[]]>([
  ['an imported state', (state) => ['state', 'import', state]],
  ['a reset', () => ['reset']],
])('a recording that begins with %s replays, and has no such input', async ([, how]) => {
  const { emulator, run } = await running({ fixtures: 'demo' })
  const state = join(temporaryDirectory(), 'state.json')
  expect((await run('state', 'export', state)).out).toBe(`State written to ${state}.`)
  await run('faults', 'add', 'server-error')
  expect(await run(...how(state))).toMatchObject({ code: 0, err: '' })
  await fetch(`${emulator.baseUrl}/nothing`)
  const file = await recordedBy(run)
  expect(await command(['replay', file])).toEqual(same('1 input'))
})

test('a state that is refused is an input, and so is an edit of the state', async () => {
  const { emulator, run } = await running()
  const state = (await fetch(`${emulator.controlUrl}/state`)).json() as Promise<object>
  const put = async (query: string, change: object) =>
    fetch(`${emulator.controlUrl}/state${query}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...(await state), ...change }),
    })
  expect((await put('', { seed: 'x' })).status).toBe(400)
  expect((await put('?if_revision=0', { settings: {} })).status).toBe(200)
  const file = await recordedBy(run)
  expect(await command(['replay', file])).toEqual(same('2 inputs'))
})

const OWNER = 'authorization: Bearer live_demo_owner\r\ncontent-type: application/json\r\n'

test.for([
  ['target', 'GET /v1/search?q=é HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'],
  ['body', `POST /v1/pages HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\n${OWNER}content-length: 9\r\n\r\n{"na`],
] as const)('a request whose %s cannot be parsed is left out, and named', async ([, bytes]) => {
  const { emulator, run } = await running({ fixtures: 'demo' })
  const call = async () => (await fetch(`${emulator.baseUrl}/nothing`)).text()
  await call()
  const socket = connect(emulator.port ?? 0)
  socket.end(Buffer.from(bytes.replace('PORT', String(emulator.port))))
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
  await call()
  const file = await recordedBy(run)
  const { code, out } = await command(['replay', file])
  expect(code).toBe(0)
  expect(out).toMatch(/^Not reproducible: Requests that could not be parsed are left out/)
  expect(out).toContain('2 inputs repeated: every output is the same, byte for byte.')
})

test('of a body that was no longer kept, the length is compared, and the recording says so', async () => {
  const { emulator, run } = await running({ fixtures: 'demo' })
  const stub = (text: string) => ({ method: 'GET', path: '/long', body: { text } })
  await run('call', 'POST', 'stubs', JSON.stringify(stub('x'.repeat(5_000))))
  const headers = { authorization: 'Bearer live_demo_owner' }
  expect((await fetch(`${emulator.baseUrl}/long`, { headers })).status).toBe(200)
  // As when newer bodies take its place in memory.
  for (const { response } of emulator.sandbox.log.entries()) response?.drop()
  const file = await recordedBy(run)
  const bundle = { file, text: readFileSync(file, 'utf8') }
  const only = '1 response with a body that is no longer kept: only its length is compared.'
  expect(await command(['replay', file])).toMatchObject({ code: 0, out: expect.stringContaining(only) })
  const shorter = changed(bundle, ({ inputs }) => {
    for (const input of inputs)
      if ('request' in input && input.output) Object.assign(input.output, { bytes: 7 })
  })
  const other = await command(['replay', shorter])
  expect([other.code, other.out]).toEqual([1, expect.stringMatching(/7 bytes\n/)])
  expect(other.out).not.toContain('undefined')
})

test('random sessions replay byte for byte', async () => {
  for await (const bundle of sessions(1, 1)) {
    const { folder: scenarios, remove } = scenarioFiles(bundle)
    const options = { until: bundle.inputs.length, scenarios, listen: false }
    const { emulator, difference } = await replayBundle(bundle, options)
    await emulator.close()
    remove()
    if (bundle.not_reproducible.length === 0) expect(difference).toBeUndefined()
  }
})

/** Two steps at one instant, of which the first throws. */
const THROWS = `import { defineScenario } from 'agent-workspace-emulator'

export default defineScenario({
  timeline: [
    { at: '1s', do: () => { throw new Error('too bad') } },
    { at: '1s', do: ({ sandbox }) => sandbox.log('too late') },
  ],
})
`

test('a recording that begins with an active scenario replays with its functions, also those that throw', async () => {
  const scenarios = temporaryDirectory()
  writeFileSync(join(scenarios, 'throws.ts'), THROWS)
  await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0, scenarios })
  const { clock, scenarios: started, snapshots } = emulator.defaultSandbox
  await started.start('throws')
  await snapshots.save('begun')
  await snapshots.restore('begun')
  await clock.advance('1m')
  const bundle = await emulator.defaultSandbox.record()
  expect(bundle.inputs.map((input) => Object.keys(input).at(2))).toEqual(['control', 'returned', 'returned'])
  const file = join(temporaryDirectory(), 'recording.json')
  writeFileSync(file, JSON.stringify(bundle))
  expect(await command(['replay', file, '--run-scripts'])).toEqual(same('3 inputs'))
})

test('a recording of an older format, which has the whole state, replays', async () => {
  const { file } = await recording()
  const bundle = JSON.parse(readFileSync(file, 'utf8')) as RecordingBundle
  const { start } = bundle
  if (start === undefined) throw new Error('The recording has the whole state.')
  const emulator = await openEmulator({ listen: false, ephemeral: true })
  const state = wholeState(await emulator.build(start), start, bundle.state)
  await emulator.close()
  const { start: _, ...rest } = bundle
  writeFileSync(file, JSON.stringify({ ...rest, recording: 1, state }))
  expect(await command(['replay', file])).toEqual(same('6 inputs'))
  expect((await command(['replay', file, '--to', 'vitest'])).out).toContain('JSON.parse(await readFile(')
})

test('the test of a recording has the setting-up and the requests, and no page of JSON', async () => {
  const { file } = await recording()
  const { out } = await command(['replay', file, '--to', 'vitest'])
  expect(out).toContain('{ fixtures: "demo", seed: 1, clock: ')
  expect(out).toContain('  // POST /pages\n  response = await call("/pages", { method: "POST", headers: ')
  expect(out).toContain('  // GET /nothing\n  expect((await call("/nothing"')
  expect(out).toContain('  await control("POST", "/webhooks", { url: ')
  expect(out.split('\n').length).toBeLessThan(50)
  expect(Math.max(...out.split('\n').map(({ length }) => length))).toBeLessThan(400)
})

test.for<[what: string, change: (bundle: RecordingBundle) => unknown, code: number, printed: RegExp]>([
  [
    'records of another version',
    ({ emulator, start }) => {
      Object.assign(start as object, { crc32: 5 })
      Object.assign(emulator, { version: '0.1.9' })
    },
    1,
    /fixtures "demo" of version 0\.1\.9.*npx agent-workspace-emulator@0\.1\.9 replay/,
  ],
  [
    'another output',
    ({ inputs: [input] }) => Object.assign(input as object, { output: { head: '404', bytes: 0, crc32: -1 } }),
    1,
    /^Input 1 \(POST \/v1\/pages\) has another output: status\n {2}recorded {2}404\n {2}replayed {2}200$/,
  ],
  [
    'what cannot be repeated',
    (bundle) => Object.assign(bundle, { not_reproducible: ['The moon was full.'] }),
    0,
    /^Not reproducible: The moon was full\.\n/,
  ],
  [
    'a damaged state',
    ({ state }) => Object.assign(state, { collections: { ...state.collections, pages: [{ id: 5 }] } }),
    1,
    /recording\.json:\d+: \/state\/collections\/pages\/0/,
  ],
  [
    'a script outside of it',
    ({ scenarios }) => Object.assign(scenarios, { '../outside.ts': 'export default {}' }),
    1,
    /^The scenario "\.\.\/outside\.ts" of the recording cannot be written: is outside/,
  ],
])('of a recording with %s, the replay says what differs, and where', async ([, change, code, printed]) => {
  const file = changed(await recording(), change)
  const replayed = await command(['replay', file, '--run-scripts'])
  expect([replayed.code, replayed.err || replayed.out]).toEqual([code, expect.stringMatching(printed)])
})

test.for([
  [
    'a file that is no recording',
    '{"collections": {}}',
    /is not a recording\. "workspace-emulator record -o FILE" writes one/,
  ],
  [
    'the recording of a newer emulator',
    '{"recording": 99}',
    /was written by a newer emulator: it has the format 99/,
  ],
  [
    'a damaged recording',
    '{"recording": 1, "inputs": 5}',
    /The recording is damaged:[\s\S]*recording\.json:1: \/inputs: /,
  ],
  ['a file that is not JSON', '{"recording": ', /recording\.json:1: is not JSON/],
] as const)('%s is refused', async ([, text, message]) => {
  const file = join(temporaryDirectory(), 'recording.json')
  writeFileSync(file, text)
  expect(await command(['replay', file])).toEqual(withError(1, message))
})

test('--until stops after an input and shows the sandbox as it was then; beyond the recording it is misuse', async () => {
  const { file } = await recording()
  const { next, stop } = lastingCommand(['replay', file, '--until', '2', '--json'])
  const { url, inputs } = JSON.parse(await next())
  expect(inputs).toBe(2)
  const state = await fetch(new URL('/__emulator/state', url))
  expect(await state.json()).toMatchObject({ clock: { now: '2026-03-01T12:00:00.000Z' } })
  expect((await stop()).code).toBe(0)
  expect(await command(['replay', file, '--until', '7'])).toEqual(
    withError(2, 'the recording has only 6 inputs'),
  )
})

test('a recording with scripts is a program only with --run-scripts: without, they are named and nothing runs', async () => {
  const file = changed(await recording(), ({ scenarios }) => {
    Object.assign(scenarios, { 'lib/_a.ts': 'export {}', 'b.mjs': 'globalThis.ran = true', 'c.json': '{}' })
  })
  const { code, out, err } = await command(['replay', file])
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('contains scripts, which would run with the rights of your user: lib/_a.ts, b.mjs.')
  expect(err).toContain('Read them in its field "scenarios", then add --run-scripts.')
  expect(globalThis).not.toHaveProperty('ran')
  expect((await command(['replay', file, '--run-scripts'])).code).toBe(0)
})

const LAST = '9999-12-31T23:59:59.999Z'

test.for<[what: string, change: (bundle: RecordingBundle) => unknown]>([
  ['a frozen clock at its end', ({ inputs: [input] }) => Object.assign(input as object, { at: LAST })],
  [
    'an instant at the end of a clock that runs',
    ({ state, inputs: [input] }) => {
      Object.assign(state.clock, { rate: 1, wall: state.clock.now })
      Object.assign(input as object, { at: LAST })
    },
  ],
  ['a wall instant at its end', (bundle) => Object.assign(bundle, { wall: LAST })],
  [
    'a length of gigabytes',
    ({ inputs: [input] }) => {
      const { request } = input as { request: { head: string; body?: string } }
      request.head = request.head.replace(/content-length: .*/i, 'content-length: 9999999999')
      delete request.body
    },
  ],
  ['no name of a file', (bundle) => Object.assign(bundle, { scenarios: { 'a\u0000b.json': '{}' } })],
  [
    'a file in the place of a folder',
    (bundle) => Object.assign(bundle, { scenarios: { 'a.json': '{}', 'a.json/b.json': '{}' } }),
  ],
  [
    'a request that is none',
    ({ inputs: [input] }) => Object.assign((input as { request: object }).request, { head: 'x' }),
  ],
])('a recording with %s ends with at most a line, and leaves no folder', async ([, change]) => {
  const file = changed(await recording(), change)
  const folder = temporaryDirectory()
  vi.stubEnv('TMPDIR', folder)
  const { code, err } = await command(['replay', file])
  vi.unstubAllEnvs()
  expect([0, 1]).toContain(code)
  expect(err).not.toContain('\n')
  expect(readdirSync(folder)).toEqual([])
})
