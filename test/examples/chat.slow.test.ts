import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Browser, chromium, type Page } from '@playwright/test'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { chromiumPath } from './browser/chromium.ts'

// The app of docs/guide/frontend.md, in a project that has what `init --endpoints` writes and nothing else.
const PACKAGES = [
  'react',
  'react-dom',
  '@tanstack/react-query',
  '@types/react',
  '@types/react-dom',
  '@types/node',
  'vite',
  'zod',
]

let folder: string
let server: ChildProcess
let url: string
let browser: Browser

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chat-'))
  cpSync(resolve('test/examples/chat'), folder, { recursive: true })
  for (const name of [...PACKAGES, 'agent-workspace-emulator']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(name === 'agent-workspace-emulator' ? resolve('.') : resolve('node_modules', name), link)
  }
  execFileSync(process.execPath, [resolve('dist/cli.js'), 'init', '--endpoints', '--yes'], { cwd: folder })
  const vite = resolve('node_modules/vite/bin/vite.js')
  const env = { ...process.env, NO_COLOR: '1' }
  server = spawn(process.execPath, [vite, '--host', '127.0.0.1', '--port', '0'], { cwd: folder, env })
  url = await addressOf(server)
  // A proxy that does not exist: only addresses of this machine go around it.
  const proxy = { server: 'http://127.0.0.1:9', bypass: '127.0.0.1' }
  browser = await chromium.launch({ executablePath: chromiumPath(), proxy })
})

afterAll(async () => {
  await browser?.close()
  server?.kill()
  if (server?.exitCode === null) await once(server, 'exit')
  rmSync(folder, { recursive: true, force: true })
})

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  let printed = ''
  for await (const chunk of stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    printed += chunk
    const [, found] = /Local: +(http:\S+)/.exec(printed) ?? []
    if (found !== undefined) return found
  }
  throw new Error(printed)
}

/** The app in a new tab, with what it logged as an error. */
async function opened(
  screen: string,
  width = 1280,
  context = browser.newContext({ viewport: { width, height: 800 } }),
) {
  const page = await (await context).newPage()
  page.setDefaultTimeout(15_000)
  const errors: string[] = []
  page.on('pageerror', (error) => void errors.push(String(error)))
  onTestFinished(() => page.close())
  await page.goto(`${url}#${screen}`)
  return { page, errors, context: await context }
}

const control = (path: string, body: object, method = 'POST') =>
  fetch(`${url}__emulator${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Keeps a picture where SHOW_PAGES names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const { SHOW_PAGES } = process.env
  if (SHOW_PAGES !== undefined) await page.screenshot({ path: join(SHOW_PAGES, `${name}.png`) })
}

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Question').fill(question)
  await page.getByRole('button', { name: 'Send' }).click()
}

test('the app has no type errors', () => {
  const tsc = resolve('node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.json'], { cwd: folder, encoding: 'utf8' })
})

test.each([1280, 390])('at %i pixels, each screen shows the data of the emulator and fits', async (width) => {
  const { page, errors } = await opened('Chat', width)
  const shown = {
    Chat: 'Ask about the pages of your teamspace.',
    'Chat/conversation-takeoff': 'Pier 3 needs 412 m³',
    Search: 'Search',
    Pages: 'Site handbook',
    Files: 'Invoice 1 Steel.pdf',
    Batches: 'Budget.csv',
  }
  for (const [place, text] of Object.entries(shown)) {
    await page.goto(`${url}#${place}`)
    await page.getByText(text).first().waitFor()
    await picture(page, `${place.replace('/', '-')}-${width}`)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  }
  expect(errors).toEqual([])
})

test('an answer is streamed, and is there after a reload and in another tab', async () => {
  const { page, context } = await opened('Chat')
  await ask(page, 'Where is the handbook?')
  const answer = page.locator('.agent', { hasText: 'Site handbook' })
  await answer.waitFor()
  await page.waitForURL(/#Chat\/.+/)
  await page.reload()
  await answer.waitFor()
  const other = await opened(new URL(page.url()).hash.slice(1), 1280, Promise.resolve(context))
  await other.page.locator('.agent', { hasText: 'Site handbook' }).waitFor()
  await picture(page, 'Chat-answered')
  expect(await page.locator('.user').allTextContents()).toEqual(['Where is the handbook?'])
})

test('an answer that breaks off in the stream is read again, not asked for again', async () => {
  await control('/faults', { preset: 'cut-mid-body', match: { operation: 'converse.create' } })
  const { page } = await opened('Chat')
  await ask(page, 'Which crane stands in the north?')
  await page.getByRole('button', { name: 'Read the answer again' }).waitFor()
  await picture(page, 'Chat-lost')
  await page.getByRole('button', { name: 'Read the answer again' }).click()
  await page.waitForURL(/#Chat\/.+/)
  await page.locator('.agent:not([aria-busy])').waitFor()
  expect(await page.locator('.user').allTextContents()).toEqual(['Which crane stands in the north?'])
})

test('a page is created after the wait that a 429 asks for, with a countdown', async () => {
  const { page } = await opened('Pages')
  await page.getByText('Site handbook').waitFor()
  await page.clock.install()
  await control('/faults', { preset: 'rate-limited', times: 1, match: { operation: 'pages.create' } })
  await page.getByLabel('Name').fill('Roof plan')
  await page.getByRole('button', { name: 'Create' }).click()
  const wait = page.getByText(/The next attempt is in \d+ s/)
  await wait.waitFor()
  await picture(page, 'Pages-429')
  const seconds = Number(/(\d+) s/.exec((await wait.textContent()) ?? '')?.[1])
  await page.clock.runFor((seconds + 1) * 1_000)
  await page.getByText('Roof plan').waitFor()
})

test('search finds the pages of the emulator', async () => {
  const { page } = await opened('Search')
  await page.getByLabel('Search').fill('handb')
  await page.getByText('Site handbook').waitFor()
  await picture(page, 'Search-found')
  await page.getByLabel('Search').fill('no such page')
  await page.getByText('No page has this in its name.').waitFor()
})

test('a file is uploaded, a batch uses it, and its progress and results are shown in both tabs', async () => {
  await control('/clock', { rate: 0 }, 'PATCH')
  const { page, context } = await opened('Files')
  const file = { name: 'Roof tiles.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(120_000, 'x') }
  await page.getByLabel('Upload').setInputFiles(file)
  await page.getByText('pdf, 3 pages').first().waitFor()
  const other = await opened('Batches', 1280, Promise.resolve(context))
  await other.page.getByText('Start').waitFor()
  await page.goto(`${url}#Batches`)
  await page.getByLabel('Roof tiles.pdf').check()
  await page.getByRole('button', { name: 'Start' }).click()
  for (const tab of [page, other.page]) await tab.getByText('0 of 1 finished').waitFor()
  await picture(page, 'Batches-running')
  expect((await control('/clock/advance', { by: '24h' })).status).toBe(200)
  for (const tab of [page, other.page]) await tab.getByText('1 of 1 finished').waitFor()
  await page.getByRole('cell').first().waitFor()
  await picture(page, 'Batches-done')
  await page.setViewportSize({ width: 390, height: 800 })
  await picture(page, 'Batches-done-390')
})
