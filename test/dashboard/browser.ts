import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from '@playwright/test'
import { aBatch, connect, type SandboxClient } from 'agent-workspace-emulator'
import { type InternalOptions, openEmulator, type RunningEmulator } from '../../src/emulator/emulator.ts'
import { chromiumPath } from '../examples/browser/chromium.ts'

export interface OpenPage {
  readonly page: Page
  /** Errors in the console, errors of scripts, and requests to another origin. */
  readonly problems: string[]
  /** Opens a view of a sandbox, by default of the default one. */
  goTo(path: string, sandbox?: string): Promise<void>
}

export type Dashboard = Awaited<ReturnType<typeof openDashboard>>

/** Starts a browser and an emulator. Throws with instructions if Chromium is missing. */
export async function openDashboard(options: InternalOptions = {}) {
  const browser = await openBrowser()
  const emulator = await openFrozenEmulator(options)
  const client = connect(emulator.url)
  await client.ready()
  return {
    emulator,
    client,
    ...(await openPage(browser, emulator.url)),
    close: async () => {
      await browser.close()
      await emulator.close()
    },
  }
}

const DESKTOP = { width: 1280, height: 800 }

export async function openBrowser(): Promise<Browser> {
  const executablePath = chromiumPath()
  if (!existsSync('dist/dashboard/index.html'))
    throw new Error('dist/dashboard is missing. Run "npm run build" first.')
  return chromium.launch({ executablePath })
}

/** An emulator whose clock moves only when it is advanced. */
export const openFrozenEmulator = (options: InternalOptions = {}): Promise<RunningEmulator> =>
  openEmulator({ port: 0, ephemeral: true, clock: '2026-11-23T09:00:00.000Z', rate: 0, ...options })

/** Opens an empty page, which shares no cache and no connection with other pages. */
export async function openPage(browser: Browser, url: string): Promise<OpenPage> {
  const page = await browser.newPage({ viewport: DESKTOP, colorScheme: 'light', reducedMotion: 'reduce' })
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
    if (!/^(blob|data):/.test(request.url()) && new URL(request.url()).origin !== url)
      problems.push(`a request to ${request.url()}`)
  })
  return {
    page,
    problems,
    goTo: async (path, sandbox = 'default') => {
      await page.goto(`${url}/__emulator/ui/#/${sandbox}/${path}`)
    },
  }
}

export async function createBatch(
  sandbox: SandboxClient,
  items: number,
  label = 'invoices',
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const json = aBatch({ items, metadata: { label } })
  const response = await sandbox.fetch('/batch-predictions', { json, headers })
  return ((await response.json()) as { id: string }).id
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

type Scheme = 'dark' | 'light'

/** The violations that axe-core finds in the current page, by rule and element: colours in each scheme, all else once. */
export async function violations(
  page: Page,
  schemes: readonly Scheme[] = ['dark', 'light'],
): Promise<string[]> {
  // Evaluated from here, it is not a script of the page, whose policy forbids other scripts.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE)
  const check = async (runOnly: string[], enabled: boolean, scheme?: Scheme) => {
    if (scheme !== undefined) await page.emulateMedia({ colorScheme: scheme })
    return page.evaluate(
      async ([runOnly, enabled, scheme]) => {
        const axe = (globalThis as unknown as { axe: AxeRunner }).axe
        const rules = { 'color-contrast': { enabled } }
        const { violations } = await axe.run({ runOnly, rules, resultTypes: ['violations'] })
        return violations.flatMap(({ id, nodes }) =>
          nodes.map(
            ({ html, failureSummary }) => `${scheme ?? 'any'} ${id}: ${html.slice(0, 160)} ${failureSummary}`,
          ),
        )
      },
      [runOnly, enabled, scheme] as const,
    )
  }
  // A change of the scheme draws the whole page again, so the current one comes first.
  const isDark = await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches')
  const [first, ...others] = isDark === (schemes[0] === 'dark') ? schemes : schemes.toReversed()
  const found = await check(WCAG, first !== undefined, first)
  for (const scheme of others) found.push(...(await check(['color-contrast'], true, scheme)))
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
