import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { requirements } from './test/spec/requirements.ts'

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url))

/** `U001` to `U075`: open items of the specification; `T01` to `T40`: places where it disagrees with itself. */
const numbered = (letter: string, digits: number, last: number) =>
  Array.from({ length: last }, (_, index) => ({ name: letter + String(index + 1).padStart(digits, '0') }))

export default defineConfig({
  resolve: {
    // Tests and examples import the package by its name, and get its source.
    alias: [
      { find: /^agent-workspace-emulator$/, replacement: source('index.ts') },
      { find: /^agent-workspace-emulator\/vitest$/, replacement: source('adapters/testing/vitest.ts') },
    ],
  },
  test: {
    // What a test shows: `vitest run --tags-filter=R131` runs the tests of a requirement. A tag that is not listed is an error.
    tags: [...requirements.map(({ id }) => ({ name: id })), ...numbered('U', 3, 75), ...numbered('T', 2, 40)],
    projects: [
      {
        extends: true,
        test: {
          name: 'socket',
          provide: { transport: 'socket' },
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
        },
      },
      // The same requests through the Express application, sent by supertest: those of the operations, and of all that send any in
      // `npm run test:long`.
      {
        extends: true,
        test: {
          name: 'express',
          provide: { transport: 'express' },
          include: [process.env.EXPRESS_TESTS ?? 'test/spec/operations/*.test.ts'],
        },
      },
    ],
    // Only a test that hangs reaches this: a machine that is busy with something else may take thirty times as long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Each test starts what it needs and ends it, so that files can share modules: half the time goes into loading them.
    isolate: false,
    // One more than there are processors: many tests wait for a socket, a disk or another process.
    maxWorkers: availableParallelism() + 1,
  },
})
