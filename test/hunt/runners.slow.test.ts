import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HuntReport } from '../../src/tools/hunt/hunt.ts'
import { borrow, write } from '../package/consumer.ts'
import { run, succeed } from '../package/run.ts'

let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'workspace-runners-'))
  cpSync('test/hunt/runners', folder, { recursive: true })
  // A name for each runner, so that none finds the tests of another one.
  for (const name of ['vitest', 'jest', 'node'])
    renameSync(join(folder, `${name}.mjs`), join(folder, `${name}.test.mjs`))
  await write(folder, { 'package.json': '{"type": "module"}' })
  await succeed(folder, 'npm', [
    'install',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    'jest@30',
  ])
  await borrow(folder, ['vitest'])
})

afterAll(() => rmSync(folder, { recursive: true }))

/** Faults under which a client that gives up with an error of its own is right. */
const GIVES_UP =
  '{pages.create/{chunked-truncated,malformed-json},teamspace-users.list/{html-with-200,null-for-array,page-cursor-repeated}}'

/** Each runner with its longest tracebacks. */
const RUNNERS: readonly (readonly [runner: string, ...command: string[]])[] = [
  ['pytest', 'python3', '-m', 'pytest', '-q', '--tb=long', '-p', 'no:cacheprovider'],
  ['pytest with native tracebacks', 'python3', '-m', 'pytest', '-q', '--tb=native', '-p', 'no:cacheprovider'],
  ['Vitest', process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--root', '.', 'vitest.test.mjs'],
  [
    'Jest',
    process.execPath,
    '--experimental-vm-modules',
    'node_modules/jest/bin/jest.js',
    '--rootDir',
    '.',
    'jest.test',
  ],
  ['go test', 'go', 'test', '-count=1', './...'],
  ['node --test', process.execPath, '--test', 'node.test.mjs'],
  ['node --test as spec', process.execPath, '--test', '--test-reporter=spec', 'node.test.mjs'],
]

async function hunt(flags: readonly string[], command: readonly string[]): Promise<HuntReport> {
  const cli = resolve('dist/cli.js')
  const { out, err } = await run(folder, process.execPath, [
    cli,
    'hunt',
    '--json',
    ...flags,
    '--',
    ...command,
  ])
  if (out === '') throw new Error(err)
  return JSON.parse(out)
}

test.for(RUNNERS)(
  'a correct client has only clear errors, with their messages: %s',
  async ([, ...command]) => {
    const { findings, never_fired, not_run } = await hunt(['--run', GIVES_UP, '--budget', '20m'], command)
    expect([never_fired, not_run]).toEqual([0, 0])
    expect(findings.filter(({ kind }) => kind !== 'clear error')).toEqual([])
    const messages = findings.map(({ message }) => message)
    // An assertion of Vitest about a rejected promise shows 40 characters of its error.
    expect(messages).toContainEqual(expect.stringMatching(/no whole respon(?:se|…)|EOF/))
    expect(messages).toContainEqual(expect.stringContaining('not a page of users'))
  },
)
