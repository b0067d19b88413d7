import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { tags } from './test/spec/tags.ts'

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url))

/** Files that take ten seconds and more come first, so that no worker has one of them left when the others are done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      /\.slow\.|\/test\/(dashboard|spec\/express)/.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  resolve: {
    // Tests and examples import the package by its name, and get its source.
    alias: [
      { find: /^agent-workspace-emulator$/, replacement: source('index.ts') },
      { find: /^agent-workspace-emulator\/vitest$/, replacement: source('vitest.ts') },
    ],
  },
  test: {
    tags,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    // Only a test that hangs reaches this: a machine that is busy with something else may take thirty times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    sequence: { sequencer: LongestFirst },
    // Each test starts what it needs and ends it, so that files can share modules: half the time goes into loading them.
    isolate: false,
    // Most of what a test makes is short-lived: room for it is a twentieth less processor time.
    execArgv: ['--max-semi-space-size=32'],
    // Left alone, two processors get one worker, although many tests wait for a socket, a disk or another process.
    maxWorkers: Math.max(3, availableParallelism() - 1),
  },
})
