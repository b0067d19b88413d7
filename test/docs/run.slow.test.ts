import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { Tally } from '../../src/terminal/tally.ts'
import { expectOutput } from './output.ts'
import { type Block, blocksOf, readPages } from './pages.ts'

const { assumptions } = workspaceService

const runs = [...readPages()]
  .map(([page, text]) => ({ page, blocks: blocksOf(page, text) }))
  .filter(({ blocks }) => blocks.some(isRun))

// The blocks of a page run in order in one shell, so they share exported variables. Pages are isolated from each other.
test.concurrent.for(runs)('the commands of $page run and print what it shows', ({ blocks }) =>
  expectShown(blocks),
)

test('the commands of the README print what it shows on a clock that runs, however late they are typed', async () => {
  await expectShown(runs.find(({ page }) => page === 'README.md')?.blocks ?? [], 1_000)
})

async function expectShown(blocks: readonly Block[], rate = 0): Promise<void> {
  const runnable = blocks.filter(isRun)
  const printed = await runBlocks(
    runnable.map(({ code }) => code),
    { rate },
  )
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1]
    if (block.language === 'output' && before !== undefined && isRun(before)) {
      expectOutput(block, printed[runnable.indexOf(before)] ?? '')
    }
  }
}

test('every block of output follows the block that prints it', () => {
  for (const [page, text] of readPages()) {
    const blocks = blocksOf(page, text)
    for (const [index, { language, line }] of blocks.entries()) {
      const before = blocks[index - 1]
      if (language !== 'output') continue
      expect(before !== undefined && (isRun(before) || before.mark === 'fails'), `${page}:${line}`).toBe(true)
    }
  }
})

function isRun({ language, mark }: Block): boolean {
  return language === 'sh' && mark === ''
}

test('with every setting given, no response of the tutorial names an assumption', async () => {
  const tutorial = runs.find(({ page }) => page.endsWith('tutorial.md'))
  const blocks = (tutorial?.blocks ?? []).filter(isRun).map(({ code }) => code)
  // Without settings, the first two commands already name assumptions.
  expect(await namedIn(blocks.slice(0, 2), {})).not.toEqual([])
  const settings = [...assumptions.settings.values()].map(({ key, default: value }) => [key, value])
  expect(await namedIn(blocks, Object.fromEntries(settings))).toEqual([])
})

async function namedIn(blocks: readonly string[], settings: JsonObject): Promise<string[]> {
  const tally = new Tally()
  await runBlocks(blocks, { settings }, (sandbox) => tally.watch(sandbox))
  return tally.assumed.map(([id]) => id).filter((id) => assumptions.items.get(id)?.reportedIn === 'response')
}

/** Runs blocks in one shell with a separate emulator. @returns the output of each block */
async function runBlocks(
  blocks: readonly string[],
  { settings = {}, rate = 0 }: { readonly settings?: JsonObject; readonly rate?: number } = {},
  onSandbox: (sandbox: Sandbox) => void = () => {},
): Promise<string[]> {
  if (spawnSync('curl', ['--version']).error !== undefined) {
    throw new Error(
      'This test runs the curl commands of the pages: install curl (on Debian: apt-get install curl).',
    )
  }
  const emulator = await openEmulator({
    port: 0,
    rate,
    clock: '2026-03-01T09:00:00Z',
    ephemeral: true,
    scenarios: 'scenarios',
    settings,
  })
  onSandbox(emulator.sandbox)
  emulator.sandboxes.onMade(onSandbox)
  const folder = mkdtempSync(join(tmpdir(), 'workspace-docs-'))
  try {
    const cli = `'${process.execPath}' '${resolve('dist/cli.js')}'`
    const script = blocks
      .join('\necho "=== next"\n')
      .replaceAll('127.0.0.1:4010', `127.0.0.1:${emulator.port}`)
      .replaceAll('npx agent-workspace-emulator', cli)
    const url = `export WORKSPACE_EMULATOR_URL=http://127.0.0.1:${emulator.port}\n`
    // A separate process, because the event loop of this one serves the requests.
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', url + script], {
      cwd: folder,
    })
    return stdout.replaceAll(`127.0.0.1:${emulator.port}`, '127.0.0.1:4010').split('=== next\n')
  } finally {
    rmSync(folder, { recursive: true })
    await emulator.close()
  }
}
