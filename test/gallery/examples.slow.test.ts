import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { blocksOf, readPages } from '../docs/pages.ts'

const CLI = resolve('dist/cli.js')

/** The commands of the tutorial, without the reset at their end, which also empties the log of requests. */
function tutorial(): string {
  const page = [...readPages()].find(([name]) => name.endsWith('tutorial.md'))
  const blocks = page === undefined ? [] : blocksOf(...page)
  const commands = blocks.filter(({ language, mark }) => language === 'sh' && mark === '')
  return ['cd "$(mktemp -d)"', ...commands.map(({ code }) => code)]
    .join('\n')
    .replaceAll('http://127.0.0.1:4010', '$WORKSPACE_EMULATOR_URL')
    .replace('npx agent-workspace-emulator reset\n', '')
    .replaceAll('npx agent-workspace-emulator', `'${process.execPath}' '${CLI}'`)
}

test.concurrent.for<[what: string, command: readonly string[]]>([
  ['the tutorial', ['bash', '-euo', 'pipefail', '-c', tutorial()]],
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

test('a warning would end with the exit code 1', async () => {
  // Two equal requests, of which the second does not wait for the Retry-After of the first.
  const refused =
    'curl -s "$WORKSPACE_BASE_URL/pages" -H "Authorization: Bearer $WORKSPACE_API_KEY" -H "X-Request-Id: one" -H "X-Emulator-Fault: rate-limited" -d "{}" -H "Content-Type: application/json" >/dev/null;'
  const { code } = await run(['exec', '--conduct', 'warning', '--', 'bash', '-c', refused.repeat(2)])
  expect(code).toBe(1)
})

async function run(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [code, stderr] = await Promise.all([
    new Promise<number | null>((done) => child.on('close', done)),
    text(child.stderr),
  ])
  return { code, stderr }
}
