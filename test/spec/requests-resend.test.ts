import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

async function logged(send: (emulator: Awaited<ReturnType<typeof testEmulator>>) => Promise<unknown>) {
  const emulator = await testEmulator({ collections: sampleRecords })
  await send(emulator)
  const [first] = (await emulator.control('GET', '/requests')).body.data
  return { emulator, first, resend: () => emulator.control('POST', `/requests/${first.id}/resend`) }
}

test('a logged request can be sent again as its caller, and has its effect again', async () => {
  const { first, resend } = await logged((emulator) => emulator.post('/batch-predictions', batchBody()))
  const { status, body } = await resend()
  const { operation, caller } = first
  expect([status, body]).toMatchObject([200, { operation, status: first.status, caller }])
  expect(body.changed).not.toEqual(first.changed)
})

test('a request that is sent again with its idempotency key is replayed', async () => {
  const headers = { 'idempotency-key': 'try-1' }
  const { resend } = await logged((emulator) => emulator.post('/batch-predictions', batchBody(), { headers }))
  expect((await resend()).body).toMatchObject({ idempotency: 'replay', changed: [] })
})

test('a request whose API key was deleted is refused when sent again', async () => {
  const { emulator, first, resend } = await logged((emulator) => emulator.get('/data-views'))
  await emulator.control('DELETE', `/state/api_keys/${first.caller.key_id}`)
  expect((await resend()).body).toMatchObject({ status: 401, error: { code: 'unauthorized' } })
})

test('a request without a route or without a log entry is refused with the reason', async () => {
  const { emulator, resend } = await logged((emulator) => emulator.get('/nothing-here'))
  const message = expect.stringContaining('it matches no route')
  expect(await resend()).toMatchObject({ status: 409, body: { message } })
  expect((await emulator.control('POST', '/requests/default-000999/resend')).status).toBe(404)
})
