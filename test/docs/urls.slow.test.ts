import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'vitest'
import { tutorial } from './pages.ts'

/** A URL in a response, and its status when it was opened, which happens before the client gets the response. */
interface Opened {
  readonly url: string
  /** Absent for a URL outside the emulator. */
  readonly outcome?: number | string
}

const CLI = resolve('dist/cli.js')
const PLAYWRIGHT = resolve('node_modules/@playwright/test/cli.js')
const VITEST = resolve('node_modules/vitest/vitest.mjs')

/** The output of a run, and every URL in every response of all servers in its processes. */
interface Run {
  readonly stdout: string
  readonly opened: readonly Opened[]
}

async function runNode(args: readonly string[]): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-urls-'))
  const log = join(folder, 'urls.ndjson')
  writeFileSync(log, '')
  const NODE_OPTIONS = `--import=${pathToFileURL('test/support/url-collector.mjs').href}`
  try {
    const env = { ...process.env, NODE_OPTIONS, URL_LOG: log }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
    return { stdout, opened: lines.map((line) => JSON.parse(line) as Opened) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const exec = (...command: string[]) => [CLI, 'exec', '--', ...command]

test.concurrent.for<[how: string, args: readonly string[], printed: RegExp, links: readonly string[]]>([
  [
    'the tutorial under exec',
    exec('bash', '-euo', 'pipefail', '-c', `${tutorial()}\nrmdir "$PWD"`),
    /./,
    ['/results_not_ready'],
  ],
  [
    'a script under exec',
    exec('bash', 'test/examples/curl.sh'),
    /ok: 2 results of batch \w+/,
    ['/results_not_ready', '/consent/connections/'],
  ],
  [
    "a suite of Node's own test runner",
    ['--test', '--test-reporter=tap', 'test/examples/node-test.mjs'],
    /# pass 2\n# fail 0\n/,
    [],
  ],
  [
    'a suite of Vitest',
    [VITEST, 'run', 'test/examples/vitest.test.ts'],
    /\d passed/,
    ['/results_gone', '/consent/connections/'],
  ],
  [
    'a suite of Playwright',
    [PLAYWRIGHT, 'test', '-c', 'test/examples/browser'],
    /3 passed/,
    ['/rate_limit_exceeded', '/consent/connections/'],
  ],
])(
  '%s passes, and every URL of every response can be opened on any port',
  async ([, args, printed, links], { expect }) => {
    const { stdout, opened } = await runNode(args)
    expect(stdout).toMatch(printed)
    const own = opened.filter(({ outcome }) => outcome !== undefined)
    expect(own.filter(({ outcome }) => outcome !== 200)).toEqual([])
    for (const link of links) expect(own.map(({ url }) => url)).toContainEqual(expect.stringContaining(link))
  },
)
