import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Dashboard, openDashboard } from './browser.ts'

/** Texts that would have an effect if a page used them as HTML, attribute, link or template. */
const CORPUS = [
  '<img src=x onerror="window.xss=1"><xss-probe>',
  '"><svg onload=window.xss=1><xss-probe>',
  "' autofocus onfocus=window.xss=1 x='<xss-probe>",
  '</pre></title></textarea><script>window.xss=1</script><xss-probe>',
  'javascript:window.xss=1',
  '{{constructor.constructor("window.xss=1")()}}#{window.xss=1}',
  '&lt;xss-probe&gt;&#60;xss-probe&#62;',
  '\u202e\u2028<xss-probe>\u0000',
]

const [TAG = ''] = CORPUS
let dashboard: Dashboard
let scenarios: string

beforeAll(async () => {
  scenarios = mkdtempSync(join(tmpdir(), 'hostile-'))
  writeFileSync(join(scenarios, 'broken.json'), JSON.stringify({ description: TAG, [TAG]: TAG }))
  writeFileSync(join(scenarios, 'named.json'), JSON.stringify({ description: CORPUS.join(' ') }))
  dashboard = await openDashboard({ scenarios })
  await fill(dashboard)
})

afterAll(async () => {
  await dashboard?.close()
  rmSync(scenarios, { recursive: true, force: true })
})

/** Writes every text to each place that a client or a file can fill. */
async function fill({ client, emulator }: Dashboard): Promise<void> {
  const { state, webhooks, faults, settings, clock } = client.defaultSandbox
  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    fetch(`${emulator.baseUrl}${path}`, {
      method,
      headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const pages = await state.list('pages')
  for (const [n, text] of CORPUS.entries()) {
    const safe = text.replaceAll(/[^\x20-\x7e]/g, '')
    await call('POST', '/pages', { name: text })
    await call('GET', `/${encodeURIComponent(text)}?q=${encodeURIComponent(text)}`)
    await call('POST', '/pages', text, { 'x-hostile': safe, 'idempotency-key': safe })
    await state.put('pages', { ...(pages[0] as { id: string }), id: `${text}${n}`, name: text })
    await faults.arm({
      id: `rule-${n}`,
      match: { operation: 'pages.create', headers: { 'x-hostile': safe } },
      do: [{ respond: { status: 418, body: text } }],
    } as never)
    await call('POST', '/pages', { name: text }, { 'x-hostile': safe })
    await call('POST', '/batch-predictions', {
      prompt: text,
      output_schema: { type: 'object', properties: { [text]: { type: 'string' } } },
      model: 'any-model',
      metadata: { label: text },
      items: [{ file_id: 'file-invoice-1', custom_id: text }],
    })
  }
  await webhooks.create({ url: `http://127.0.0.1:9/${encodeURIComponent(TAG)}` })
  await webhooks.create({ inbox: true })
  await settings.change({ 'mcp.oauth.message': TAG })
  await clock.advance('24h')
}

const VIEWS = [
  ...['timeline', 'requests', 'faults', 'limits', 'data/pages', 'scenarios', 'settings', 'connect'],
  ...['batches', 'webhooks', 'webhooks?tab=inbox', 'webhooks?tab=subscriptions', 'data/batch_predictions'],
  `requests?filter=${encodeURIComponent(TAG)}`,
  `data/pages/${encodeURIComponent(`${TAG}0`)}`,
  `${encodeURIComponent(TAG)}`,
]

/** The effects of the texts on the current page. */
const harm = () =>
  dashboard.page.evaluate(`JSON.stringify({
    ran: window.xss !== undefined,
    elements: [...document.querySelectorAll('xss-probe, img, iframe, object, embed, [onerror], [onload], [onfocus]')].map((each) => each.outerHTML.slice(0, 80)),
    links: [...document.querySelectorAll('[href],[src],[action]')].map((each) => each.getAttribute('href') ?? each.getAttribute('src') ?? each.getAttribute('action')).filter((link) => /^\\\\s*(javascript|data):/i.test(link)),
  })`)

const NONE = JSON.stringify({ ran: false, elements: [], links: [] })

test.for(VIEWS)('%s shows hostile texts as text', async (view) => {
  const { page, goTo } = dashboard
  await goTo(view)
  await page.locator('main').locator('h1, .note').first().waitFor()
  expect(await harm()).toBe(NONE)
})

test('every request shows its hostile parts as text, in each tab', async () => {
  const { page, client, goTo } = dashboard
  const data = await client.defaultSandbox.requests.list({ limit: 1_000 })
  // Each text is in a body, a path, a header, and a response of a fault.
  expect(data.length).toBeGreaterThan(4 * CORPUS.length)
  for (const { id } of data.slice(0, 10)) {
    await goTo(`requests/${id}`)
    for (const tab of ['Response', 'Request']) {
      await page.getByRole('tab', { name: tab }).click()
      expect(await harm(), `${id} ${tab}`).toBe(NONE)
    }
  }
})

test('batches, deliveries, messages and records can be opened without harm', async () => {
  const { page, client, goTo } = dashboard
  const batches = await client.defaultSandbox.batches.list()
  expect(batches).toHaveLength(CORPUS.length)
  for (const { id } of batches) {
    await goTo(`batches/${id}`)
    await page.getByRole('heading', { name: 'Results' }).waitFor()
    expect(await harm(), id).toBe(NONE)
  }
  for (const tab of ['deliveries', 'inbox']) {
    await goTo(`webhooks?tab=${tab}`)
    await page.locator('tr[data-id]').first().click()
    await page.locator('.detail h3, .detail [role=tabpanel]').first().waitFor()
    expect(await harm(), tab).toBe(NONE)
  }
  await goTo(`data/pages/${encodeURIComponent(`${TAG}0`)}`)
  for (const tab of ['Form', 'JSON', 'History']) {
    await page.getByRole('tab', { name: tab }).click()
    expect(await harm(), tab).toBe(NONE)
  }
})

test('search finds hostile names and shows them as text', async () => {
  const { page, goTo } = dashboard
  await goTo('requests')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search and run' }).fill('xss')
  await page.getByRole('option').first().waitFor()
  expect(await harm()).toBe(NONE)
  await page.keyboard.press('Escape')
  expect(dashboard.problems).toEqual([])
})
