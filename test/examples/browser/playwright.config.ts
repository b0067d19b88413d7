import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'
import { chromiumPath } from './chromium.ts'

export default defineConfig({
  // Playwright leaves packages in node_modules unchanged; here the package is the checkout.
  build: { external: ['**/dist/*'] },
  testDir: '.',
  // The folder for screenshots and the requests of the emulated service after a failure.
  outputDir: join(tmpdir(), 'workspace-emulator-browser-example'),
  reporter: 'list',
  // A browser is slow on a busy machine.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // Without paths, so that the built package is used, as after an installation.
  tsconfig: './tsconfig.json',
  use: {
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: chromiumPath(),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
})
