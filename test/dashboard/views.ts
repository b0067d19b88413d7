import type { Browser } from '@playwright/test'
import { connect, type SandboxClient } from 'agent-workspace-emulator'
import { afterAll, test as base, beforeAll, expect, type TestContext, vi } from 'vitest'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import {
  type Dashboard,
  type OpenPage,
  openBrowser,
  openDashboard,
  openFrozenEmulator,
  openPage,
} from './browser.ts'

/** A dashboard for the tests of one file. @param prepare what is done before the first of them */
export function sharedDashboard(prepare: (opened: Dashboard) => unknown = () => {}): () => Dashboard {
  let opened: Dashboard | undefined
  beforeAll(async () => {
    opened = await openDashboard()
    await prepare(opened)
  })
  afterAll(() => opened?.close())
  return () => {
    if (opened === undefined) throw new Error('the dashboard is open within tests only')
    return opened
  }
}

// More pages would only wait for each other: drawing and checking a page keeps a processor busy.
const PAGES = 2

interface View extends OpenPage {
  readonly sandbox: SandboxClient
  readonly emulator: RunningEmulator
  openPageOf(url: string): Promise<OpenPage>
}

type Context = View & Pick<TestContext, 'expect' | 'onTestFinished'>

/**
 * Opens an emulator and a browser for the tests of a file. @returns a function in place of `test`: each test has its own sandbox,
 * and a page that no other test uses meanwhile
 */
export function testsOfViews() {
  // Drawing and checking a page takes a browser seconds on a busy machine, and a test opens up to fourteen.
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })
  let browser: Browser
  let emulator: RunningEmulator
  const free: OpenPage[] = []
  const waiting: ((opened: OpenPage) => void)[] = []

  beforeAll(async () => {
    browser = await openBrowser()
    emulator = await openFrozenEmulator({ countCoverage: true })
    for (let n = 0; n < PAGES; n++) release(await openPage(browser, emulator.url))
  })

  afterAll(async () => {
    await browser?.close()
    await emulator?.close()
  })

  /** Lends a page to the test that has waited longest. */
  function release(opened: OpenPage): void {
    const next = waiting.shift()
    if (next === undefined) free.push(opened)
    else next(opened)
  }

  // To load the page again for each test would take a tenth longer; only a failed test leaves a page behind that the next test
  // cannot use.
  const { concurrent } = base.extend<{ view: View }>({
    view: async ({ task }, use) => {
      const sandbox = await connect(emulator.url).sandbox()
      const opened = free.pop() ?? (await new Promise<OpenPage>((resolve) => waiting.push(resolve)))
      const { page, problems, goTo } = opened
      const openPageOf = (url: string) => openPage(browser, url)
      await use({ ...opened, goTo: (path) => goTo(path, sandbox.name), sandbox, emulator, openPageOf })
      const found = problems.splice(0)
      if (task.result?.errors === undefined && found.length === 0) release(opened)
      else {
        await page.close()
        release(await openPage(browser, emulator.url))
      }
      expect(found).toEqual([])
    },
  })
  return (title: string, body: (context: Context) => Promise<void>): void => {
    concurrent(title, ({ expect, onTestFinished, view }) => body({ ...view, expect, onTestFinished }))
  }
}
