// Each test has a service of its own, `sandbox`, whose time stands still until the test advances it.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'agent-workspace-emulator/playwright'

const fixtures = JSON.parse(readFileSync('fixtures/workspace.json', 'utf8'))

test.use({ sandboxOptions: { fixtures, scenario: 'unreadable-scan' } })

// This page is in the place of yours. Pages of localhost and 127.0.0.1, on any port, may call the emulator.
const PAGE = `<!doctype html>
<button>Read</button> <p role="status"></p>
<script type="module">
  const { base, key } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  const call = (path, options) => fetch(base + path, { ...options, headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' } })
  const show = (text) => { document.querySelector('[role=status]').textContent = text }
  const body = {
    prompt: 'Who signed?',
    output_schema: { type: 'object' },
    model: 'any-model',
    items: [{ file_id: 'file-contract', custom_id: 'contract' }, { file_id: 'file-scan', custom_id: 'scan' }],
  }
  let batch
  document.querySelector('button').onclick = async () => {
    if (batch === undefined) {
      batch = await (await call('/batch-predictions', { method: 'POST', body: JSON.stringify(body) })).json()
      return show(batch.status)
    }
    const lines = (await (await call('/batch-predictions/' + batch.id + '/results')).text()).trim().split('\\n')
    show(lines.map((line) => JSON.parse(line)).map(({ custom_id, status }) => custom_id + ' ' + status).join(', '))
  }
</script>`

// With a `webServer` in playwright.config.ts, which starts your own application, this server goes, too.
const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(PAGE))
test.beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
test.afterAll(() => void server.close())

test('the contract is read although the scan is not', async ({ page, sandbox }) => {
  const { port } = server.address() as AddressInfo
  const service = new URLSearchParams({ base: sandbox.baseUrl, key: sandbox.apiKey })
  await page.goto(`http://127.0.0.1:${port}/#${service}`)
  await page.getByRole('button').click()
  await expect(page.getByRole('status')).toHaveText('validating')

  await sandbox.clock.advance('24h')

  await page.getByRole('button').click()
  await expect(page.getByRole('status')).toHaveText('contract succeeded, scan errored')
  await expect(sandbox).toHaveReceived({ operation: 'batch-predictions.create' }, 1)
})
