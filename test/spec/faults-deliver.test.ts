// @module-tag U060
import { expect, test } from 'vitest'
import type { DeliverFault } from '../../src/core/faults/deliver.ts'
import type { FaultDraft } from '../../src/core/faults/rule.ts'
import { aBatch, createBatch } from '../support/batches.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { armed, completedBatch, faultedEmulator } from '../support/webhook-faults.ts'
import type { Received } from '../support/webhook-receiver.ts'

/** A rule about every webhook, after which later rules apply, too. */
const continuing = (deliver: DeliverFault, more: FaultDraft = {}): FaultDraft => {
  return { match: { webhook: '*' }, then: 'continue', do: [{ deliver }], ...more }
}

test('copies arrive with the same body and id, in each envelope', async () => {
  for (const kind of ['none', 'typed']) {
    const settings = { 'webhooks.envelope': kind }
    const { emulator, receiver } = await faultedEmulator({ copies: 3 }, undefined, { settings })
    await completedBatch(emulator)
    await pass(emulator, '1h')
    const [first, ...copies] = await deliveriesOf(emulator)
    const seen = receiver.received.map(({ text, headers }) => [text, headers['x-emulator-delivery']])
    expect(seen).toEqual(Array(3).fill([JSON.stringify(first.body), first.id]))
    const copy = { status: 'delivered', faults: { rules: ['r'], copy_of: first.id } }
    expect([first.faults, copies]).toMatchObject([{ rules: ['r'] }, [copy, copy]])
  }
})

test('a dropped webhook is reported in the result and the list, and can be sent by redeliver', async () => {
  const { emulator, receiver } = await faultedEmulator({ drop: true })
  const { id } = await createBatch(emulator, { items: 1 })
  const { events } = await pass(emulator, '40d')
  expect(receiver.received).toEqual([])
  const [delivery] = await deliveriesOf(emulator)
  expect(delivery).toMatchObject({ status: 'dropped', attempts: [], faults: { rules: ['r'], drop: true } })
  const description = `batch_prediction.completed to ${receiver.url} was dropped by r: it is never sent.`
  const caused_by = `batch.complete:batch_predictions/${id}`
  const dropped = { at: '2026-03-01T12:00:03.200Z', kind: 'webhook.dropped', description, caused_by }
  expect(events.filter(({ ref }) => ref === `webhook_deliveries/${delivery.id}`)).toMatchObject([dropped])
  expect((await emulator.control('POST', `/webhooks/deliveries/${delivery.id}/redeliver`)).status).toBe(200)
  await pass(emulator, '1d')
  expect(receiver.received.map(({ body }) => body.id)).toEqual([id])
  expect(await deliveriesOf(emulator)).toMatchObject([{ status: 'delivered', faults: { rules: ['r'] } }])
})

test('retries and timeouts of a rule apply to its deliveries only', { tags: ['T38'] }, async () => {
  const settings = { 'webhooks.retry': ['1h'], 'webhooks.timeout': '5m' }
  const faults = { timeout_ms: 40, retries: ['1s', '2s'] }
  // The first webhook gets no response, the second one a refusal.
  const react = ({ body }: Received) => (body.id === first ? undefined : 503)
  const { emulator } = await faultedEmulator(faults, react, { settings }, { times: 1 })
  const first = await completedBatch(emulator)
  await completedBatch(emulator)
  await pass(emulator, '1d')
  const failedAt = (...times: readonly string[]) => {
    return { status: 'failed', attempts: times.map((time) => ({ at: `2026-03-01T${time}.000Z` })) }
  }
  const deliveries = await deliveriesOf(emulator)
  const expected = [failedAt('12:00:00', '12:00:01', '12:00:03'), failedAt('12:00:00', '13:00:00')]
  expect(deliveries).toMatchObject(expected)
  expect(deliveries[0].attempts[0].error).toBe('no response within 40ms')
})

test('held, late and dropped webhooks survive a restart unchanged', { tags: ['R233'] }, async () => {
  const { emulator, receiver } = await webhookEmulator()
  await armed(emulator, continuing({ drop: true }, { when: { nth: 1 } }))
  await armed(emulator, continuing({ delay: '10m', body: { status: 'late' } }, { when: { nth: 2 } }))
  await armed(emulator, continuing({ order: 'after-next' }, { when: { nth: 3 } }))
  for (let n = 0; n < 3; n++) await completedBatch(emulator)
  await pass(emulator, '0s')
  const before = await deliveriesOf(emulator)
  const next = await emulator.restart()
  expect(await deliveriesOf(next)).toEqual(before)
  await completedBatch(next)
  const { events } = await pass(next, '10m')
  const ids = before.map(({ ref }: { ref: string }) => ref.split('/')[1])
  const [{ ref }] = (await deliveriesOf(next)).slice(3)
  expect(receiver.received.map(({ body }) => [body.id, body.status])).toEqual([
    [ref.split('/')[1], 'completed'],
    [ids[2], 'completed'],
    [ids[1], 'late'],
  ])
  expect(events.map(({ kind }) => kind)).not.toContain('webhook.dropped')
})

/** The webhook of a batch arrives before the response to its creation. */
const RACE: FaultDraft = {
  id: 'race',
  match: { operation: 'batch-predictions.create' },
  do: [{ state: { at: 'after-handler', batch: 'instant' } }, { deliver: { when: 'before-response' } }],
}

test('a receiver can retrieve a batch while the response to its creation is held', async () => {
  const seen: unknown[] = []
  const { emulator } = await webhookEmulator(async ({ text, body }) => {
    const response = await emulator.get(`/batch-predictions/${body.id}`)
    seen.push([response.status, response.text === text])
    return 200
  })
  await armed(emulator, RACE)
  const { body } = await emulator.post('/batch-predictions', aBatch({ items: 1 }))
  expect(seen).toEqual([[200, true]])
  const told = { ref: `batch_predictions/${body.id}`, status: 'delivered' }
  expect(await deliveriesOf(emulator)).toMatchObject([told])
})

test('a creation by a receiver waits until the webhook that it handles has failed', async () => {
  let created: (status: number) => void = () => {}
  const byReceiver = new Promise<number>((resolve) => {
    created = resolve
  })
  const { emulator, receiver } = await webhookEmulator(
    async () => {
      if (receiver.received.length === 1) {
        await emulator.control('PATCH', '/settings', { 'webhooks.timeout': '5m' })
        created((await emulator.post('/batch-predictions', aBatch())).status)
      }
      return 200
    },
    { settings: { 'webhooks.timeout': '1s' } },
  )
  await armed(emulator, RACE)
  const { status } = await emulator.post('/batch-predictions', aBatch({ items: 1 }))
  expect([status, await byReceiver]).toEqual([200, 200])
  await pass(emulator, '0s')
  const failed = { status: 'failed', attempts: [{ outcome: 'timeout' }] }
  expect(await deliveriesOf(emulator)).toMatchObject([failed, { status: 'delivered' }])
})

test('a response without a webhook is not held', async () => {
  const { emulator } = await webhookEmulator()
  const match = { operation: 'pages.create' }
  await armed(emulator, { match, do: [{ deliver: { when: 'before-response' } }] })
  expect((await emulator.post('/pages', { name: 'Plan' })).status).toBe(200)
})
