import { test as base, expect as plain } from '@playwright/test'
import type { WorkspaceFixtures, WorkspaceSharedFixtures } from './fixtures.ts'
import { matchers } from './matchers.ts'
import { reportOn } from './report.ts'
import { emulatorForTests, startOfSandboxes } from './running.ts'

/**
 * Playwright's `test` with a sandbox of the emulated service for each test that asks for one, on an emulator that the tests of a
 * worker share. Pages on loopback origins may call it as it is. When a test fails, a report of what its sandbox has seen is
 * attached. Options: `test.use({ worldOptions, emulatorOptions })`, or `use` in the configuration.
 */
export const test = base.extend<WorkspaceFixtures, WorkspaceSharedFixtures>({
  emulatorOptions: [{}, { scope: 'worker', option: true }],
  emulator: [
    async ({ emulatorOptions }, use) => {
      const { client, close } = await emulatorForTests(emulatorOptions)
      await use(client)
      await close()
    },
    { scope: 'worker' },
  ],
  sandboxOptions: [{}, { option: true }],
  sandbox: async ({ emulator, emulatorOptions, sandboxOptions }, use, info) => {
    const sandbox = await emulator.sandbox(undefined, {
      ...startOfSandboxes(emulatorOptions),
      ...sandboxOptions,
    })
    await use(sandbox)
    if (info.status !== info.expectedStatus) {
      await info.attach('emulated service', { body: await reportOn(sandbox), contentType: 'text/plain' })
    }
    await sandbox[Symbol.asyncDispose]()
  },
})

/** Playwright's `expect` with the matchers about sandboxes. */
export const expect = plain.extend(matchers)

export type { DeliveryMatch } from './delivered.ts'
export type { ExpectedCount } from './matcher-result.ts'
export type { WorkspaceFixtures, WorkspaceSharedFixtures }
