import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'
import { chromiumPath } from './chromium.ts'

export default defineConfig({
  testDir: '.',
  // What a failure leaves behind: a picture of the page, and what the emulated service has seen.
  outputDir: join(tmpdir(), 'workspace-emulator-browser-example'),
  reporter: 'list',
  // On a machine that is busy a browser takes its time.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // Without paths, so that the package is the built one, as it is where it was installed.
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
