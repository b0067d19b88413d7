import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Dashboard, openDashboard } from './browser.ts'

/**
 * `npm run screenshots -- FOLDER`: a picture of every view in light and dark, of the same sandbox each time. The two that the
 * documentation shows are written to `docs/`. FOLDER is `dist/screenshots` when it is not given.
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
  'timeline',
  'requests/default-000004',
  'batches',
  'webhooks',
  'faults',
  'limits',
  'data/pages',
  'scenarios',
  'settings',
  'connect',
]

/** Which pictures the documentation shows, by view. */
const SHOWN: Readonly<Record<string, string>> = {
  timeline: 'docs/dashboard-timeline.jpg',
  'requests/default-000004': 'docs/dashboard-requests.jpg',
}

async function useIt({ client, emulator }: Dashboard): Promise<void> {
  const { clock, faults } = client.defaultSandbox
  const call = (method: string, path: string, body?: object) =>
    fetch(`${emulator.baseUrl}${path}`, {
      method,
      headers: { authorization: 'Bearer live_demo_owner', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const batch = (label: string, items: number) =>
    call('POST', '/batch-predictions', {
      prompt: 'Read the invoice.',
      output_schema: SCHEMA,
      model: 'any-model',
      metadata: { label },
      items: Array.from({ length: items }, (_, n) => ({
        file_id: 'file-invoice-1',
        custom_id: `invoice-${n}`,
      })),
    })
  await batch('invoices, first half', 40)
  await clock.advance('20s')
  await batch('invoices, second half', 24)
  await clock.advance('3s')
  await call('GET', '/data-views')
  await faults.preset('rate-limited', { times: 1 })
  await call('GET', '/data-views')
  await batch('reports', 12)
  await clock.advance('1s')
}

const dashboard = await openDashboard()
try {
  mkdirSync(folder, { recursive: true })
  await useIt(dashboard)
  for (const colorScheme of ['light', 'dark'] as const) {
    await dashboard.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    for (const view of VIEWS) {
      await dashboard.goTo(view)
      // The stream of events stays open, so that nothing says when all is there.
      await dashboard.page.waitForTimeout(1_000)
      await dashboard.page.screenshot({
        path: join(folder, `${view.replaceAll('/', '-')}-${colorScheme}.png`),
      })
      const path = colorScheme === 'light' ? SHOWN[view] : undefined
      if (path !== undefined) await dashboard.page.screenshot({ path, type: 'jpeg', quality: 70 })
    }
  }
} finally {
  await dashboard.close()
}
process.stdout.write(`The pictures are in ${folder}.\n`)
