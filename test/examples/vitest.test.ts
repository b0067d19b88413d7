// How a suite of yours looks: `world` is a whole service for one test. The tests run at the same time, in worlds that do not
// see each other, and no time passes in them unless a test says so.
import { aFileRecord, aPage, aWorld } from 'agent-workspace-emulator'
import { test } from 'agent-workspace-emulator/vitest'
import { describe, expect } from 'vitest'
import { Invoices } from './invoices.ts'
import { webhookReceiver } from './receiver.ts'

const INVOICES = ['file-invoice-1', 'file-invoice-2']

describe.concurrent('invoices', () => {
  test('are read by a batch', async ({ world }) => {
    const invoices = new Invoices(world)
    const batch = await invoices.submit('order-1', INVOICES)
    expect(await invoices.isDone(batch)).toBe(false)

    await world.clock.advance({ until: { batch } })

    expect(await invoices.isDone(batch)).toBe(true)
    const results = await invoices.results(batch)
    expect(results.map(({ custom_id, status }) => [custom_id, status])).toEqual([
      ['file-invoice-1', 'succeeded'],
      ['file-invoice-2', 'succeeded'],
    ])
  })

  test('are submitted once, even when the answer is lost', async ({ world }) => {
    await world.faults.preset('lost-response-after-commit')
    await new Invoices(world).submit('order-1', INVOICES)

    await expect(world).toHaveReceived({ idempotency_key: 'order-1' }, 2)
    expect((await world.state.list('batch_predictions')).data).toHaveLength(1)
  })

  test('of which one cannot be read are read all the same', async ({ world }) => {
    const invoices = new Invoices(world)
    const batch = await invoices.submit('order-1', INVOICES)
    await world.batches.change(batch, {
      outcomes: [{ match: { custom_id: 'file-invoice-2' }, status: 'errored', detail: 'unreadable scan' }],
    })
    await world.clock.advance('24h')

    const [first, second] = await invoices.results(batch)
    expect(first?.output?.vendor).toEqual(expect.any(String))
    expect(second).toMatchObject({ status: 'errored', output: null })
  })

  test('are kept for 29 days', async ({ world }) => {
    const invoices = new Invoices(world)
    const batch = await invoices.submit('order-1', INVOICES)
    await world.clock.advance('29d')
    await expect(invoices.results(batch)).rejects.toThrow('410')
  })

  test('that are done are told by a webhook', async ({ world }) => {
    const receiver = await webhookReceiver()
    await world.webhooks.create({ url: receiver.url, events: ['batch_prediction.completed'] })
    const batch = await new Invoices(world).submit('order-1', INVOICES)
    await world.clock.advance({ until: { batch } })

    expect(receiver.received[0]).toMatchObject({ id: batch, status: 'completed' })
    await expect(world).toHaveDelivered({ type: 'batch_prediction.completed', url: receiver.url }, 1)
    await expect(world).not.toHaveDelivered({ status: 'failed' })
  })
})

test('a limit is used up without 200 requests, and time lets it go', async ({ world }) => {
  await world.limits.fill('pages.create', { remaining: 0 })
  const refused = await world.fetch('/pages', { json: aPage() })
  expect(refused.status).toBe(429)

  await world.clock.advance(`${refused.headers.get('retry-after')}s`)

  expect((await world.fetch('/pages', { json: aPage() })).status).toBe(200)
  await expect(world).toHaveRespectedRetryAfter({ operation: 'pages.create' })
})

test('a world goes back to where it was', async ({ world }) => {
  await world.snapshots.save('before')
  await world.fetch('/pages', { json: aPage({ name: 'Only for a moment' }) })
  await world.snapshots.restore('before')
  await expect(world).not.toHaveReceived({ operation: 'pages.create' })
})

// Whatever is to be different about the worlds of some tests stands above them.
describe('a world of your own', () => {
  const scans = aFileRecord({ id: 'file-scans', pages: 2 })
  test.override({ worldOptions: { clock: '2030-01-01T00:00:00Z', fixtures: aWorld({ files: [scans] }) } })

  test('has the records and the time that it was given', async ({ world }) => {
    const batch = await new Invoices(world).submit('order-1', ['file-scans'])
    expect((await world.batches.show(batch)).batch.created_at).toMatch(/^2030-01-01T00:00:00/)
  })
})
