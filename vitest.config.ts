import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Each test starts what it needs and ends it, so that files can share modules: half the time goes into loading them.
    isolate: false,
  },
})
