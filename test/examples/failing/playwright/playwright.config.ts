import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'

export default defineConfig({
  workers: 1,
  timeout: 300_000,
  outputDir: join(tmpdir(), 'workspace-emulator-failing-playwright'),
  // Without paths, so that the built package is used.
  tsconfig: './tsconfig.json',
})
