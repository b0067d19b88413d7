import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { RecordingBundle } from '../../src/core/record/bundle.ts'
import { real } from '../../src/core/time/real.ts'
import {
  command,
  lastingCommand,
  nodeClient,
  temporaryDirectory,
  temporaryFile,
  withError,
} from './in-process.ts'

const READER = `
  const check = (value) => { if (!(value.data.length > 0)) throw new Error('no rows') }`
const CARELESS = `${READER}
  api('/data-views').then((response) => response.json()).then(check)`
const CAREFUL = `${READER}
  const read = async (left) => {
    try {
      const response = await api('/data-views')
      if (!response.ok) throw new Error('status ' + response.status)
      return await response.json()
    } catch (error) {
      if (left === 0) throw error
      return read(left - 1)
    }
  }
  read(2).then(check)`

function hunt(flags: readonly string[], script: string) {
  return command(['hunt', ...flags, '--', ...nodeClient(script)], { PATH: process.env.PATH ?? '' })
}

test('a client that parses an error page as JSON is a finding, with the fault and the command that repeats it', async () => {
  const { code, out, err } = await hunt(['--run', '*/html-error-page'], CARELESS)
  expect(code).toBe(1)
  const [title, message, fault, again, total] = out.split('\n').map((line) => line.trim())
  expect(title).toBe('CRASH: data-views.list/html-error-page')
  expect(message).toContain('SyntaxError: Unexpected token')
  expect(fault).toBe('Fault: {"preset":"html-error-page","match":{"operation":"data-views.list"},"times":1}')
  expect(again).toContain('Again: workspace-emulator hunt --run data-views.list/html-error-page -- ')
  expect(total).toMatch(/^2 runs in \S+ s: 1 finding; 0 passed\.$/)
  expect(err).toMatch(/^Without faults: 1 request to 1 operation in \S+ s\.\nFound: crash under /)
})

test('a client that repeats the request passes, and a fault that cannot happen is counted', async () => {
  const { code, out } = await hunt(['--run', '*/{server-error,stale-keepalive}', '--json'], CAREFUL)
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ runs: 2, passed: 1, never_fired: 1, not_run: 0, findings: [] })
})

test('two faults are found when one is not enough', async () => {
  const twice = CAREFUL.replace('read(2)', 'read(1)')
  const name = 'data-views.list/html-error-page+data-views.list/malformed-json'
  const { code, out } = await hunt(['--run', name, '--json'], twice)
  expect(code).toBe(1)
  const { findings } = JSON.parse(out)
  const rules = [{ preset: 'html-error-page' }, { preset: 'malformed-json' }]
  expect(findings).toMatchObject([{ kind: 'crash', name, isRepeated: true, rules }])
})

test('each finding is written as fault rules, as a test and as a recording that replays', async () => {
  const folder = join(temporaryDirectory(), 'findings')
  const { out } = await hunt(['--run', '*/html-error-page', '--findings', folder], CARELESS)
  const base = 'data-views.list-html-error-page'
  expect(readdirSync(folder)).toEqual([`${base}.faults.json`, `${base}.recording.json`, `${base}.test.ts`])
  const recording = join(folder, `${base}.recording.json`)
  expect(out).toContain(`Recording: npx agent-workspace-emulator replay ${recording}`)
  expect(await command(['replay', recording])).toMatchObject({ code: 0 })
  const { inputs } = JSON.parse(readFileSync(recording, 'utf8')) as RecordingBundle
  const heads = inputs.map((input) => 'output' in input && input.output?.head.split('\n')[0])
  expect(heads.at(-1)).toBe('502')
  expect(await command(['validate', join(folder, `${base}.faults.json`)])).toMatchObject({ code: 0 })
  expect(readFileSync(join(folder, `${base}.test.ts`), 'utf8')).toContain(
    'await sandbox.faults.arm({"preset":"html-error-page","match":{"operation":"data-views.list"},"times":1})',
  )
})

/** Reads in sandboxes of its own, `w1` and so on, and deletes those that `isDeleted` names. */
const inSandboxes = (isDeleted: readonly boolean[]) => `
  const read = async (isDeleted, n) => {
    const text = await (await api('/data-views', { sandbox: 'w' + n })).text()
    if (isDeleted) await control('DELETE', '/__emulator/sandboxes/w' + n)
    return text
  }
  Promise.all(${JSON.stringify(isDeleted)}.map(read)).then((texts) => texts.map(JSON.parse))`

test.for([
  ['of the sandbox that still exists', [true, false, true], ['w1']],
  ['of each sandbox if all are deleted', [true, true], ['w0', 'w1']],
] as const)('the recordings of a finding are those %s', async ([, isDeleted, names]) => {
  const folder = temporaryDirectory()
  const flags = ['--run', '*/html-error-page', '--findings', folder, '--json']
  const { out } = await hunt(flags, inSandboxes(isDeleted))
  const files: string[] = JSON.parse(out).findings[0].recordings
  const recorded = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as RecordingBundle)
  expect(recorded.map(({ state }) => state.sandbox).toSorted()).toEqual(names)
  for (const file of files) expect(await command(['replay', file])).toMatchObject({ code: 0 })
})

