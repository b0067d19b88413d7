import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Dashboard, openDashboard } from './browser.ts'

/**
 * `npm run screenshots -- FOLDER`: a picture of every view in light and dark mode, always of the same sandbox. The two
 * pictures in the documentation are written to `docs/`. Default of FOLDER: `dist/screenshots`.
 */
const folder = process.argv[2] ?? join('dist', 'screenshots')

const SCHEMA = {
  type: 'object',
  properties: {
    vendor_name: { type: 'string' },
    invoice_date: { type: 'string', format: 'date' },
    total: { type: 'number', minimum: 0 },
    currency: { type: 'string' },
  },
  required: ['vendor_name', 'invoice_date', 'total', 'currency'],
}

const VIEWS = [
  ...['overview', 'timeline', 'requests', 'requests/default-000005', 'batches', 'batches/REPORTS'],
  ...['webhooks', 'webhooks?tab=inbox', 'faults', 'limits', 'data/pages', 'data/pages/page-handbook'],
  ...['scenarios', 'scenarios/partial-failure', 'settings', 'conduct', 'coverage', 'sandboxes'],
  ...['connect'],
]

/** The pictures in the documentation, by view. */
const SHOWN: Readonly<Record<string, string>> = {
  timeline: 'docs/dashboard-timeline.jpg',
  'requests/default-000005': 'docs/dashboard-requests.jpg',
}

async function useIt({ client, emulator }: Dashboard): Promise<void> {
  const { batches, clock, faults, webhooks } = client.defaultSandbox
  await webhooks.create({ inbox: true, secret: 'shared' })
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${emulator.baseUrl}${path}`, {
      method,
      headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as { readonly id: string }
  }
  const batch = async (label: string, items: number, per_item: string, file = 'file-invoice-1') => {
    const { id } = await call('POST', '/batch-predictions', {
      prompt: 'Read the invoice.',
      output_schema: SCHEMA,
      model: 'any-model',
      metadata: { label },
      items: Array.from({ length: items }, (_, n) => ({ file_id: file, custom_id: `invoice-${n}` })),
    })
    const pace = { validating: '90s', in_progress: { per_item, concurrency: 1 }, finalizing: '2m' }
    await batches.change(id, { pace })
    return id
  }
  await batch('invoices', 48, '30s')
  await clock.advance('9m')
  const drawings = await batch('drawings', 24, '45s')
  await clock.advance('11m')
  await call('POST', `/batch-predictions/${drawings}/cancel`)
  await clock.advance('8m')
  const reports = await batch('nightly reports', 240, '9s')
  await batches.change(reports, { outcomes: [{ every: 40, status: 'errored', detail: 'A page is blank.' }] })
  await faults.preset('rate-limited', { times: 1 })
  await call('GET', '/data-views')
  await clock.advance('6m')
  await webhooks.create({ url: 'http://127.0.0.1:9/hook' })
  await batch('permits', 3, '1s', 'file-missing')
  await clock.advance('7m')
  await faults.preset('unavailable-with-retry-after', { times: 1 })
  await call('GET', '/pages')
  const contracts = await batch('contracts', 12, '1m')
  await batches.change(contracts, { pace: { validating: '20m' } })
  await call('GET', '/data-views')
  await clock.advance('2m')
  for (const [name, status] of Object.entries({ 'ci-invoices': 200, 'ci-upload-of-many-files': 404 })) {
    const sandbox = await client.sandbox(name)
    await sandbox.fetch(status === 200 ? '/data-views' : '/pages/none')
  }
}

async function addresses({ client, emulator }: Dashboard): Promise<ReadonlyMap<string, string>> {
  const { batches, mcpServers } = client.defaultSandbox
  const reports = (await batches.list()).find(({ metadata }) => metadata?.label === 'nightly reports')
  const flow = await mcpServers.startOauth({
    server_id: 'mcp-drawings',
    redirect_uri: 'http://localhost:3000/oauth/done',
  })
  const views = VIEWS.map((view): [string, string] => {
    const place = view.replace('REPORTS', reports?.id ?? '')
    return [view, `${emulator.url}/__emulator/ui/#/default/${place}`]
  })
  return new Map([
    ...views,
    ['consent', flow.authorize_url],
    ['empty', `${emulator.url}/__emulator/ui/#/w1/requests`],
  ])
}

const SIZES = {
  '': { width: 1280, height: 800 },
  '-wide': { width: 1440, height: 900 },
  '-small': { width: 1024, height: 768 },
  '-tablet': { width: 768, height: 1024 },
  '-phone': { width: 390, height: 844 },
}

const dashboard = await openDashboard()
const { page } = dashboard
try {
  mkdirSync(folder, { recursive: true })
  await useIt(dashboard)
  const places = await addresses(dashboard)
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      for (const [view, address] of places) {
        await page.goto(address)
        // The stream of events stays open, so there is no event after the last load.
        await page.waitForTimeout(1_000)
        if (view === 'timeline' && size === '') {
          await page.getByRole('button', { name: 'Step', exact: true }).click()
          await page.waitForTimeout(1_000)
        }
        const name = view.replaceAll(/[/?=]/g, '-')
        await page.screenshot({ path: join(folder, `${name}${size}-${colorScheme}.png`) })
        const path = size === '' && colorScheme === 'light' ? SHOWN[view] : undefined
        if (path !== undefined) await page.screenshot({ path, type: 'jpeg', quality: 70 })
      }
    }
  }
} finally {
  await dashboard.close()
}
process.stdout.write(`The pictures are in ${folder}.\n`)
