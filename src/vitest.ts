import { test as base, expect, type TestAPI } from 'vitest'
import type { ConductOptions, RequestMatch, SandboxClient } from './index.ts'
import type { DeliveryMatch } from './testing/delivered.ts'
import { endTest } from './testing/failure.ts'
import type { ExpectedCount } from './testing/matcher-result.ts'
import { matchers } from './testing/matchers.ts'
import { addReport } from './testing/report.ts'
import type { WorkspaceFixtures, WorkspaceSharedFixtures } from './testing/running.ts'
import { emulatorForTests, startOfSandboxes } from './testing/running.ts'
import type { SyncedClock } from './testing/synced-clock.ts'
import { syncClock } from './testing/vitest-clock.ts'

/**
 * Vitest's `test` with the fixture `sandbox`: each test that uses it gets its own sandbox of the emulated service. The tests of a
 * file share one emulator. Sandboxes are isolated from each other, so tests can run in parallel. The error of a failed test
 * includes a report of its sandbox.
 *
 * Sandbox options for a suite: call `test.override({ sandboxOptions: { ... } })` in its `describe`. Options for a file or a
 * project: extend the test with `test.extend('emulatorOptions', { scope: 'file' }, { ... })`. An override at the top of a file
 * would reach all files of a worker when Vitest runs them without isolation.
 * @example
 * test('creates a page', async ({ sandbox }) => {
 *   await createPage({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey })
 *   await expect(sandbox).toHaveReceived({ operation: 'pages.create' })
 * })
 */
const test: TestAPI<WorkspaceFixtures & WorkspaceSharedFixtures> = base.extend<{
  $test: WorkspaceFixtures
  $file: WorkspaceSharedFixtures
}>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures this one needs.
  emulatorOptions: [({}, use) => use({}), { scope: 'file' }],
  emulator: [
    async ({ emulatorOptions }, use) => {
      const { client, close } = await emulatorForTests(emulatorOptions)
      await use(client)
      await close()
    },
    { scope: 'file' },
  ],
  sandboxOptions: {},
  failOnUnfiredFaults: false,
  recordFailures: undefined,
  sandbox: async (
    { emulator, emulatorOptions, sandboxOptions, failOnUnfiredFaults, recordFailures, task },
    use,
  ) => {
    const sandbox = await emulator.sandbox(undefined, {
      ...startOfSandboxes(emulatorOptions),
      ...sandboxOptions,
    })
    const earlier = task.result?.errors?.length ?? 0
    await use(sandbox)
    // Vitest runs hooks for failed tests after it has removed fixtures. Here the errors of this attempt are not yet reported.
    const error = task.result?.errors?.slice(earlier).at(-1)
    await endTest(
      { emulator, sandbox, failOnUnfiredFaults, recordFailures },
      { id: task.id, file: task.file.name, name: task.fullTestName },
      error && ((report) => addReport(error, report)),
    )
  },
})

expect.extend(matchers)

/** The type of a matcher for a sandbox; `never` for any other value, so that its use does not compile. */
type OnSandbox<T, M> = T extends SandboxClient ? M : never

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: an interface merges with one whose parameters are written alike, no other.
  interface Matchers<T = any> {
    /** Matching requests were received. Default of `count`: at least one; a number is an exact count. */
    toHaveReceived: OnSandbox<T, (match: RequestMatch, count?: ExpectedCount) => Promise<void>>
    /** Matching webhooks were delivered. Default of `count`: at least one; a number is an exact count. */
    toHaveDelivered: OnSandbox<T, (match?: DeliveryMatch, count?: ExpectedCount) => Promise<void>>
    /** After each 429 or 503 with Retry-After the client has waited that long. Rejects when there was no such response. */
    toHaveRespectedRetryAfter: OnSandbox<T, (match?: RequestMatch) => Promise<void>>
    /** The report on the conduct of the clients has no error. Rejects when the sandbox has received no request. */
    toHaveBehaved: OnSandbox<T, (options?: ConductOptions) => Promise<void>>
    /** Every fault rule of the sandbox has fired at least once. Rejects when there are no rules. */
    toHaveFiredAllFaults: OnSandbox<T, () => Promise<void>>
  }
}

export type { DeliveryMatch, ExpectedCount, SyncedClock, WorkspaceFixtures, WorkspaceSharedFixtures }
export { expect, matchers, syncClock, test }
