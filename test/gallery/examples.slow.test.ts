import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'vitest'
import { tutorial } from '../docs/pages.ts'

const CLI = resolve('dist/cli.js')

// Without the reset at its end, which also empties the log of requests.
const script = tutorial().replace(/^.* reset$/m, '')

test.concurrent.for<[what: string, command: readonly string[]]>([
  ['the tutorial', ['bash', '-euo', 'pipefail', '-c', script]],
  ['the example in bash', ['bash', 'test/examples/curl.sh']],
  [
    'the examples with Vitest',
    [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', 'test/examples/vitest.test.ts'],
  ],
])('%s: neither an error nor a warning', async ([, command], { expect }) => {
  const { code, stderr } = await run(['exec', '--conduct', 'warning', '--json', '--', ...command])
  expect(code, stderr).toBe(0)
  const { requests, conduct } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
  expect(requests).toBeGreaterThan(0)
  expect(conduct.findings.filter(({ severity }: { severity: string }) => severity !== 'note')).toEqual([])
})

async function run(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [code, stderr] = await Promise.all([
    new Promise<number | null>((done) => child.on('close', done)),
    text(child.stderr),
  ])
  return { code, stderr }
}
