import { chromium, type Page } from '@playwright/test'
import { expect, test } from 'vitest'
import { connect } from '../../src/index.ts'
import { temporaryFile } from '../cli/in-process.ts'
import { chromiumPath } from '../examples/browser/chromium.ts'
import { createBatch, openFrozenEmulator, openPage } from './browser.ts'

const VIEWS = [
  ...['overview', 'timeline', 'requests', 'batches', 'webhooks', 'conduct', 'coverage', 'faults', 'limits'],
  ...['data/pages', 'scenarios', 'sandboxes', 'settings', 'connect', 'faults/new'],
]

/** The fonts of Chromium: one family for text and one for code. */
const fontsOf = (text: string, code: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include>/etc/fonts/fonts.conf</include>
  <match target="pattern">
    <edit name="family" mode="prepend_first" binding="strong"><string>${text}</string></edit>
  </match>
  <match target="pattern">
    <test name="family" qual="any"><string>monospace</string></test>
    <edit name="family" mode="prepend_first" binding="strong"><string>${code}</string></edit>
  </match>
</fontconfig>`

async function fontOf(page: Page, selector: string): Promise<string | undefined> {
  const session = await page.context().newCDPSession(page)
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId })
  return fonts[0]?.familyName
}

/** The controls and titles whose text is cut; a bar of the timeline is as long as its batch. */
const CUT = `[...document.querySelectorAll('button, a:not(.bar), h1, h2, h3, label, .tag, .badge, time')]
  .filter((element) => {
    const { overflowX, textOverflow } = getComputedStyle(element)
    const isHidden = element.getClientRects().length === 0 || element.closest('.hidden') || overflowX === 'visible'
    return !isHidden && textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1
  })
  .map((element) => element.outerHTML.slice(0, 120))`

test.each([
  ['DejaVu Sans', 'DejaVu Sans Mono'],
  ['Liberation Sans', 'Liberation Mono'],
  ['Noto Sans', 'Noto Sans Mono'],
])('with %s no view scrolls sideways and no control is cut', async (text, code) => {
  const FONTCONFIG_FILE = temporaryFile('fonts.conf', fontsOf(text, code))
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    env: { ...process.env, FONTCONFIG_FILE },
  })
  const emulator = await openFrozenEmulator()
  try {
    const sandbox = connect(emulator.url).defaultSandbox
    await createBatch(sandbox, 24)
    await sandbox.clock.advance('10s')
    await sandbox.faults.preset('rate-limited')
    for (const path of ['/data-views', '/data-views', '/agents']) await sandbox.fetch(path)
    const { page, goTo, problems } = await openPage(browser, emulator.url)
    await goTo('overview')
    await page.locator('main h1').waitFor()
    expect(await fontOf(page, 'main h1')).toBe(text)
    const found: string[] = []
    for (const view of VIEWS) {
      // The title of the view before it would be there at once.
      await page.goto('about:blank')
      await goTo(view)
      await page.locator('main h1:visible, main h2:visible').first().waitFor()
      for (const width of [1440, 1024, 768, 390]) {
        await page.setViewportSize({ width, height: 900 })
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
        const at = `${view} at ${width}`
        expect(await page.evaluate('document.documentElement.scrollWidth'), at).toBeLessThanOrEqual(width)
        const cut = (await page.evaluate(CUT)) as string[]
        found.push(...cut.map((each) => `${at}: ${each}`))
      }
    }
    expect([found, problems]).toEqual([[], []])
  } finally {
    await browser.close()
    await emulator.close()
  }
})
