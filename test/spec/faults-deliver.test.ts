// @module-tag U060
import { expect, test } from 'vitest'
import type { DeliverFault } from '../../src/core/faults/deliver.ts'
import type { FaultDraft } from '../../src/core/faults/rule.ts'
import type { Delivery } from '../../src/core/webhooks/records.ts'
import { createBatch } from '../support/batches.ts'
import { deliveriesOf, pass, webhookEmulator } from '../support/webhook-emulator.ts'
import { armed, completedBatch, faultedEmulator } from '../support/webhook-faults.ts'
import type { Received } from '../support/webhook-receiver.ts'

/** A rule about every webhook, after which later rules apply, too. */
const continuing = (deliver: DeliverFault, more: FaultDraft = {}): FaultDraft => ({
  ...{ match: { webhook: '*' }, then: 'continue', do: [{ deliver }] },
  ...more,
})

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

test('a webhook with order after-next arrives after the next one, also if the receiver fails', async () => {
  const { emulator, receiver } = await faultedEmulator({ order: 'after-next' }, () => 503, {}, { times: 1 })
  const first = await completedBatch(emulator)
  await pass(emulator, '30s')
  expect(receiver.received).toEqual([])
  const second = await completedBatch(emulator)
  const { events } = await pass(emulator, '0s')
  expect(receiver.received.map(({ body }) => body.id)).toEqual([second, first])
  expect(events.map(({ kind }) => kind)).toEqual(['webhook.failed', 'webhook.failed'])
})

test('a late webhook is in the horizon and in the result of the advance', async () => {
  const { emulator, receiver } = await faultedEmulator({ delay: '10m' })
  await completedBatch(emulator)
  const { body } = await emulator.control('GET', '/clock/horizon')
  const [{ id }] = await deliveriesOf(emulator)
  const ref = `webhook_deliveries/${id}`
  expect(body.data.find((event: { ref: string }) => event.ref === ref)).toMatchObject({
    kind: 'webhook.release',
    at: '2026-03-01T12:10:00.000Z',
    description: expect.stringContaining('held back by r'),
  })
  const { events } = await pass(emulator, '10m')
  expect(events.filter((event) => event.ref === ref)).toMatchObject([
    { at: '2026-03-01T12:10:00.000Z', kind: 'webhook.release', from: 'waiting', to: 'pending' },
    { at: '2026-03-01T12:10:00.000Z', kind: 'webhook.delivered', to: 'delivered' },
  ])
  expect(receiver.received).toHaveLength(1)
})

test('a dropped webhook is reported in the result and the list, and can be sent by redeliver', async () => {
  const { emulator, receiver } = await faultedEmulator({ drop: true })
  const { id } = await createBatch(emulator, { items: 1 })
  const { events } = await pass(emulator, '40d')
  expect(receiver.received).toEqual([])
  const [delivery, ...others] = await deliveriesOf(emulator)
  expect(others).toEqual([])
  expect(delivery).toMatchObject({ status: 'dropped', attempts: [], faults: { rules: ['r'], drop: true } })
  expect(events.filter(({ ref }) => ref === `webhook_deliveries/${delivery.id}`)).toMatchObject([
    {
      at: '2026-03-01T12:00:03.200Z',
      kind: 'webhook.dropped',
      description: `batch_prediction.completed to ${receiver.url} was dropped by r: it is never sent.`,
      caused_by: `batch.complete:batch_predictions/${id}`,
    },
  ])
  expect((await emulator.control('POST', `/webhooks/deliveries/${delivery.id}/redeliver`)).status).toBe(200)
  await pass(emulator, '1d')
  expect(receiver.received.map(({ body }) => body.id)).toEqual([id])
  expect(await deliveriesOf(emulator)).toMatchObject([{ status: 'delivered', faults: { rules: ['r'] } }])
})

test('an explanation names the fault rules of the webhooks that a request caused', async () => {
  const pace = { validating: 'immediate', in_progress: 'immediate', finalizing: { polls: 1 } }
  const { emulator } = await faultedEmulator({ drop: true }, undefined, { settings: { 'batch.pace': pace } })
  const { id } = await createBatch(emulator)
  const polled = await emulator.get(`/batch-predictions/${id}`)
  expect(polled.body.status).toBe('completed')
  const request = polled.headers.get('x-emulator-request-id')
  const { body } = await emulator.control('GET', `/explain/${request}`)
  expect(body.deliveries).toMatchObject([{ type: 'batch_prediction.completed', faults: ['r'] }])
  expect(await deliveriesOf(emulator)).toMatchObject([{ caused_by: request, status: 'dropped' }])
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
  expect(await deliveriesOf(emulator)).toMatchObject([
    {
      status: 'failed',
      attempts: [
        { at: '2026-03-01T12:00:00.000Z', error: 'no response within 40ms' },
        { at: '2026-03-01T12:00:01.000Z' },
        { at: '2026-03-01T12:00:03.000Z' },
      ],
    },
    { status: 'failed', attempts: [{ at: '2026-03-01T12:00:00.000Z' }, { at: '2026-03-01T13:00:00.000Z' }] },
  ])
})

const signed = { settings: { 'webhooks.signature': { header: 'X-Sign', secret: 's', prefix: 'v1=' } } }

test('rules with then: continue combine, and the list names them', async () => {
  const { emulator, receiver } = await webhookEmulator(undefined, signed)
  await armed(emulator, continuing({ copies: 2 }, { id: 'twice' }))
  await armed(emulator, continuing({ delay: '1m' }, { id: 'late' }))
  await armed(emulator, continuing({ sign: 'missing' }, { id: 'unsigned' }))
  await completedBatch(emulator)
  await pass(emulator, '59s')
  expect(receiver.received).toEqual([])
  await pass(emulator, '1s')
  expect(receiver.received.map(({ headers }) => headers['x-sign'])).toEqual([undefined, undefined])
  const rules = ['twice', 'late', 'unsigned']
  expect(await deliveriesOf(emulator)).toMatchObject([{ faults: { rules } }, { faults: { rules } }])
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

test('one seed always delays, drops and repeats the same webhooks, and another seed others', async () => {
  const run = async (seed: number) => {
    const { emulator } = await webhookEmulator(undefined, { seed })
    for (const deliver of [{ copies: 2 }, { drop: true }, { delay: '1m' }, { order: 'after-next' }] as const)
      await armed(emulator, continuing(deliver, { when: { probability: 0.4 } }))
    for (let n = 0; n < 20; n++) await completedBatch(emulator)
    await pass(emulator, '1h')
    // The ids of deliveries are left out: they depend on the seed, too.
    return (await deliveriesOf(emulator)).map(({ status, faults }: Delivery) => [status, faults?.rules])
  }
  const first = await run(7)
  expect(await run(7)).toEqual(first)
  expect(await run(8)).not.toEqual(first)
})
