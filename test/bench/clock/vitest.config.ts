import { defineConfig } from 'vitest/config'

/** Tests of a user: the built package, which Node loads as it loads any dependency, and one fresh process. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['cases.ts'],
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 30_000,
  },
})
