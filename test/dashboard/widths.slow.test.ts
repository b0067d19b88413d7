import { expect, test } from 'vitest'
import { createBatch, violations } from './browser.ts'
import { sharedDashboard } from './views.ts'

const dashboard = sharedDashboard()

test('lanes have the label and the items of their batch, bars fill the axis, and failed webhooks are red', async () => {
  const { page, goTo, problems } = dashboard()
  const sandbox = dashboard().client.defaultSandbox
  await sandbox.webhooks.create({ url: 'http://127.0.0.1:9/hook' })
  for (let n = 0; n < 2; n++) await createBatch(sandbox, 3)
  await sandbox.clock.advance('2h')
  await createBatch(sandbox, 24)
  await goTo('timeline')
  await page
    .getByTitle(/^invoices, [^,]*, file-invoice-1, any-model$/)
    .getByText('24 items')
    .waitFor()
  const failed = page.getByRole('button', { name: /^2 of Webhooks, .*, 2 failed$/ })
  expect(await failed.getAttribute('class')).toContain('error')
  expect(await violations(page)).toEqual([])
  const widths = async () => {
    const boxes = await Promise.all((await page.locator('.bar').all()).map((bar) => bar.boundingBox()))
    return boxes.map((box) => box?.width ?? 0)
  }
  const plot = async () => (await page.locator('.plot').boundingBox())?.width ?? 0
  const [latest = 0, first = 0] = await widths()
  expect(latest + first).toBeGreaterThan((await plot()) / 2)
  await page.getByRole('button', { name: '24 h', exact: true }).click()
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(plot).toBeLessThan(390)
  for (const width of await widths()) expect(width).toBeGreaterThanOrEqual(16)
  await page.getByRole('button', { name: 'Fit' }).click()
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 800 })
  expect(problems).toEqual([])
})

test('on a tablet the next event stays in the header, on a phone the range, the next free request and code', async () => {
  const { page, goTo, problems } = dashboard()
  const sandbox = dashboard().client.defaultSandbox
  await sandbox.limits.fill('data-views.list', { remaining: 0 })
  await page.setViewportSize({ width: 768, height: 1024 })
  for (const place of ['timeline', 'requests', 'limits']) {
    await goTo(place)
    await page.getByRole('heading', { name: place }).first().waitFor()
    const box = await page.getByRole('button', { name: 'Go to the next event' }).boundingBox()
    expect((box?.x ?? 768) + (box?.width ?? 0)).toBeLessThanOrEqual(768)
    expect(
      (await page.getByRole('region', { name: 'Clock' }).locator('.next').getByText('Next in').boundingBox())
        ?.width,
    ).toBeGreaterThan(60)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(768)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByText('Next free in').first().waitFor()
  await goTo('timeline')
  await page.getByRole('group', { name: 'Zoom' }).waitFor()
  await goTo('connect')
  const code = page.getByRole('group', { name: 'Code' })
  await code.waitFor()
  expect(await code.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
  await page.setViewportSize({ width: 1280, height: 800 })
  expect(problems).toEqual([])
})

test('a panel gets another width by its corner and by keys on its edge, and keeps it', async () => {
  const { page, goTo, problems } = dashboard()
  await goTo('data/pages/page-cranes')
  const panel = page.locator('.panel')
  const box = async () => (await panel.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await expect.poll(async () => (await box()).width).toBe(432)
  const { x, y, height } = await box()
  await page.mouse.move(x + 5, y + height - 5)
  await page.mouse.down()
  await page.mouse.move(x - 95, y + height - 5, { steps: 4 })
  await page.mouse.up()
  await expect.poll(async () => (await box()).width).toBe(532)
  const edge = page.getByRole('separator', { name: 'Width of the panel' })
  await edge.press('ArrowRight')
  await expect.poll(async () => (await box()).width).toBe(516)
  await expect.poll(() => edge.getAttribute('aria-valuenow')).toBe('516')
  await page.reload()
  await expect.poll(async () => (await box()).width).toBe(516)
  for (let n = 0; n < 16; n++) await edge.press('ArrowRight')
  await expect.poll(async () => (await box()).width).toBe(320)
  expect(await violations(page, [])).toEqual([])
  expect(problems).toEqual([])
})
