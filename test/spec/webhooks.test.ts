import { expect, test } from 'vitest'
import { change } from '../../src/core/sandboxes/change.ts'
import { batchResponse } from '../../src/service/batch-predictions/schema.ts'
import { bring, cancel, createBatch, intervene, retrieve } from '../support/batches.ts'
import type { TestEmulator } from '../support/emulator.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'

const TERMINAL = ['completed', 'failed', 'expired', 'cancelled'] as const

/** Brings a batch to a terminal status, and delivers its webhook. */
async function end(emulator: TestEmulator, id: string, status: string): Promise<void> {
  await bring(emulator, id, status)
  await pass(emulator, '0s')
}

test.for(TERMINAL)(
  'a batch that becomes %s sends one webhook, equal to a retrieve at that instant',
  { tags: ['R208', 'R232', 'R234', 'R235', 'R236', 'R086', 'T18'] },
  async (status) => {
    const seen: { text: string; results: number; lines: number }[] = []
    const { emulator, receiver } = await webhookEmulator(async ({ body }) => {
      const { text } = await emulator.get(`/batch-predictions/${body.id}`)
      const results = await emulator.get(body.results_url.slice('/v1'.length))
      seen.push({ text, results: results.status, lines: results.text.split('\n').filter(Boolean).length })
      return 200
    })
    const { id } = await createBatch(emulator, { items: 4, metadata: { b: '2', a: '1' } })
    await end(emulator, id, status)
    await pass(emulator, '40d')
    const [webhook, ...others] = receiver.received
    expect([webhook?.method, others]).toEqual(['POST', []])
    const event = { 'content-type': 'application/json', 'x-emulator-event': `batch_prediction.${status}` }
    expect(webhook?.headers).toMatchObject(event)
    expect(seen).toEqual([{ text: webhook?.text, results: 200, lines: 4 }])
    expect(batchResponse().safeParse(webhook?.body)).toMatchObject({ success: true })
    expect(webhook?.body).toMatchObject({ id, status })
    const { total, ...parts } = webhook?.body.request_counts ?? {}
    expect([total, Object.values<number>(parts).reduce((sum, count) => sum + count)]).toEqual([4, 4])
  },
)

test('cancels, advances and a restart send no second webhook', { tags: ['R233', 'R105'] }, async () => {
  const { emulator, receiver } = await webhookEmulator()
  const { id } = await createBatch(emulator)
  await cancel(emulator, id)
  await cancel(emulator, id)
  await pass(emulator, '1s')
  expect((await cancel(emulator, id)).body.status).toBe('cancelled')
  await pass(emulator, '1s')
  const next = await emulator.restart()
  expect((await cancel(next, id)).body.status).toBe('cancelled')
  await pass(next, '40d')
  expect(receiver.received.map(({ body }) => body.status)).toEqual(['cancelled'])
  expect(await deliveriesOf(next)).toHaveLength(1)
})

test('a late retry repeats the object of the transition', { tags: ['T38', 'R234'] }, async () => {
  const settings = { 'webhooks.retry': ['30d'] }
  let status = 503
  const { emulator, receiver } = await webhookEmulator(() => status, { settings })
  const { id } = await createBatch(emulator)
  await end(emulator, id, 'completed')
  status = 200
  await pass(emulator, '31d')
  expect((await retrieve(emulator, id)).results_url).toBe(null)
  const [first, second] = receiver.received
  expect(first?.body.results_url).toBe(`/v1/batch-predictions/${id}/results`)
  expect([receiver.received.length, second?.text]).toEqual([2, first?.text])
})

test.for([
  ['1h', 1, 1, 'cancelled'],
  ['1h', 1, 0, 'completed'],
  ['25h', 24, 1, 'cancelled'],
  ['25h', 24, 0, 'expired'],
] as const)(
  'a batch in progress for %s that is cancelled after %i h less %i ms becomes %s, with one webhook',
  { tags: ['R221', 'R233'] },
  async ([in_progress, hours, early, status]) => {
    const settings = { 'batch.cancel_delay': '0s' }
    const { emulator } = await webhookEmulator(undefined, { settings })
    const { id } = await createBatch(emulator)
    intervene(emulator, 'change', id, { pace: { validating: '0s', in_progress, finalizing: 'immediate' } })
    await pass(emulator, `${hours * 3_600_000 - early}ms`)
    await cancel(emulator, id)
    await pass(emulator, `${early + 1}ms`)
    await cancel(emulator, id)
    await pass(emulator, '1s')
    const types = (await deliveriesOf(emulator)).map(({ type }: { type: string }) => type)
    expect(types).toEqual([`batch_prediction.${status}`])
  },
)

test('a batch that is written with a terminal status sends no webhook', { tags: ['R233'] }, async () => {
  const { emulator, receiver } = await webhookEmulator()
  const { id } = await createBatch(emulator)
  await end(emulator, id, 'completed')
  const [batch] = emulator.state('batch_predictions')
  change(emulator.sandbox, ({ tx }) => tx.put('batch_predictions', { ...batch, id: 'copy' }))
  await pass(emulator, '40d')
  expect(receiver.received).toHaveLength(1)
})
