import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { borrow, installed, write } from './consumer.ts'
import { run } from './run.ts'

const user = installed()

beforeAll(() => borrow(user().folder, ['@types/node', 'undici-types', 'vitest', '@playwright/test']))

const LIBRARY = `
import { connect, defineScenario, type Emulator, type EmulatorClient, EmulatorError, startEmulator, type SandboxClient } from 'agent-workspace-emulator'

export const scenario = defineScenario({
  description: 'Every second item fails',
  clock: { rate: 0 },
  pace: { validating: 'immediate', in_progress: { per_item: '150ms', concurrency: 8 }, finalizing: { polls: 2 } },
  outcomes: [{ match: { custom_id: 'invoice-*' }, every: 2, status: 'errored' }],
  faults: [{ preset: 'rate-limited', when: { nth: 1 } }],
  timeline: [{ at: '10m', do: ({ batches }) => batches.latest()?.fail() }],
})

export async function main(): Promise<number> {
  await using emulator: Emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const remote: EmulatorClient = connect(emulator.url)
  await using sandbox: SandboxClient = await remote.sandbox('w1', { seed: 7 })
  const result = await sandbox.clock.advance('24h')
  await sandbox.clock.advance({ until: { batch: 'b' } }).catch((error: unknown) => {
    if (!(error instanceof EmulatorError)) throw error
  })
  await using fault = await sandbox.faults.arm({ match: { operation: 'pages.create' }, do: [{ respond: { status: 503 } }] })
  const answer: Response = await sandbox.fetch('/pages')
  // @ts-expect-error a time that is no text
  await sandbox.clock.advance(24)
  // @ts-expect-error no such option
  await startEmulator({ prot: 0 })
  return result.events.length + answer.status + String(fault).length
}
`

const SUITE = `
import { test, expect } from 'agent-workspace-emulator/vitest'

test('creates a page', async ({ sandbox, emulator }) => {
  const answer = await sandbox.fetch('/pages', { method: 'POST', body: '{}' })
  expect(answer.status).toBe(200)
  await expect(sandbox).toHaveReceived({ operation: 'pages.create' })
  await expect(sandbox).toHaveDelivered({}, 0)
  expect(emulator.baseUrl).toContain('/v1')
  // @ts-expect-error an operation has a name
  await expect(sandbox).toHaveReceived({ operation: 7 })
})
`

const PAGES = `
import { test, expect } from 'agent-workspace-emulator/playwright'

test('shows a page', async ({ sandbox, page }) => {
  await page.goto(sandbox.baseUrl)
  await expect(page).toHaveTitle('')
  await expect(sandbox).toHaveReceived({ operation: 'pages.create' })
})
`

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  target: 'es2022',
  types: ['node'],
}
const TYPESCRIPT = resolve('node_modules/typescript')
// An old version, which is a dependency of the package that checks our types.
const TYPESCRIPT_5 = resolve('node_modules/@arethetypeswrong/core/node_modules/typescript')

test.each([
  ['as Node finds modules', { module: 'nodenext' }, TYPESCRIPT],
  ['as bundlers find modules', { module: 'esnext', moduleResolution: 'bundler' }, TYPESCRIPT],
  ['as Node finds modules, to TypeScript 5.6', { module: 'nodenext' }, TYPESCRIPT_5],
])('the types of the library pass a full check when resolved %s', async (_, options, compiler) => {
  const compilerOptions = { ...STRICT, ...options, skipLibCheck: false }
  expect(await complaints({ 'library.ts': LIBRARY, 'library.mts': LIBRARY }, compilerOptions, compiler)).toBe(
    '',
  )
})

test.each([
  ['as Node finds modules', { module: 'nodenext' }],
  ['as bundlers find modules', { module: 'esnext', moduleResolution: 'bundler' }],
])('the types of the entry points for test runners pass a check when resolved %s', async (_, options) => {
  // The types of the runners are not checked: they are not ours, and some of them contain errors.
  const compilerOptions = { ...STRICT, ...options, lib: ['es2023', 'dom'], skipLibCheck: true }
  expect(await complaints({ 'suite.mts': SUITE, 'pages.ts': PAGES }, compilerOptions, TYPESCRIPT)).toBe('')
})

async function complaints(
  files: Readonly<Record<string, string>>,
  compilerOptions: object,
  compiler: string,
): Promise<string> {
  const config = { compilerOptions, files: Object.keys(files) }
  await write(user().folder, { ...files, 'tsconfig.json': JSON.stringify(config) })
  const { code, out, err } = await run(user().folder, process.execPath, [
    join(compiler, 'bin/tsc'),
    '-p',
    '.',
  ])
  for (const file of Object.keys(files)) await rm(join(user().folder, file))
  return code === 0 ? '' : `exit code ${code}: ${out}${err}`
}
