import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'

export default defineConfig({
  // Playwright leaves packages in node_modules unchanged; here the package is the checkout.
  build: { external: ['**/dist/*'] },
  workers: 1,
  timeout: 300_000,
  outputDir: join(tmpdir(), 'workspace-emulator-failing-playwright'),
  // Without paths, so that the built package is used.
  tsconfig: './tsconfig.json',
})
