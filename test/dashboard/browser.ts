import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from '@playwright/test'
import { connect, type EmulatorClient } from 'agent-workspace-emulator'
import { type InternalOptions, openEmulator, type RunningEmulator } from '../../src/emulator.ts'
import { chromiumPath } from '../examples/browser/chromium.ts'

/** A browser with the dashboard of its own emulator, and the problems that occurred in it. */
export interface Dashboard {
  readonly emulator: RunningEmulator
  /** The same emulator, for the steps of a test outside the browser. */
  readonly client: EmulatorClient
  readonly page: Page
  /** Errors in the console, errors of scripts, and requests to another origin. */
  readonly problems: string[]
  /** Opens a view of the default sandbox. */
  goTo(path: string): Promise<void>
  close(): Promise<void>
}

/** Starts an emulator and a browser. Throws with instructions if Chromium is missing. */
export async function openDashboard(options: InternalOptions = {}): Promise<Dashboard> {
  const executablePath = chromiumPath()
  if (!existsSync('dist/dashboard/index.html'))
    throw new Error('dist/dashboard is missing. Run "npm run build" first.')
  const emulator = await openEmulator({
    port: 0,
    ephemeral: true,
    clock: '2026-11-23T09:00:00.000Z',
    rate: 0,
    ...options,
  })
  const client = connect(emulator.url)
  await client.ready()
  const browser: Browser = await chromium.launch({ executablePath })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' })
  // Milliseconds; only a page that hangs reaches this timeout, even on a slow machine.
  page.setDefaultTimeout(120_000)
  const problems: string[] = []
  page.on('console', (message) => {
    // The browser itself logs each refused call, even if the page shows the reason.
    const isRefusal =
      /status of 4\d\d/.test(message.text()) && message.location().url.includes('/__emulator/')
    if (message.type() === 'error' && !isRefusal) problems.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && new URL(request.url()).origin !== emulator.url)
      problems.push(`a request to ${request.url()}`)
  })
  return {
    emulator,
    client,
    page,
    problems,
    goTo: async (path) => {
      await page.goto(`${emulator.url}/__emulator/ui/#/default/${path}`)
    },
    close: async () => {
      await browser.close()
      await emulator.close()
    },
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** The violations that axe-core finds in the current page, in light and dark mode, by rule and element. */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated from here, it is not a script of the page, whose policy forbids other scripts.
  await page.evaluate(AXE)
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    found.push(
      ...(await page.evaluate(
        async ([tags, scheme]) => {
          const axe = (globalThis as unknown as { axe: AxeRunner }).axe
          const { violations } = await axe.run({ runOnly: { type: 'tag', values: tags as string[] } })
          return violations.flatMap(({ id, nodes }) =>
            nodes.map(
              ({ html, failureSummary }) => `${scheme} ${id}: ${html.slice(0, 160)} ${failureSummary}`,
            ),
          )
        },
        [WCAG, colorScheme] as const,
      )),
    )
  }
  return found
}

interface AxeRunner {
  run(options: object): Promise<{
    readonly violations: readonly {
      readonly id: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
    }[]
  }>
}
