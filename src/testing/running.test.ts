import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '../index.ts'
import { dashboardLine, emulatorForTests, startOfSandboxes } from './running.ts'

let given: Emulator

beforeEach(async () => {
  given = await startEmulator({ port: 0, ephemeral: true })
  vi.stubEnv('WORKSPACE_EMULATOR_URL', given.url)
  vi.stubEnv('WORKSPACE_API_KEY', 'service_demo')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await given.close()
})

test('the emulator in the environment variable is used, and keeps running', async () => {
  const { client, close } = await emulatorForTests({})
  await close()
  expect(client.url).toBe(given.url)
  await given.health()
})

test('options that are undefined are left out: tests write nothing to the disk', async () => {
  vi.stubEnv('WORKSPACE_EMULATOR_URL', '')
  const { client, close } = await emulatorForTests({ port: undefined, ephemeral: undefined })
  const sandbox = client.sandbox('kept', { persist: true })
  await expect(sandbox).rejects.toThrow('keeps everything in memory')
  expect(client.url).not.toContain(':4010')
  await close()
})

test('sandboxes on a given emulator also start with a frozen clock, and are called with the given key', async () => {
  const { client } = await emulatorForTests({ seed: 7 })
  await using sandbox = await client.sandbox(undefined, startOfSandboxes({ seed: 7 }))
  expect(await sandbox.clock.show()).toMatchObject({ rate: 0 })
  expect((await client.sandboxes.show(sandbox.name)).seed).toBe(7)
  expect(sandbox.apiKey).toBe('service_demo')
})

test('a report leads to the dashboard of a given emulator, and otherwise says how to keep the sandbox', async () => {
  const sandbox = await given.sandbox('w1')
  expect(dashboardLine(given, sandbox)).toMatch(`${given.url}/__emulator/ui/#/w1/requests`)
  // As `exec` sets it without --keep.
  vi.stubEnv('WORKSPACE_EMULATOR_KEEP', 'false')
  expect(dashboardLine(given, sandbox)).toBe('  to keep it for the dashboard, run the tests with exec --keep')
  vi.stubEnv('WORKSPACE_EMULATOR_KEEP', '')
  vi.stubEnv('WORKSPACE_EMULATOR_URL', '')
  expect(dashboardLine(given, sandbox)).toMatch(/WORKSPACE_EMULATOR_URL set to a running emulator$/)
})

test('options that only apply at the start are refused when the emulator is already running', async () => {
  await expect(emulatorForTests({ limits: false, seed: 7 })).rejects.toThrow(
    `emulatorOptions has limits, which can be set only when an emulator starts, but the tests use an emulator that is already running: ${given.url}`,
  )
})

test('sandboxes can run built-in scenarios in a project without a folder of scenarios', async () => {
  vi.stubEnv('WORKSPACE_EMULATOR_URL', '')
  const here = process.cwd()
  process.chdir(tmpdir())
  try {
    const { client, close } = await emulatorForTests({})
    const sandbox = await client.sandbox(undefined, { scenario: 'flaky-network' })
    expect((await sandbox.scenarios.active())?.name).toBe('flaky-network')
    await close()
  } finally {
    process.chdir(here)
  }
})
