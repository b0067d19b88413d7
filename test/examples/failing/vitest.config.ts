import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['failing.ts'],
    maxWorkers: 1,
    // Only the test with its own timeout is expected to reach it.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
