import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

const STANDARD = { 'webhooks.scheme': 'standard' }
const HUB = {
  'webhooks.signature': { header: 'X-Hub-Signature-256', prefix: 'sha256=', secret: 'not used' },
}

interface Card {
  readonly level: string
  readonly cases: readonly { case: string; result: string; findings: readonly { code: string }[] }[]
}

/** Certifies a receiver with the built command. `one-at-a-time` needs 3 s for thirty webhooks. */
async function certified(command: readonly string[], settings: object, flags: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'settings.json')
  writeFileSync(file, JSON.stringify(settings))
  const receiver = ['--receiver', 'http://127.0.0.1:{port}/hook', '--count', 'http://127.0.0.1:{port}/count']
  const argv = ['certify', ...receiver, '--settings', file, '--timeout', '2s', '--json', ...flags, '--']
  const child = spawn(process.execPath, ['dist/cli.js', ...argv, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { level, cases } = JSON.parse(await text(child.stdout)) as Card
  const of = (result: string) => cases.filter((each) => each.result === result).map(({ case: name }) => name)
  return {
    level,
    names: cases.map((each) => each.case),
    failed: of('failed'),
    skipped: of('skipped'),
    not: of('not_reached'),
  }
}

const broken = (kind: string) => ['node', 'test/certify/receivers.mjs', '{port}', kind]

/** The rows of the table in docs/guide/certify.md: a receiver, and the cases that it fails. */
function table(): Map<string, string[]> {
  const page = readFileSync('docs/guide/certify.md', 'utf8')
  const [, part = ''] = /<!-- receivers -->\n([\s\S]*?)\n\n/.exec(page) ?? []
  const rows = part
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()))
  return new Map(
    rows.map(([, kind = '', , cases = '']) => [
      kind.replaceAll('`', ''),
      [...cases.matchAll(/`([^`]+)`/g)].map(([, name = '']) => `receiver/${name}`),
    ]),
  )
}

test.for([
  ['Express with standardwebhooks', ['node', 'test/certify/receivers.mjs', '{port}', 'standardwebhooks']],
  ["Python's standard library", ['python3', 'test/certify/receiver.py', '{port}']],
] as const)('a correct receiver passes every case: %s', async ([, command]) => {
  const { level, failed, skipped, not } = await certified(command, STANDARD)
  expect([level, failed, skipped, not]).toEqual(['B', [], [], []])
})

test('a correct receiver of the default scheme, with a public library, passes what its scheme has', async () => {
  const { failed, skipped, not } = await certified(broken('octokit'), HUB)
  expect([failed, not]).toEqual([[], []])
  expect(skipped).toEqual(['receiver/old-timestamp', 'receiver/future-timestamp', 'receiver/both-secrets'])
})

test('each broken receiver fails as the table of the page says, and each case is failed by one', async () => {
  const rows = table()
  expect(rows.size).toBeGreaterThanOrEqual(6)
  const missed = new Set<string>()
  for (const [kind, expected] of rows) {
    const { failed, names } = await certified(broken(kind), STANDARD)
    expect([kind, failed]).toEqual([kind, expected])
    for (const name of names) if (![...rows.values()].flat().includes(name)) missed.add(name)
  }
  expect([...missed]).toEqual([])
})
