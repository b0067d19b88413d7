// An example of a test suite: `sandbox` is a whole service for one test. The tests run in parallel, in isolated sandboxes, and
// time passes only when a test advances the clock.
import { aFileRecord, aPage, aSandbox } from 'agent-workspace-emulator'
import { test } from 'agent-workspace-emulator/vitest'
import { describe, expect } from 'vitest'
import { Invoices } from './invoices.ts'
import { webhookReceiver } from './receiver.ts'

const INVOICES = ['file-invoice-1', 'file-invoice-2']

describe.concurrent('invoices', () => {
  test('are read by a batch', async ({ sandbox }) => {
    const invoices = new Invoices(sandbox)
    const batch = await invoices.submit('order-1', INVOICES)
    expect(await invoices.isDone(batch)).toBe(false)

    await sandbox.clock.advance({ until: { batch } })

    expect(await invoices.isDone(batch)).toBe(true)
    const results = await invoices.results(batch)
    expect(results.map(({ custom_id, status }) => [custom_id, status])).toEqual([
      ['file-invoice-1', 'succeeded'],
      ['file-invoice-2', 'succeeded'],
    ])
  })

  test('are submitted once, even if the response is lost', async ({ sandbox }) => {
    await sandbox.faults.preset('lost-response-after-commit')
    await new Invoices(sandbox).submit('order-1', INVOICES)

    await expect(sandbox).toHaveReceived({ idempotency_key: 'order-1' }, 2)
    expect(await sandbox.state.list('batch_predictions')).toHaveLength(1)
  })

  test('are read even if one of them is unreadable', async ({ sandbox }) => {
    const invoices = new Invoices(sandbox)
    const batch = await invoices.submit('order-1', INVOICES)
    await sandbox.batches.change(batch, {
      outcomes: [{ match: { custom_id: 'file-invoice-2' }, status: 'errored', detail: 'unreadable scan' }],
    })
    await sandbox.clock.advance('24h')

    const [first, second] = await invoices.results(batch)
    expect(first?.output?.vendor).toEqual(expect.any(String))
    expect(second).toMatchObject({ status: 'errored', output: null })
  })

  test('are kept for 29 days', async ({ sandbox }) => {
    const invoices = new Invoices(sandbox)
    const batch = await invoices.submit('order-1', INVOICES)
    await sandbox.clock.advance('29d')
    await expect(invoices.results(batch)).rejects.toThrow('410')
  })

  test('send a webhook when they are done', async ({ sandbox, onTestFinished }) => {
    // Vitest's global `onTestFinished` knows no test that runs beside others: the one of the context does.
    const receiver = await webhookReceiver({ onTestFinished })
    await sandbox.webhooks.create({ url: receiver.url, events: ['batch_prediction.completed'] })
    const batch = await new Invoices(sandbox).submit('order-1', INVOICES)
    await sandbox.clock.advance({ until: { batch } })

    expect(receiver.received[0]).toMatchObject({ id: batch, status: 'completed' })
    await expect(sandbox).toHaveDelivered({ type: 'batch_prediction.completed', url: receiver.url }, 1)
    await expect(sandbox).not.toHaveDelivered({ status: 'failed' })
  })
})

test('a rate limit is reached without 200 requests, and an advance frees it', async ({ sandbox }) => {
  await sandbox.limits.fill('pages.create', { remaining: 0 })
  const refused = await sandbox.fetch('/pages', { json: aPage() })
  expect(refused.status).toBe(429)

  await sandbox.clock.advance(`${refused.headers.get('retry-after')}s`)

  expect((await sandbox.fetch('/pages', { json: aPage() })).status).toBe(200)
  await expect(sandbox).toHaveRespectedRetryAfter({ operation: 'pages.create' })
})

test('a user completes a connection at the URL of the response', async ({ sandbox }) => {
  const created = await sandbox.fetch('/connections', { json: { connector_id: 'drive' } })
  const { redirect_url } = (await created.json()) as { readonly redirect_url: string }

  expect((await fetch(redirect_url)).status).toBe(200)
})

test('a sandbox can be restored from a snapshot', async ({ sandbox }) => {
  await sandbox.snapshots.save('before')
  await sandbox.fetch('/pages', { json: aPage({ name: 'Only for a moment' }) })
  await sandbox.snapshots.restore('before')
  await expect(sandbox).not.toHaveReceived({ operation: 'pages.create' })
})

// Options for the sandboxes of a group of tests go to the top of the group.
describe('a sandbox of your own', () => {
  const scans = aFileRecord({ id: 'file-scans', pages: 2 })
  test.override({ sandboxOptions: { clock: '2030-01-01T00:00:00Z', fixtures: aSandbox({ files: [scans] }) } })

  test('has the given records and the given time', async ({ sandbox }) => {
    const batch = await new Invoices(sandbox).submit('order-1', ['file-scans'])
    expect((await sandbox.batches.show(batch)).batch.created_at).toMatch(/^2030-01-01T00:00:00/)
  })
})
