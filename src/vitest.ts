import { test as base, expect, type TestAPI } from 'vitest'
import type { DeliveryMatch } from './adapters/testing/delivered.ts'
import { requireFiredFaults } from './adapters/testing/fired-faults.ts'
import type { ExpectedCount } from './adapters/testing/matcher-result.ts'
import { matchers } from './adapters/testing/matchers.ts'
import { addReport, reportOn } from './adapters/testing/report.ts'
import type { WorkspaceFixtures, WorkspaceSharedFixtures } from './adapters/testing/running.ts'
import { emulatorForTests, startOfSandboxes } from './adapters/testing/running.ts'
import type { RequestMatch, SandboxClient } from './index.ts'

/**
 * Vitest's `test` with a sandbox of the emulated service for each test that asks for one, on an emulator that the tests of a file
 * share. Sandboxes do not see each other, so that tests run in parallel as they like. When a test fails, its error also tells what
 * its sandbox has seen.
 *
 * Options of the sandboxes of a suite: `test.override({ sandboxOptions: { ... } })` in its `describe`. Those of a file or of a project
 * make a test of its own: `test.extend('emulatorOptions', { scope: 'file' }, { ... })`, since an override at the top of a file
 * reaches all files of a worker where Vitest runs them without isolation.
 * @example
 * test('makes a page', async ({ sandbox }) => {
 *   await makePage({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey })
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
  sandbox: async ({ emulator, emulatorOptions, sandboxOptions, failOnUnfiredFaults, task }, use) => {
    const sandbox = await emulator.sandbox(undefined, {
      ...startOfSandboxes(emulatorOptions),
      ...sandboxOptions,
    })
    const earlier = task.result?.errors?.length ?? 0
    await use(sandbox)
    // Hooks for failed tests run when fixtures are gone; the errors of this try are known by now, and not yet reported.
    const error = task.result?.errors?.slice(earlier).at(-1)
    try {
      if (error !== undefined) addReport(error, await reportOn(sandbox))
      else if (failOnUnfiredFaults) await requireFiredFaults(sandbox)
    } finally {
      await sandbox[Symbol.asyncDispose]()
    }
  },
})

expect.extend(matchers)

/** What a matcher about a sandbox is, and nothing on any other value. */
type OnSandbox<T, M> = T extends SandboxClient ? M : never

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: an interface merges with one whose parameters are written alike, no other.
  interface Matchers<T = any> {
    /** Requests that match have come: at least one, unless `count` says otherwise; a number is exactly so many. */
    toHaveReceived: OnSandbox<T, (match: RequestMatch, count?: ExpectedCount) => Promise<void>>
    /** Webhooks that match were delivered: at least one, unless `count` says otherwise; a number is exactly so many. */
    toHaveDelivered: OnSandbox<T, (match?: DeliveryMatch, count?: ExpectedCount) => Promise<void>>
    /** Every client that a 429 or 503 has told to wait, by Retry-After, has come again no earlier. Rejects when nobody was told to. */
    toHaveRespectedRetryAfter: OnSandbox<T, (match?: RequestMatch) => Promise<void>>
    /** Every fault rule of the sandbox has fired at least once. Rejects when there is none. */
    toHaveFiredAllFaults: OnSandbox<T, () => Promise<void>>
  }
}

export type { DeliveryMatch, ExpectedCount, WorkspaceFixtures, WorkspaceSharedFixtures }
export { expect, matchers, test }
