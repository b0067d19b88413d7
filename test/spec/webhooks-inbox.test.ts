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
