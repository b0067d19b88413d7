import { test as base, expect as plain, type TestInfo } from '@playwright/test'
import { requireFiredFaults } from './adapters/testing/fired-faults.ts'
import { matchers } from './adapters/testing/matchers.ts'
import { addReport, reportOn, type TestFailure } from './adapters/testing/report.ts'
import type { WorkspaceFixtures, WorkspaceSharedFixtures } from './adapters/testing/running.ts'
import {
  dashboardLine,
  emulatorForTests,
  isKeptAfterFailure,
  startOfSandboxes,
} from './adapters/testing/running.ts'

/**
 * Playwright's `test` with the fixture `sandbox`: each test that uses it gets its own sandbox of the emulated service. The tests
 * of a worker share one emulator. Web pages on loopback origins may call it without `corsOrigins`. The error of a failed test
 * includes a report of its sandbox. Options: `test.use({ sandboxOptions, emulatorOptions })`, or `use` in the configuration.
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
    const isFailed = info.status !== info.expectedStatus
    try {
      if (isFailed) await tell(info, `${await reportOn(sandbox)}\n${dashboardLine(emulator, sandbox)}`)
      else if (failOnUnfiredFaults) await requireFiredFaults(sandbox)
    } finally {
      if (!isFailed || !isKeptAfterFailure()) await sandbox[Symbol.asyncDispose]()
    }
  },
})

// Playwright prints 300 characters of an attachment, but the whole error. A test that passed unexpectedly has no error yet.
async function tell(info: TestInfo, report: string): Promise<void> {
  const error = info.errors.at(-1)
  if (error?.message === undefined) {
    await info.attach('emulated service', { body: report, contentType: 'text/plain' })
  } else addReport(error as TestFailure, report)
}

/** Playwright's `expect` with the matchers about sandboxes. */
const expect = plain.extend(matchers)

export type { DeliveryMatch } from './adapters/testing/delivered.ts'
export type { ExpectedCount } from './adapters/testing/matcher-result.ts'
export { syncPageClock as syncClock } from './adapters/testing/playwright-clock.ts'
export type { SyncedClock } from './adapters/testing/synced-clock.ts'
export type { WorkspaceFixtures, WorkspaceSharedFixtures }
export { expect, test }
