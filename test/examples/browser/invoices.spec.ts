// A page in a browser with the emulated service. The page has its own origin, like a frontend; pages on loopback origins may
// call the service without any setting.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { aBatch } from 'agent-workspace-emulator'
import { test as base, expect, syncClock } from 'agent-workspace-emulator/playwright'

const TYPES = new Map([
  ['index.html', 'text/html'],
  ['batch.js', 'text/javascript'],
  ['poll.html', 'text/html'],
])

/** The frontend on a separate port: the files next to this one. */
const test = base.extend<object, { frontend: string }>({
  frontend: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const server = createServer(async (req, res) => {
        const file = req.url === '/' ? 'index.html' : (req.url ?? '').slice(1)
        const type = TYPES.get(file)
        if (type === undefined) return void res.writeHead(404).end()
        res.writeHead(200, { 'Content-Type': type }).end(await readFile(join(import.meta.dirname, file)))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      server.close()
    },
    { scope: 'worker' },
  ],
})

// With this scenario each poll shows the next state, so the page does not have to wait.
test.use({ sandboxOptions: { scenario: 'happy-path' } })

test('a page submits three invoices and shows the results', async ({ page, sandbox, frontend }) => {
  // One poll is refused. The page can read Retry-After across origins only because the service exposes it.
  await sandbox.faults.preset('retry-after-zero', {
    match: { operation: 'batch-predictions.retrieve' },
    times: 1,
  })
  await page.goto(`${frontend}/#${new URLSearchParams({ base: sandbox.baseUrl, key: sandbox.apiKey })}`)
  await page.getByRole('button').click()

  await expect(page.getByRole('status')).toHaveText('completed, 3 of 3 read')
  await expect(page.getByRole('row')).toHaveCount(4)
  await expect(page.locator('#left')).toHaveText('199 of 200')
  await expect(sandbox).toHaveReceived(
    { operation: 'batch-predictions.results', headers: { origin: frontend } },
    1,
  )
  await expect(sandbox).toHaveRespectedRetryAfter()
})

test('a user completes a connection at the URL of the response', async ({ page, sandbox }) => {
  const created = await sandbox.fetch('/connections', { json: { connector_id: 'drive' } })
  const { redirect_url } = (await created.json()) as { readonly redirect_url: string }

  const response = await page.goto(redirect_url)
  expect(response?.status()).toBe(200)
})

test.describe('a page that polls once an hour', () => {
  test.use({ sandboxOptions: { clock: '2030-01-01T00:00:00Z' } })

  test('shows a batch of a day to its end, without waiting', async ({ page, sandbox, frontend }) => {
    await syncClock(sandbox, page)
    const created = await sandbox.fetch('/batch-predictions', { json: aBatch() })
    const { id } = (await created.json()) as { readonly id: string }
    await sandbox.batches.change(id, { pace: { in_progress: '23h' } })
    const place = new URLSearchParams({ base: sandbox.baseUrl, key: sandbox.apiKey, batch: id })
    await page.goto(`${frontend}/poll.html#${place}`)
    const start = performance.now()

    await sandbox.clock.advance('23h')
    await expect(page.getByRole('status')).toHaveText('in_progress at 2030-01-01T23:00:00.000Z')

    // The service is silent at the next poll. The page gives up after ten seconds.
    const fault = await sandbox.faults.arm({
      match: 'everything',
      do: [{ cut: { at: 'before-head', how: 'pause' } }],
    })
    await page.clock.runFor(3_610_000)
    await expect(page.getByRole('status')).toHaveText('no response at 2030-01-02T00:00:10.000Z')
    await fault.remove()

    await sandbox.clock.advance('1h')
    await expect(page.getByRole('status')).toHaveText('completed at 2030-01-02T01:00:10.000Z')
    console.info(`25 virtual hours with 26 polls: ${Math.round(performance.now() - start)} ms`)
    await expect(sandbox).toHaveReceived({ operation: 'batch-predictions.retrieve' }, 26)
  })
})
