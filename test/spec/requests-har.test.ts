import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

async function harOf(query = '') {
  const emulator = await testEmulator({ collections: sampleRecords })
  await emulator.post('/batch-predictions', batchBody())
  await emulator.get('/data-views', { headers: { 'x-api-key': 'misplaced-secret', 'x-trace': '7' } })
  const arm = { id: 'gone', match: { method: 'GET' }, do: [{ cut: { at: 'before-handler', how: 'rst' } }] }
  await emulator.control('POST', '/faults', arm)
  await emulator.get('/data-views').catch(() => {})
  const { status, body } = await emulator.control('GET', `/requests/har${query}`)
  return { emulator, status, body }
}

test('the log is shown as HAR 1.2, with bodies and real durations', async () => {
  const { status, body } = await harOf()
  expect([status, body.log.version, body.log.entries.length]).toEqual([200, '1.2', 3])
  const [created] = body.log.entries
  expect(created.request.postData.text).toBe(JSON.stringify(batchBody()))
  expect(JSON.parse(created.response.content.text)).toMatchObject({ object: 'batch_prediction' })
  expect(created.response.content.size).toBe(created.response.content.text.length)
  expect(created.time).toBe(created.timings.send + created.timings.wait + created.timings.receive)
  expect(created).toMatchObject({ _operation: 'batch-predictions.create', _faults: [] })
})

test('the HAR has no keys and secrets, but other headers', async () => {
  const { emulator, body } = await harOf()
  const text = JSON.stringify(body)
  expect(text).not.toContain('misplaced-secret')
  expect(text).not.toMatch(/live_owner|Bearer/)
  expect(body.log.entries[1].request.headers).toContainEqual({ name: 'x-trace', value: '7' })
  expect(emulator.sandbox.log.size).toBe(3)
})

test('a request that a fault has cut has the status 0 and no response', async () => {
  const { body } = await harOf('?limit=1')
  const response = { status: 0, statusText: '', headers: [], content: { size: 0, mimeType: '' } }
  expect(body.log.entries).toMatchObject([{ response, _faults: ['gone'] }])
})

test('the HAR route accepts the filters of the list, and refuses invalid ones', async () => {
  const { emulator, body } = await harOf('?operation=batch-predictions.create')
  expect(body.log.entries.length).toBe(1)
  expect((await emulator.control('GET', '/requests/har?operation=pages.creat')).status).toBe(400)
  expect((await emulator.control('GET', '/requests/har?full=true')).status).toBe(400)
})
