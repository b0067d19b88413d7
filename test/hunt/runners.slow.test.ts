import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HuntReport } from '../../src/tools/hunt/hunt.ts'
import { borrow, write } from '../package/consumer.ts'
import { run, succeed } from '../package/run.ts'

let folder: string

// Five runners under many faults take minutes, and more on a busy machine: HUNT_RUNNERS=1 npx vitest run test/hunt/runners.slow.test.ts
const isWanted = process.env.HUNT_RUNNERS !== undefined

beforeAll(async () => {
  if (!isWanted) return
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

afterAll(() => isWanted && rmSync(folder, { recursive: true }))

/** Faults under which a client that gives up with an error of its own is right. */
const GIVES_UP =
  '{pages.create/{chunked-truncated,malformed-json,server-error},*/html-with-200,teamspace-users.list/{null-for-array,page-cursor-repeated}}'

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

test.runIf(isWanted).for(RUNNERS)(
  'a correct client has only clear errors, with their messages: %s',
  async ([, ...command]) => {
    const { findings, never_fired, not_run } = await hunt(['--run', GIVES_UP, '--budget', '20m'], command)
    expect([never_fired, not_run]).toEqual([0, 0])
    expect(findings.filter(({ kind }) => kind !== 'clear error')).toEqual([])
    const messages = findings.map(({ message }) => message)
    expect(messages.some((message) => message.includes('no whole response') || message.includes('EOF'))).toBe(
      true,
    )
    expect(messages.some((message) => message.includes('not a page of users'))).toBe(true)
  },
)
