import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEmulator } from '../../src/index.ts'
import { run } from '../package/run.ts'
import { expectOutput } from './output.ts'
import { type Block, blocksOf, readPages } from './pages.ts'

const blocks = [...readPages()].flatMap(([page, text]) => blocksOf(page, text))
const code = blocks.filter(({ language }) => language === 'ts' || language === 'js')

/** The folder of a project that depends on the built package (`npm run build` and `build:types`); each snippet is one file. */
let project: string

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'workspace-snippets-'))
  for (const name of [
    ...[
      'agent-workspace-emulator',
      'vite',
      'vitest',
      '@playwright/test',
      '@types/node',
      'express',
      'supertest',
    ],
    ...['msw', 'zod', '@types/express', '@types/supertest', '.bin/vitest', '.bin/tsc'],
  ]) {
    const link = join(project, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(name === 'agent-workspace-emulator' ? resolve('.') : resolve('node_modules', name), link)
  }
  writeFileSync(join(project, 'package.json'), '{"type": "module"}')
  for (const block of code) writeFileSync(join(project, fileOf(block)), block.code)
})

afterAll(() => rmSync(project, { recursive: true }))

test('every TypeScript and JavaScript snippet has correct types', async () => {
  const tsconfig = {
    extends: resolve('tsconfig.json'),
    compilerOptions: {
      allowJs: true,
      checkJs: true,
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
      paths: {},
    },
    files: code.map(fileOf),
    include: [],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(tsconfig))
  const { out, code: exit } = await run(project, 'npx', ['tsc', '--noEmit', '-p', '.'])
  expect(exit, out).toBe(0)
})

test('the test snippets pass, and the failing one prints the output shown on its page', async () => {
  const patient = ['--testTimeout=300000', '--hookTimeout=300000', '--maxWorkers=1', '--no-isolate']
  const args = ['vitest', 'run', '--root', '.', '--reporter=json', ...patient]
  const { out, err } = await run(project, 'npx', args, { NO_COLOR: '1' })
  const report = JSON.parse(out.slice(out.indexOf('{'))) as VitestReport
  for (const block of code.filter(({ language, mark }) => language === 'ts' && mark !== '')) {
    const file = report.testResults.find(({ name }) => name.endsWith(`/${fileOf(block)}`))
    const messages = [
      file?.message,
      ...(file?.assertionResults.flatMap((each) => each.failureMessages) ?? []),
    ].join('\n')
    const at = `${block.page}:${block.line}`
    expect(file?.status, `${at}: ${messages}\n${err}`).toBe(block.mark === 'fails' ? 'failed' : 'passed')
    if (block.mark !== 'fails') continue
    const shown = blocks[blocks.indexOf(block) + 1]
    expect(shown?.language, `${at}: the block after it`).toBe('output')
    if (shown !== undefined) expectOutput(shown, messages)
  }
})

test("the snippets for Node's own test runner pass", async () => {
  const files = code.filter(({ language, mark }) => language === 'js' && mark === 'test').map(fileOf)
  expect(files).not.toEqual([])
  const { code: exit, out } = await run(project, process.execPath, ['--test', ...files])
  expect(exit, out).toBe(0)
})

test('an emulator accepts every JSON document of the pages', async () => {
  await using emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  for (const { page, line, language, mark, code: text } of blocks) {
    if (language !== 'json') continue
    const at = `${page}:${line}`
    const document = JSON.parse(text)
    await using sandbox = await emulator.sandbox(undefined, mark === 'fixtures' ? { fixtures: document } : {})
    if (mark === 'fixtures') expect((await sandbox.fetch('/data-views')).status, at).toBe(200)
    if (mark === 'settings') await sandbox.settings.change(document)
    if (mark === 'fault') expect((await sandbox.faults.arm(document)).id, at).toEqual(expect.any(String))
    if (mark === 'verify')
      expect(await sandbox.requests.verify(document.match, document.count), at).toHaveProperty('passed')
    if (mark === 'batch')
      expect((await sandbox.fetch('/batch-predictions', { json: document })).status, at).toBe(200)
    if (mark === 'scenario') {
      const file = join(project, 'scenario.json')
      writeFileSync(file, text)
      const { code: exit, out, err } = await run('.', process.execPath, ['dist/cli.js', 'validate', file])
      expect(exit, `${at}: ${out}${err}`).toBe(0)
    }
  }
})

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[]
  }[]
}

/** The file name of a snippet, such as `docs-testing-12.test.ts`. */
function fileOf({ page, line, language, mark }: Block): string {
  const name = `${page.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase()}-${line}`
  const extension = language === 'js' ? 'mjs' : 'ts'
  return mark === '' || language === 'js' ? `${name}.${extension}` : `${name}.test.${extension}`
}
