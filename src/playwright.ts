import { test as base, expect as plain } from '@playwright/test'
import { requireFiredFaults } from './adapters/testing/fired-faults.ts'
import { matchers } from './adapters/testing/matchers.ts'
import { reportOn } from './adapters/testing/report.ts'
import type { WorkspaceFixtures, WorkspaceSharedFixtures } from './adapters/testing/running.ts'
import { emulatorForTests, startOfSandboxes } from './adapters/testing/running.ts'

/**
 * Playwright's `test` with a sandbox of the emulated service for each test that asks for one, on an emulator that the tests of a
 * worker share. Pages on loopback origins may call it as it is. When a test fails, a report of what its sandbox has seen is
 * attached. Options: `test.use({ sandboxOptions, emulatorOptions })`, or `use` in the configuration.
 */
const test = base.extend<WorkspaceFixtures, WorkspaceSharedFixtures>({
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
  failOnUnfiredFaults: [false, { option: true }],
  sandbox: async ({ emulator, emulatorOptions, sandboxOptions, failOnUnfiredFaults }, use, info) => {
    const sandbox = await emulator.sandbox(undefined, {
      ...startOfSandboxes(emulatorOptions),
      ...sandboxOptions,
    })
    await use(sandbox)
    try {
      if (info.status !== info.expectedStatus) {
        await info.attach('emulated service', { body: await reportOn(sandbox), contentType: 'text/plain' })
      } else if (failOnUnfiredFaults) await requireFiredFaults(sandbox)
    } finally {
      await sandbox[Symbol.asyncDispose]()
    }
  },
})

/** Playwright's `expect` with the matchers about sandboxes. */
const expect = plain.extend(matchers)

export type { DeliveryMatch } from './adapters/testing/delivered.ts'
export type { ExpectedCount } from './adapters/testing/matcher-result.ts'
export type { WorkspaceFixtures, WorkspaceSharedFixtures }
export { expect, test }
