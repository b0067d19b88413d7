import type { Page, Request } from '@playwright/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RequestLog } from '../../src/core/log/request-log.ts'
import { createBatch, type Dashboard, openDashboard } from './browser.ts'

// These assertions do not depend on the speed of the machine: npm run bench:dashboard measures milliseconds.
const ROWS = 3_000
const MAX_ROWS = 60

let dashboard: Dashboard

const get = () =>
  fetch(`${dashboard.emulator.baseUrl}/data-views`, { headers: { authorization: 'Bearer live_demo_owner' } })

beforeAll(async () => {
  dashboard = await openDashboard({ limits: false })
  // The log of a sandbox is limited to 1,000 requests.
  const log = new RequestLog(ROWS)
  Object.assign(dashboard.emulator.sandbox, { log })
  await get()
  const [entry] = log.entries()
  if (entry === undefined) throw new Error('there is no entry')
  for (let n = 1; n < ROWS; n++) log.add({ ...entry, id: log.count('default') })
})

afterAll(() => dashboard?.close())

const rowsInPage = () => dashboard.page.locator('tr[data-id]').count()

test('the page contains only the visible rows of thousands of requests, at every scroll position', async () => {
  const { page, goTo } = dashboard
  await goTo('requests')
  await page.getByText(`${ROWS.toLocaleString('en')} requests kept`).waitFor()
  expect(await rowsInPage()).toBeLessThanOrEqual(MAX_ROWS)
  const list = page.getByLabel(/^Requests, newest first/)
  for (const share of [0.5, 1]) {
    await list.evaluate((element, at) => element.scrollTo(0, at * element.scrollHeight), share)
    const wanted = share === 1 ? ROWS + 1 : ROWS / 2
    await expect
      .poll(async () => Number(await page.locator('tr[data-id]').last().getAttribute('aria-rowindex')))
      .toBeGreaterThanOrEqual(wanted)
    expect(await rowsInPage()).toBeLessThanOrEqual(MAX_ROWS)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(rowsInPage).toBeLessThanOrEqual(MAX_ROWS)
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('the page is rendered at most once per frame, however many requests arrive', async () => {
  const { page, goTo } = dashboard
  await goTo('requests')
  const list = page.getByLabel(/^Requests, newest first/)
  // New requests must not move the row that the user is reading.
  await list.evaluate((element) => element.scrollTo(0, 3_200))
  const read = page.locator('tr[aria-rowindex="103"]')
  const id = await read.getAttribute('data-id')
  await get()
  await page.locator(`tr[aria-rowindex="104"][data-id="${id}"]`).waitFor()
  expect(await list.evaluate((element) => element.scrollTop)).toBe(3_232)
  await list.evaluate((element) => element.scrollTo(0, 0))
  await page.evaluate(`
    window.most = 0
    let inFrame = 0
    const frame = () => {
      inFrame = 0
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
    new MutationObserver(() => {
      inFrame += 1
      window.most = Math.max(window.most, inFrame)
    }).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true })
  `)
  for (let n = 0; n < 200; n++) await get()
  const data = await dashboard.client.defaultSandbox.requests.list({ limit: 1 })
  await page.locator(`tr[data-id="${data[0]?.id}"]`).waitFor()
  expect(await page.evaluate('window.most')).toBe(1)
  expect(await rowsInPage()).toBeLessThanOrEqual(MAX_ROWS)
})

const BATCHES = 150

test('the page contains only the visible bars of many batches, at every scroll position', async () => {
  const { page, client, goTo } = dashboard
  const ids: string[] = []
  for (let n = 0; n < BATCHES; n++) ids.push(await createBatch(client.defaultSandbox, 1))
  await goTo('timeline')
  const newestFirst = ids.sort().reverse()
  const scroller = page.getByLabel('Timeline and events')
  for (const row of [0, 70, BATCHES - 1, 30]) {
    await scroller.evaluate((element, top) => element.scrollTo(0, top), row * 36)
    await page.locator(`.chart-labels a[title*="${newestFirst[row]}"]`).waitFor()
    expect(await page.locator('.bar').count()).toBeLessThanOrEqual(MAX_ROWS)
  }
})

test.for([
  ['in a fast browser', ''],
  // With a slow frame rate, the stream of events opens between two frames, in which the views also start loading.
  [
    'with a second between two frames',
    'window.requestAnimationFrame = (call) => setTimeout(() => call(performance.now()), 1000)',
  ],
])(
  'data that several parts of the page show is loaded once, and not again after a request that only reads, %s',
  async ([, frames]) => {
    const { client, emulator } = dashboard
    const page = (await dashboard.page.context().browser()?.newPage()) as Page
    page.setDefaultTimeout(120_000)
    await page.addInitScript(frames as string)
    const asked: string[] = []
    page.on('request', (request: Request) =>
      asked.push(new URL(request.url()).pathname.replace('/__emulator', '')),
    )
    const times = (path: string) => asked.filter((each) => each === path).length
    await page.goto(`${emulator.url}/__emulator/ui/#/default/timeline`)
    await page.locator('.bar').first().waitFor()
    // Badges are loaded last.
    await page.getByRole('link', { name: /Batches\s*150/ }).waitFor()
    const own = ['/batches', '/webhooks/deliveries', '/clock/horizon', '/faults', '/scenarios', '/sandboxes']
    expect(own.map((path) => [path, times(path)])).toEqual(own.map((path) => [path, 1]))
    await page.goto(page.url().replace('timeline', 'requests'))
    asked.length = 0
    await get()
    const [newest] = await client.defaultSandbox.requests.list({ limit: 1 })
    await page.locator(`tr[data-id="${newest?.id}"]`).waitFor()
    expect([times('/batches'), times('/clock/horizon')]).toEqual([0, 0])
    await page.close()
  },
)

test('a record of 5 MB is shown truncated, and can be downloaded as a file', async () => {
  const { page, client, goTo } = dashboard
  const { state } = client.defaultSandbox
  const data = await state.list<{ id: string }>('conversations')
  const first = data[0] as { id: string }
  await state.put('conversations', { ...first, id: 'large', title: 'x'.repeat(5_000_000) })
  await goTo('data/conversations/large')
  await page.getByText('The record has 5.0 MB').waitFor()
  const length = await page.evaluate(`document.querySelector('main').textContent.length`)
  expect(Number(length)).toBeLessThan(100_000)
  await page.getByRole('button', { name: 'Download it' }).waitFor()
})