test('a folder that cannot be written is refused before the first run', async () => {
  const taken = temporaryFile('taken', '')
  const message = `--findings: ${taken} cannot be written (EEXIST). Give the path of a directory that`
  expect(await hunt(['--findings', taken], CAREFUL)).toEqual(withError(1, message))
})

test.for([
  ['a command that fails anyway', 'process.exit(3)', [], 1, 'fails without faults (exit code 3)'],
  ['a command that sends nothing', '', [], 1, 'sent no request to the emulator. It has to use WORKSPACE_'],
  ['a name without a fault', CAREFUL, ['--run', 'nope/*'], 2, '--run: no fault matches "nope/*". Names are'],
  ['a command that takes too long', 'setInterval(() => {}, 9)', ['--timeout', '300ms'], 1, 'Raise --timeout'],
] as const)('%s is refused', async ([, script, flags, code, message]) => {
  expect(await hunt(flags, script)).toEqual(withError(code, message))
})

test('what the budget does not reach is counted, and dangerous faults among it are the exit code 3', async () => {
  const flags = ['--budget', '1ms', '--timeout', '20s']
  const { code, out, err } = await hunt(flags, CAREFUL)
  expect(code).toBe(3)
  expect(err).toMatch(/\n\d\d+ faults x \S+ s = \S+ \S+; the budget reaches 0, the 4 most dangerous first\.$/)
  expect(out).toMatch(
    /^0 runs in \S+ s: 0 findings; 0 passed, (\d\d+) of \1 faults not run, 4 of them dangerous: raise --budget\.$/,
  )
  const others = await hunt([...flags, '--run', '*/slow*', '--json'], CAREFUL)
  expect(others.code).toBe(0)
  expect(JSON.parse(others.out)).toMatchObject({ faults: 4, not_run: 4, dangerous_not_run: 0 })
})

test('how far the search is, is reported every ten seconds', async () => {
  let report = () => {}
  const setInterval = vi.spyOn(real, 'setInterval')
  onTestFinished(() => setInterval.mockRestore())
  setInterval.mockImplementation(((call: () => void, ms: number) => {
    if (ms === 10_000) call()
    if (ms === 10_000) report = call
    return globalThis.setTimeout(() => {}, 0)
  }) as typeof globalThis.setInterval)
  const argv = ['hunt', '--run', '*/{server-error,slow}', '--', ...nodeClient(CAREFUL)]
  const search = lastingCommand(argv, { PATH: process.env.PATH ?? '' })
  await search.hasSaid('most dangerous first.')
  report()
  const { err } = await search.ended
  expect(err).toMatch(/^Running without faults\.\n[\s\S]*\n0 of 2 faults in [01] runs?, 0 findings\.$/)
})

test('Ctrl-C ends the search, and prints what was found', async () => {
  // It hangs under the second fault.
  const hang = `.then(check, (error) => {
    if (/end of JSON/.test(error.message)) return setTimeout(() => {}, 60_000)
    throw error
  })`
  const script = CARELESS.replace('.then(check)', hang)
  const argv = ['hunt', '--run', '*/{rate-limited,empty-json-body}', '--', ...nodeClient(script)]
  const search = lastingCommand(argv, { PATH: process.env.PATH ?? '' })
  await search.hasSaid('Found: crash under data-views.list/rate-limited')
  search.signal('SIGINT')
  const { code, out } = await search.ended
  expect(code).toBe(130)
  expect(out).toContain('CRASH: data-views.list/rate-limited')
  expect(out).toMatch(/; 0 passed, [12] of 2 faults not run, [01] of them dangerous: raise --budget\.$/)
})

test('failures are read from JUnit XML that the command writes, and not from a file that it has left', async () => {
  const file = temporaryFile('junit.xml', '<failure>KeyError: left</failure>')
  const writing = (message: string) =>
    `${CAREFUL.replace('read(2)', 'read(0)')}.catch(() => {
      console.error('TypeError: x is not a function')
      process.exitCode = 1
    }).then(() => require('node:fs').writeFileSync(${JSON.stringify(file)}, '<failure>${message}</failure>'))`
  const kindOf = async (script: string) => {
    const { out } = await hunt(['--run', '*/html-error-page', '--junit', file, '--json'], script)
    return JSON.parse(out).findings[0]
  }
  expect(await kindOf(writing('assert 22 == 23'))).toMatchObject({
    kind: 'wrong result',
    message: 'assert 22 == 23',
    repeat: expect.stringContaining(`--junit ${file} `),
  })
  const once = writing('ClientError: a').replace('=> require', '=> process.exitCode || require')
  expect(await kindOf(once)).toMatchObject({ kind: 'crash' })
  const message = `--junit: the command has not written ${file}. Let its runner write it, such as with pytest`
  expect(await hunt(['--junit', file], CAREFUL)).toEqual(withError(1, message))
})
