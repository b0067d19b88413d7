import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { command, temporaryDirectory } from '../../test/cli/in-process.ts'
import { type SandboxClient, startEmulator } from '../index.ts'
import { endTest, recordingName } from './failure.ts'

const named = { id: '1_0', file: 'tests/invoices.test.ts', name: 'pages > are created: "à la carte"?' }

/** A test with a request whose fault is armed and has not fired. */
async function fixtures(recordFailures: string | undefined, failOnUnfiredFaults = false) {
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  onTestFinished(() => emulator.close())
  const sandbox = await emulator.sandbox('w1')
  await sandbox.faults.preset('server-error', { match: { operation: 'agents.list' } })
  await sandbox.fetch('/data-views')
  return { emulator, sandbox, recordFailures, failOnUnfiredFaults }
}

async function reportWith(
  recordFailures: string | undefined,
  prepare: (sandbox: SandboxClient) => unknown = () => {},
): Promise<string> {
  let text = ''
  const given = await fixtures(recordFailures)
  await prepare(given.sandbox)
  await endTest(given, named, (report) => {
    text = report
  })
  return text
}

test('the report of a failed test names its recording and the command that repeats it', async () => {
  const directory = join(temporaryDirectory(), 'new', 'recordings')
  const report = await reportWith(directory)
  const [name = ''] = readdirSync(directory)
  const file = join(directory, name)
  expect(report).toContain(
    `\n  to repeat its requests without the test: npx agent-workspace-emulator replay ${file}\n`,
  )
  expect(await command(['replay', file])).toMatchObject({ code: 0, out: expect.stringMatching(/^2 inputs/) })
})

test('a test that passes, and one without the option, write nothing', async () => {
  const directory = join(temporaryDirectory(), 'recordings')
  await endTest(await fixtures(directory), named, undefined)
  expect(() => readdirSync(directory)).toThrow('ENOENT')
  expect(await reportWith(undefined)).not.toContain('replay')
})

test('a test that fails because of a fault that never fired has a recording and a report, too', async () => {
  const directory = temporaryDirectory()
  const ended = endTest(await fixtures(directory, true), named, undefined)
  await expect(ended).rejects.toThrow(
    /never fired[\s\S]*The emulated service[\s\S]*workspace-emulator replay/,
  )
  expect(readdirSync(directory)).toHaveLength(1)
})

test('a directory that cannot be written is a line of the report, which is complete otherwise', async () => {
  const file = join(temporaryDirectory(), 'taken')
  writeFileSync(file, '')
  const report = await reportWith(file)
  expect(report).toContain('GET /v1/data-views  200  w1-000001')
  expect(report).toContain(
    `  the recording was not written: EEXIST: file already exists, mkdir '${file}'. Set recordFailures to a directory that can be written.\n`,
  )
})

test('a sandbox that the test has deleted has no recording, and the report says so', async () => {
  const text = await reportWith(temporaryDirectory(), (sandbox) => sandbox.delete())
  expect(text).toMatch(/\n {2}the recording was not written: .*w1/)
})

test('the name of a recording has the names of file and test, in characters that every file system accepts', () => {
  expect(recordingName(named)).toMatch(/^invoices\.test\.ts-pages-are-created-la-carte-[0-9a-f]{8}\.json$/)
})

test('names of recordings are short, and differ for tests of the same name', () => {
  const long = { ...named, name: 'x'.repeat(1_000) }
  expect(recordingName(long).length).toBeLessThan(140)
  expect(recordingName({ ...long, id: '1_1' })).not.toBe(recordingName(long))
  expect(recordingName({ ...named, name: '検索' })).toMatch(/^invoices\.test\.ts-[0-9a-f]{8}\.json$/)
})
