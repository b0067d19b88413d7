import { aBatch } from 'agent-workspace-emulator'
import { expect, test } from 'vitest'
import { violations } from './browser.ts'
import { sharedDashboard } from './views.ts'

const dashboard = sharedDashboard()

test('a request, its repetitions, its batch and the deliveries about it lead to each other, in order of time', async () => {
  const { page, client, goTo } = dashboard()
  const sandbox = await client.sandbox('w1')
  await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/hook' })
  const json = aBatch({ metadata: { label: 'invoices' } })
  const create = async () => {
    const response = await sandbox.fetch('/batch-predictions', {
      json,
      headers: { 'Idempotency-Key': 'order-1' },
    })
    return ((await response.json()) as { id: string }).id
  }
  const id = await create()
  await sandbox.clock.advance('1s')
  await create()
  await sandbox.fetch('/pages', { json: {}, headers: { 'Idempotency-Key': 'order-1' } })
  await sandbox.clock.advance({ until: { batch: id } })
  const names = [
    'POST /batch-predictions',
    'invoices',
    'POST /batch-predictions',
    'batch_prediction.completed',
  ]
  const chain = page.getByRole('list', { name: 'Chain' })
  // The view before leaves its chain in the page until the next one is drawn.
  const isShown = async (current: number) => {
    const shown = async () => ({
      names: await chain.getByRole('link').allTextContents(),
      marks: await chain.getByRole('listitem').evaluateAll((all) => all.map((each) => each.ariaCurrent)),
      attempts: await chain.getByText('1 attempt').count(),
    })
    const marks = names.map((_, part) => (part === current ? 'true' : null))
    await expect.poll(shown, { timeout: 20_000 }).toEqual({ names, marks, attempts: 1 })
  }
  await goTo('requests/w1-000001', 'w1')
  await isShown(0)
  await chain.getByText('replay').waitFor()
  expect(await violations(page)).toEqual([])
  for (const part of [1, 3, 2]) {
    await chain.getByRole('link').nth(part).click()
    await isShown(part)
  }
})

test('two requests are compared, and only what differs is shown', async () => {
  const { page, client, goTo } = dashboard()
  const sandbox = await client.sandbox('w2')
  await sandbox.fetch('/pages', { json: { name: 'Roof', content: { floor: 1 } } })
  await sandbox.fetch('/data-views')
  await sandbox.fetch('/pages', { json: { name: 'Roof', content: { floor: 2 } } })
  await goTo('requests/w2-000003', 'w2')
  await page.getByRole('button', { name: 'More about this request' }).click()
  await page.getByRole('button', { name: 'Compare with' }).click()
  const dialog = page.getByRole('dialog', { name: /^Compare .*-000003/ })
  await dialog.getByText('body/content/floor: 1').waitFor()
  await dialog.getByText('body/content/floor: 2').waitFor()
  expect(page.url()).toContain('compare=w2-000001')
  expect(await dialog.getByText('body/name').count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await dialog.getByLabel('With (+)').selectOption('w2-000002')
  await dialog.getByText('method: "GET"').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Copy as curl').waitFor()
})
