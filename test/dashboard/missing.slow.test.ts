import { expect, test } from 'vitest'
import { sharedDashboard } from './views.ts'

const dashboard = sharedDashboard()

const counts = () => dashboard().page.locator('.navigation .badge')

async function used() {
  const sandbox = await dashboard().client.sandbox()
  await sandbox.fetch('/data-views')
  return sandbox
}

test('a sandbox that is deleted while it is open loses its data, its clock and its counts', async () => {
  const { page, goTo, problems } = dashboard()
  const sandbox = await used()
  await goTo('requests', sandbox.name)
  await page.getByRole('row', { name: /data-views/ }).waitFor()
  await page.getByRole('link', { name: 'Requests 1' }).waitFor()
  await sandbox.delete()
  await page.getByText(`There is no sandbox ${sandbox.name} yet.`).waitFor()
  await page.getByText('Waiting for your first request').waitFor()
  expect(await page.getByRole('row', { name: /data-views/ }).count()).toBe(0)
  await expect.poll(() => page.getByRole('region', { name: 'Clock' }).locator('time').textContent()).toBe('–')
  expect(await counts().count()).toBe(0)
  // The views of another sandbox have its counts only.
  const other = await used()
  await goTo('limits', other.name)
  await page.getByRole('link', { name: 'Requests 1' }).waitFor()
  await goTo('requests', 'never-used')
  await page.getByText('There is no sandbox never-used yet.').waitFor()
  expect(await counts().count()).toBe(0)
  expect(problems).toEqual([])
})

test('a page below /@name shows that sandbox, and that it is missing', async () => {
  const { page, emulator, problems } = dashboard()
  const sandbox = await used()
  await page.goto(`${emulator.url}/@${sandbox.name}/__emulator/ui`)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(page.url()).toMatch(new RegExp(`#/${sandbox.name}/overview$`))
  await page.getByRole('link', { name: 'Requests 1' }).waitFor()
  await page.goto(`${emulator.url}/@never-used/__emulator/ui/`)
  await page.getByText('There is no sandbox never-used yet.').waitFor()
  expect(page.url()).toMatch(/#\/never-used\/connect$/)
  expect(problems).toEqual([])
})
