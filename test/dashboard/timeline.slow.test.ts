import { expect, test, vi } from 'vitest'
import { createBatch, violations } from './browser.ts'
import { sharedDashboard } from './views.ts'

const WIDTHS = [1440, 1024, 768, 390]
const SPANS = { 'three minutes': 180_000, 'forty days': 40 * 86_400_000 }

const dashboard = sharedDashboard()

interface Box {
  readonly left: number
  readonly right: number
}

interface Drawn {
  readonly width: number
  readonly labels: readonly (Box & { readonly text: string; readonly isCut: boolean })[]
  readonly places: readonly number[]
}

const DRAWN = `(() => {
  const plot = document.querySelector('.plot').getBoundingClientRect()
  const box = (each) => {
    const { left, right } = each.getBoundingClientRect()
    return { left: left - plot.left, right: right - plot.left, text: each.textContent, isCut: each.scrollWidth > each.clientWidth + 1 }
  }
  const all = (selector) => [...document.querySelectorAll(selector)]
  return {
    width: plot.width,
    labels: all('.tick-label, .now-line span').map(box).sort((a, b) => a.left - b.left),
    places: all('.tick, .now-line').map((each) => box(each).left).sort((a, b) => a - b),
  }
})()`

const cases = [1, 8, 14, 60, 300].flatMap((count) =>
  Object.keys(SPANS).map((span) => [count, span as keyof typeof SPANS] as const),
)

test.for(cases)(
  '%i batches over %s: a time at both ends and every 160 px, at four widths',
  async ([count, span]) => {
    const { page, goTo, problems } = dashboard()
    const sandbox = await dashboard().client.sandbox()
    for (let n = 0; n < count; n++) {
      await createBatch(sandbox, 3, `batch ${n}`)
      await sandbox.clock.advance(`${Math.round(SPANS[span] / count)}ms`)
    }
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      await goTo('timeline', sandbox.name)
      await page.locator('.bar').first().waitFor()
      // The chart is drawn again when its width is known: until then it has the labels of the width before.
      await vi.waitFor(
        async () => {
          const { width: plot, labels, places } = (await page.evaluate(DRAWN)) as Drawn
          expect(places[0]).toBeLessThan(24 + 100)
          expect(places.at(-1)).toBeGreaterThan(plot - 24 - 100)
          expect(places.at(-1)).toBeLessThanOrEqual(plot)
          for (const [index, place] of places.slice(1).entries())
            expect(place - (places[index] as number)).toBeLessThanOrEqual(161)
          for (const [index, { left, right, isCut, text }] of labels.entries()) {
            expect([text, isCut, left >= -1, right <= plot + 1]).toEqual([text, false, true, true])
            expect((labels[index + 1]?.left ?? plot) - right).toBeGreaterThanOrEqual(-1)
          }
        },
        { timeout: 25_000 },
      )
    }
    expect(problems).toEqual([])
  },
)

test('the handle on the axis shows the past by keyboard, and changes nothing', async () => {
  const { page, goTo, problems } = dashboard()
  const sandbox = await dashboard().client.sandbox()
  await page.setViewportSize({ width: 1280, height: 800 })
  const id = await createBatch(sandbox, 10, 'invoices')
  const pace = { validating: '10m', in_progress: { per_item: '30m', concurrency: 1 } }
  await sandbox.batches.change(id, { pace })
  await sandbox.clock.advance('24h')
  await createBatch(sandbox, 1, 'permits')
  const before = await sandbox.state.get('batch_predictions', id)
  await goTo('timeline?at=2026-11-23T12:00:00.000Z', sandbox.name)
  const labels = page.locator('.chart-labels')
  await labels.getByText('As of 23 Nov 12:00').waitFor()
  const batches = page.getByRole('region', { name: 'Batches', exact: true })
  await batches.getByText('about 5 of 10 items').waitFor()
  await batches.getByText('in_progress').waitFor()
  await labels.getByText('not created yet').waitFor()
  expect(await page.getByRole('region', { name: 'Webhooks', exact: true }).isVisible()).toBe(true)
  expect(await violations(page)).toEqual([])
  const handle = page.getByRole('slider', { name: 'Look at the past' })
  await handle.press('Home')
  await labels.getByText('As of 23 Nov 09:00').waitFor()
  await handle.press('ArrowRight')
  await expect.poll(() => handle.getAttribute('aria-valuetext')).not.toBe('as of 23 Nov 09:00')
  expect(page.url()).toContain('at=2026-11-2')
  await handle.press('End')
  await labels.getByText('As of').waitFor({ state: 'detached' })
  const box = (await handle.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await page.mouse.move(box.x + box.width - 12, box.y + 12)
  await page.mouse.down()
  await page.mouse.move(box.x + 60, box.y + 12)
  await page.mouse.up()
  await page.getByRole('button', { name: 'Back to now' }).click()
  await page.getByText('Last advance').waitFor()
  expect(await sandbox.state.get('batch_predictions', id)).toEqual(before)
  expect(problems).toEqual([])
})
