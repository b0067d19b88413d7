import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['failing.ts'],
    maxWorkers: 1,
    // Only the test that is meant to be given up takes long.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
