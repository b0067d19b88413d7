import { existsSync } from 'node:fs'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { connect } from '../../src/index.ts'
import { openFrozenEmulator } from './browser.ts'

const PATH = process.env.FIREFOX_PATH ?? '/usr/bin/firefox-esr'

let [browser, emulator]: [Browser | undefined, RunningEmulator | undefined] = [undefined, undefined]

beforeAll(async () => {
  if (!existsSync(PATH))
    throw new Error(
      'Firefox is missing: sudo apt-get install firefox-esr, or set FIREFOX_PATH to the path of one.',
    )
  // Over WebDriver BiDi.
  browser = await puppeteer.launch({
    ...{ browser: 'firefox', executablePath: PATH, headless: true },
    defaultViewport: { width: 1280, height: 800 },
  })
  emulator = await openFrozenEmulator()
})

afterAll(async () => {
  await browser?.close()
  await emulator?.close()
})

async function open(view: string) {
  const { url } = emulator as RunningEmulator
  const page = await (browser as Browser).newPage()
  page.setDefaultTimeout(120_000)
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(`${url}/__emulator/ui/#/default/${view}`)
  return { page, problems, sandbox: connect(url).defaultSandbox }
}

const see = (page: Page, text: string) => page.waitForSelector(`::-p-text(${text})`)

async function type(page: Page, ...keys: readonly Parameters<Page['keyboard']['press']>[0][]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

async function withControl(page: Page, key: 'a' | 'k' | 's'): Promise<void> {
  await page.keyboard.down('Control')
  await page.keyboard.press(key)
  await page.keyboard.up('Control')
}

async function replaceText(page: Page, text: string): Promise<void> {
  await withControl(page, 'a')
  await page.keyboard.type(text)
}

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let n = 0; n < 120; n++) {
    await page.keyboard.press('Tab')
    const words = await page.evaluate(
      `(document.activeElement.getAttribute('aria-label') ?? '') + ' ' + (document.activeElement.textContent ?? '')`,
    )
    if (name.test(String(words).trim())) return
  }
  throw new Error(`Tab does not lead to ${name}`)
}

test('the main tasks can be done by keyboard in Firefox: read a request, make it fail, advance the clock, edit a record', async () => {
  const { page, problems, sandbox } = await open('requests')
  await sandbox.fetch('/data-views')
  await page.waitForSelector('tr[data-id]')
  await type(page, 'j')
  await see(page, 'Copy as curl')
  await type(page, 'f')
  await see(page, 'Arm rule')
  await tabTo(page, /^Rule as JSON/)
  await replaceText(page, '{"preset": "server-error", "times": 1}')
  await tabTo(page, /Arm rule/)
  await type(page, 'Enter')
  await see(page, 'The rule is armed.')
  expect((await sandbox.fetch('/data-views')).status).toBe(500)
  const before = Date.parse((await sandbox.clock.show()).now)
  await type(page, 'Escape', '+', 'h')
  await expect.poll(async () => Date.parse((await sandbox.clock.show()).now)).toBe(before + 3_600_000)
  await type(page, 'g', 'd')
  await see(page, 'memberships')
  await tabTo(page, /^pages/)
  await type(page, 'Enter')
  await see(page, 'page-cranes')
  await tabTo(page, /^page-handbook/)
  await type(page, 'Enter')
  await page.waitForSelector('[role=tab][aria-selected=true]::-p-text(Form)')
  await type(page, ']')
  await page.waitForSelector('[aria-label="Record as JSON"]')
  await tabTo(page, /^Record as JSON/)
  const text = String(await page.evaluate('document.activeElement.value'))
  await replaceText(page, JSON.stringify({ ...JSON.parse(text), name: 'By keyboard' }))
  await withControl(page, 's')
  await see(page, 'page-handbook is saved.')
  expect(problems).toEqual([])
  await page.close()
})
