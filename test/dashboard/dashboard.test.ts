import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEmulator } from '../../src/emulator.ts'
import { type Dashboard, openDashboard, violations } from './browser.ts'

// One browser and one emulator for all tests of this file: each goes on where the one before it has ended.
let dashboard: Dashboard
const api = (path: string, init: RequestInit = {}) =>
  fetch(`${dashboard.emulator.baseUrl}${path}`, {
    ...init,
    headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json', ...init.headers },
  })

beforeAll(async () => {
  dashboard = await openDashboard()
})

afterAll(() => dashboard?.close())

test('a newcomer opens the address of the emulator and sees how to connect, and when it has worked', async () => {
  const { page, emulator } = dashboard
  await page.goto(emulator.url)
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  expect(page.url()).toBe(`${emulator.url}/__emulator/ui/#/default/connect`)
  await page.getByText('Waiting for your first request').waitFor()
  expect(await page.getByLabel('Base URL').inputValue()).toBe(emulator.baseUrl)
  await api('/data-views')
  await page.getByText('Connected: GET /v1/data-views').waitFor()
  expect(await violations(page)).toEqual([])
})

test('nothing went wrong in the browser, and no request left the emulator', () => {
  expect(dashboard.problems).toEqual([])
})

test('a lost connection is shown with the age of the data, and the page recovers', async () => {
  const { page, emulator } = dashboard
  await emulator.close()
  await page.getByText('Connection lost. Showing data from').waitFor()
  const again = await openEmulator({ port: emulator.port, ephemeral: true, rate: 0 })
  try {
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.getByText('Connected again').waitFor()
  } finally {
    await again.close()
  }
})
