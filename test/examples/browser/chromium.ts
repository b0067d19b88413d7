import { existsSync } from 'node:fs'

const USUAL = [
  // Without windows, which no test looks at: it takes a third less processor time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** The path of Chromium: from CHROMIUM_PATH or CHROME_PATH, or a usual place. Throws if there is none. */
export function chromiumPath(): string {
  const { CHROMIUM_PATH, CHROME_PATH } = process.env
  const found = [CHROMIUM_PATH, CHROME_PATH, ...USUAL].find((path) => path !== undefined && existsSync(path))
  if (found !== undefined) return found
  throw new Error(
    'No Chromium found: apt-get install chromium-headless-shell (or chromium), or name one in CHROMIUM_PATH (npx playwright install chromium prints where it puts its own).',
  )
}
