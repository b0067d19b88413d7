import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { tags } from './test/spec/tags.ts'

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url))

/** Files that take several seconds come first, so that no worker has one of them left when the others are done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      /\.slow\.|\/(dashboard|outputs|exec-process|certify|library|presets|start|express)\.test/.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  resolve: {
    // Tests and examples import the package by its name, and get its source.
    alias: [
      { find: /^agent-workspace-emulator$/, replacement: source('index.ts') },
      { find: /^agent-workspace-emulator\/vitest$/, replacement: source('vitest.ts') },
      { find: /^agent-workspace-emulator\/vite$/, replacement: source('vite.ts') },
    ],
  },
  test: {
    tags,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // The files that `init` writes are tests of its users.
    exclude: ['src/cli/init/templates/**', '**/node_modules/**'],
    globalSetup: 'test/support/build.ts',
    setupFiles: 'test/support/real-timers.ts',
    reporters: [
      './test/support/quiet-reporter.ts',
      ...(process.env.GITHUB_ACTIONS ? ['github-actions' as const] : []),
    ],
    // A test that needs more on a busy machine says why.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 25_000 } },
    // A check of a change should not fail by an accident of a shared machine. The report names each test that needed it.
    retry: process.env.CI === undefined ? 0 : 1,
    sequence: { sequencer: LongestFirst },
    // Each test starts what it needs and ends it, so that files can share modules: half the time goes into loading them.
    isolate: false,
    // Most of what a test makes is short-lived: room for it is a twentieth less processor time.
    execArgv: [
      '--max-semi-space-size=32',
      // Most functions run too seldom here to repay their optimization, and later versions of Node have a cheaper one.
      ...(process.version.startsWith('v20.') ? ['--interrupt-budget=600000'] : []),
    ],
    // Left alone, two processors get one worker, although half of the time of all tests is waiting: for a socket, a disk, a
    // timeout or another process.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // Each run but the first gets the unchanged files as they were compiled before.
    experimental: { fsModuleCache: true },
  },
})
