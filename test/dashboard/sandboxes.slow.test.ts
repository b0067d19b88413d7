import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './browser.ts'
import { sharedDashboard } from './views.ts'

const MANY = 500
const MAX_ROWS = 60

const dashboard = sharedDashboard(async ({ client }) => {
  for (let n = 0; n < MANY; n++) await client.sandbox(`w-${n}`)
})

test('of many sandboxes the search lists a few, those with the typed name, and the page contains only the visible rows', async () => {
  const { page, goTo } = dashboard()
  await goTo('timeline')
  await page.getByRole('button', { name: /^default/ }).click()
  const options = page.getByRole('option', { name: /^w-/ })
  await options.nth(3).waitFor()
  expect(await options.count()).toBeLessThanOrEqual(5)
  await page.getByRole('combobox').fill('sandbox w-499')
  await page.getByRole('option', { name: /^w-499/ }).waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await goTo('sandboxes?filter=w-49')
  await page.getByRole('row', { name: /w-499/ }).waitFor()
  expect(await page.locator('tr[data-id]').count()).toBe(11)
  await page.getByLabel('Filter by name or failed').fill('')
  await page.getByRole('row', { name: /default/ }).waitFor()
  expect(await page.locator('tr[data-id]').count()).toBeLessThanOrEqual(MAX_ROWS)
})

test('a sandbox is shown with its clock and its failures, and can be deleted, alone or with all that are shown', async () => {
  const { page, client, goTo } = dashboard()
  const w1 = await client.sandbox('w-1')
  const headers = { 'Idempotency-Key': 'key', 'X-Emulator-Fault': 'retry-after-http-date' }
  for (let n = 0; n < 2; n++) await w1.fetch('/pages', { json: { name: 'Roof plan' }, headers })
  await w1.clock.advance('24h')
  await goTo('sandboxes')
  const filter = page.getByLabel('Filter by name or failed')
  await filter.fill('failed')
  const row = page.getByRole('row', { name: /w-1 2026-11-24.* 1 of 2 failed 1 warning/ })
  await row.getByRole('link', { name: '2026-11-23' }).waitFor()
  expect(await violations(page)).toEqual([])
  await row.getByRole('button', { name: 'Delete w-1' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted: w-1.').waitFor()
  await filter.fill('w-2')
  await page.getByRole('button', { name: 'Delete 111 shown' }).click()
  await dialog.getByText('Delete 111 sandboxes?').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted: 111 sandboxes.').waitFor()
  await page.getByText('No sandbox matches the filter').waitFor()
  const names = (await client.sandboxes.list()).map(({ name }) => name)
  expect(names.filter((name) => name === 'w-1' || name.startsWith('w-2'))).toEqual([])
  expect(names).toHaveLength(MANY + 1 - 112)
})

test('the report of a failed test leads to its sandbox, which is kept on an emulator that was running before', async () => {
  const { page, emulator } = dashboard()
  const config = join('test', 'examples', 'failing', 'vitest.config.ts')
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, '--no-color', '-t', 'refusal']
  const env = { ...process.env, NO_COLOR: '1', GITHUB_ACTIONS: '', WORKSPACE_EMULATOR_URL: emulator.url }
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env }, (_failed, stdout, stderr) => resolve(stdout + stderr))
  })
  const [, link = ''] = /kept in the dashboard while the emulator runs: (\S+)/.exec(output) ?? []
  await page.goto(link)
  await page.getByRole('row', { name: /GET \/data-views 429/ }).waitFor()
})
