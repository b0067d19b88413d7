import { createHmac } from 'node:crypto'
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

test('the inbox shows whether a signature is valid, and responds with the status of the setting', async () => {
  const { emulator, created, finish, inbox } = await withInbox()
  expect(await inbox()).toEqual([])
  const id = await finish()
  const first = { type: 'batch_prediction.completed', attempt: 1, copy_of: null, body: { id } }
  expect(await inbox()).toMatchObject([{ ...first, signature: null, status: 200 }])
  await emulator.control('DELETE', `/webhooks/${created.body.id}`)
  await emulator.control('POST', '/webhooks', { inbox: true, secret: 'shared' })
  await emulator.control('PATCH', '/settings', { 'webhooks.inbox_status': 503 })
  await finish()
  expect((await inbox())[0]).toMatchObject({ signature: 'valid', status: 503 })
  const [, last] = (await emulator.control('GET', '/webhooks/deliveries')).body.data
  expect(last).toMatchObject({ status: 'failed', attempts: [{ status: 503 }] })
})

const PLAIN = { header: 'X-Sign', secret: 'shared', prefix: 'v1=' }
const TIMED = { ...PLAIN, timestamp_header: 'X-Time', tolerance: '2m' }

test.for([
  ['valid', TIMED, 'valid', null],
  ['wrong', TIMED, 'wrong', 'not have the HMAC-SHA256 of the timestamp and the bytes of the body'],
  ['missing', TIMED, 'missing', 'There is no header X-Sign.'],
  ['old', TIMED, 'old', 'The timestamp in X-Time is 121s old, and at most 2m is allowed.'],
  ['old', PLAIN, 'wrong', 'X-Sign does not have the HMAC-SHA256 of the bytes of the body'],
] as const)(
  'a fault applies to the inbox: a signature that is %s under %j is shown as %s, with the reason',
  async ([sign, signature, shown, problem]) => {
    const { emulator, finish, inbox } = await withInbox()
    await emulator.control('PATCH', '/settings', { 'webhooks.signature': signature })
    await emulator.control('POST', '/faults', {
      match: { webhook: '*' },
      do: [{ deliver: { sign, copies: 2 } }],
    })
    await finish()
    const [message, first] = await inbox()
    expect(message).toMatchObject({ copy_of: first.id, body: first.body, signature: shown })
    expect(message.signature_problem).toEqual(problem && expect.stringContaining(problem))
    // A stored message keeps its result when the settings change.
    const other = { 'webhooks.signature': { header: 'X-Other', secret: 'other' } }
    await emulator.control('PATCH', '/settings', other)
    expect((await inbox())[0]).toEqual(message)
  },
)

test('a delivery to another receiver can also be sent to the inbox, which keeps its headers and exact bytes', async () => {
  const { emulator, created, finish, inbox } = await withInbox()
  await emulator.control('DELETE', `/webhooks/${created.body.id}`)
  await emulator.control('POST', '/webhooks', { url: 'http://127.0.0.1:9/hook', secret: 'own' })
  await finish()
  const [delivery] = (await emulator.control('GET', '/webhooks/deliveries')).body.data
  await emulator.control('POST', `/webhooks/deliveries/${delivery.id}/inbox`)
  const [{ raw, signature, body }] = await inbox()
  expect(body).toEqual(delivery.body)
  expect([signature, JSON.parse(raw.body)]).toEqual(['valid', body])
  expect(raw.headers).toMatchObject({
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(raw.body)),
    'X-Emulator-Event': 'batch_prediction.completed',
    'X-Emulator-Signature': createHmac('sha256', 'own').update(raw.body).digest('hex'),
  })
})
