// @module-tag U060
import { expect, test } from 'vitest'
import type { FaultDraft } from '../../src/core/faults/rule.ts'
import { aBatch } from '../support/batches.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { armed } from '../support/webhook-faults.ts'

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
  expect(await deliveriesOf(emulator)).toMatchObject([
    { ref: `batch_predictions/${body.id}`, status: 'delivered' },
  ])
})

test('a creation by a receiver waits until the webhook that it handles has failed', async () => {
  const responses: number[] = []
  const { emulator, receiver } = await webhookEmulator(
    async () => {
      if (receiver.received.length === 1)
        responses.push((await emulator.post('/batch-predictions', aBatch())).status)
      return 200
    },
    { settings: { 'webhooks.timeout': '200ms' } },
  )
  await armed(emulator, RACE)
  responses.push((await emulator.post('/batch-predictions', aBatch({ items: 1 }))).status)
  await pass(emulator, '0s')
  expect(responses.map((status) => status < 300)).toEqual([true, true])
  expect(await deliveriesOf(emulator)).toMatchObject([
    { status: 'failed', attempts: [{ outcome: 'timeout' }] },
    { status: 'delivered' },
  ])
})

test('a response without a webhook is not held', async () => {
  const { emulator } = await webhookEmulator()
  await armed(emulator, {
    match: { operation: 'pages.create' },
    do: [{ deliver: { when: 'before-response' } }],
  })
  expect((await emulator.post('/pages', { name: 'Plan' })).status).toBe(200)
})
