import { test as base, expect as plain, type TestInfo } from '@playwright/test'
import { endTest } from './testing/failure.ts'
import { matchers } from './testing/matchers.ts'
import { addReport, type TestFailure } from './testing/report.ts'
import type { WorkspaceFixtures, WorkspaceSharedFixtures } from './testing/running.ts'
import { emulatorForTests, startOfSandboxes } from './testing/running.ts'

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
  recordFailures: [undefined, { option: true }],
  sandbox: async (
    { emulator, emulatorOptions, sandboxOptions, failOnUnfiredFaults, recordFailures },
    use,
    info,
  ) => {
    const sandbox = await emulator.sandbox(undefined, {
      ...startOfSandboxes(emulatorOptions),
      ...sandboxOptions,
    })
    await use(sandbox)
    await endTest(
      { emulator, sandbox, failOnUnfiredFaults, recordFailures },
      { id: info.testId, file: info.file, name: info.titlePath.slice(1).join(' ') },
      info.status === info.expectedStatus ? undefined : (report) => tell(info, report),
    )
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

export type { DeliveryMatch } from './testing/delivered.ts'
export type { ExpectedCount } from './testing/matcher-result.ts'
export { syncPageClock as syncClock } from './testing/playwright-clock.ts'
export type { SyncedClock } from './testing/synced-clock.ts'
export type { WorkspaceFixtures, WorkspaceSharedFixtures }
export { expect, test }
