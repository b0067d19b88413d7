import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

async function withInbox() {
  const emulator = await testEmulator({ collections: sampleRecords, rate: 0 })
  const created = await emulator.control('POST', '/webhooks', { inbox: true })
  const finish = async () => {
    const { body } = await emulator.post('/batch-predictions', batchBody())
    await emulator.control('POST', '/clock/advance', { until: { batch: body.id } })
    return body.id as string
  }
  const inbox = async () => (await emulator.control('GET', '/webhooks/inbox')).body.data
  return { emulator, created, finish, inbox }
}

test('the inbox receives webhooks without a server', async () => {
  const { created, finish, inbox } = await withInbox()
  expect(created.status).toBe(200)
  expect(await inbox()).toEqual([])
  const id = await finish()
  expect(await inbox()).toMatchObject([{ type: 'batch_prediction.completed', attempt: 1, copy_of: null }])
  expect(JSON.stringify(await inbox())).toContain(id)
})

test('faults act on what goes to the inbox: a duplicate arrives twice', async () => {
  const { emulator, finish, inbox } = await withInbox()
  await emulator.control('POST', '/faults', { preset: 'webhook-duplicate' })
  await finish()
  const [copy, first] = await inbox()
  expect(copy).toMatchObject({ copy_of: first.id, body: first.body })
})

test('a subscription has a URL or the inbox, not both and not neither', async () => {
  const { emulator } = await withInbox()
  const neither = await emulator.control('POST', '/webhooks', {})
  expect(neither.body.message).toContain('/url: is required, unless inbox is true')
  const both = await emulator.control('POST', '/webhooks', { inbox: true, url: 'http://127.0.0.1:9000/hook' })
  expect(both.body.message).toContain('/inbox: must not stand beside url')
})

test('the inbox says whether a signature would be valid, and responds as the setting says', async () => {
  const { emulator, created, finish, inbox } = await withInbox()
  await finish()
  expect(await inbox()).toMatchObject([{ signature: null, status: 200 }])
  await emulator.control('DELETE', `/webhooks/${created.body.id}`)
  await emulator.control('POST', '/webhooks', { inbox: true, secret: 'shared' })
  await emulator.control('PATCH', '/settings', { 'webhooks.inbox_status': 503 })
  await finish()
  expect((await inbox())[0]).toMatchObject({ signature: 'valid', status: 503 })
  const [, last] = (await emulator.control('GET', '/webhooks/deliveries')).body.data
  expect(last).toMatchObject({ status: 'failed', attempts: [{ status: 503 }] })
  await emulator.control('POST', '/faults', {
    match: { webhook: 'batch_prediction.completed' },
    do: [{ deliver: { sign: 'wrong' } }],
  })
  await finish()
  expect((await inbox())[0]).toMatchObject({ signature: 'wrong' })
})

test('a delivery to another receiver is sent to the inbox, too', async () => {
  const { emulator, created, finish, inbox } = await withInbox()
  await emulator.control('DELETE', `/webhooks/${created.body.id}`)
  await emulator.control('POST', '/webhooks', { url: 'http://127.0.0.1:9/hook' })
  const id = await finish()
  const [delivery] = (await emulator.control('GET', '/webhooks/deliveries')).body.data
  await emulator.control('POST', `/webhooks/deliveries/${delivery.id}/inbox`)
  expect(await inbox()).toMatchObject([{ type: delivery.type, body: delivery.body }])
  expect(JSON.stringify(await inbox())).toContain(id)
})
