import { test as base, expect as plain, type TestInfo } from '@playwright/test'
import { counted } from './core/words.ts'
import { endTest } from './testing/failure.ts'
import { matchers } from './testing/matchers.ts'
import { addReport, type TestFailure } from './testing/report.ts'
import type { WorkspaceFixtures, WorkspaceSharedFixtures } from './testing/running.ts'
import { emulatorForTests, startOfSandboxes } from './testing/running.ts'

/** What Chromium says when a page of another host asks this machine: the request is not sent, and the page sees a network error. */
const KEPT_FROM_US =
  /^Access to .+ has been blocked by CORS policy: Permission was denied for this request to access the .+ address space/

/** How often it said so in the test that runs. */
let keptRequests = 0

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
  context: async ({ context }, use) => {
    context.on('console', (message) => {
      if (KEPT_FROM_US.test(message.text())) keptRequests += 1
    })
    await use(context)
  },
  sandbox: async (
    { emulator, emulatorOptions, sandboxOptions, failOnUnfiredFaults, recordFailures },
    use,
    info,
  ) => {
    const sandbox = await emulator.sandbox(undefined, {
      ...startOfSandboxes(emulatorOptions),
      ...sandboxOptions,
    })
    keptRequests = 0
    await use(sandbox)
    await endTest(
      { emulator, sandbox, failOnUnfiredFaults, recordFailures },
      { id: info.testId, file: info.file, name: info.titlePath.slice(1).join(' ') },
      info.status === info.expectedStatus
        ? undefined
        : (report) => tell(info, [report, ...keptLines()].join('\n')),
    )
  },
})

function keptLines(): string[] {
  if (keptRequests === 0) return []
  const requests = `${counted(keptRequests, 'request')} of a page on another host`
  return [
    `Chromium has not sent ${requests}: such a page needs a permission to call this machine.`,
    "Write test.use({ permissions: ['local-network-access'] }), or open the page at http://localhost.",
  ]
}

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
