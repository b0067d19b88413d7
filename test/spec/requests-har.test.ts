import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { batchBody, sampleRecords } from '../support/sample-calls.ts'

async function logged() {
  const emulator = await testEmulator({ collections: sampleRecords })
  await emulator.post('/batch-predictions', batchBody())
  await emulator.get('/data-views', { headers: { 'x-api-key': 'misplaced-secret', 'x-trace': '7' } })
  const arm = { id: 'gone', match: { method: 'GET' }, do: [{ cut: { at: 'before-handler', how: 'rst' } }] }
  await emulator.control('POST', '/faults', arm)
  await emulator.get('/data-views').catch(() => {})
  return { emulator, har: (query = '') => emulator.control('GET', `/requests/har${query}`) }
}

test('the log is shown as HAR 1.2, with bodies, headers and real durations, but without keys; a cut request has no response', async () => {
  const { emulator, har } = await logged()
  const { status, body } = await har()
  expect([status, body.log.version, body.log.entries.length]).toEqual([200, '1.2', 3])
  const [created, listed, cut] = body.log.entries
  expect(created.request.postData.text).toBe(JSON.stringify(batchBody()))
  expect(JSON.parse(created.response.content.text)).toMatchObject({ object: 'batch_prediction' })
  expect(created.response.content.size).toBe(created.response.content.text.length)
  expect(created.time).toBe(created.timings.send + created.timings.wait + created.timings.receive)
  expect(created).toMatchObject({ _operation: 'batch-predictions.create', _faults: [] })
  expect(listed.request.headers).toContainEqual({ name: 'x-trace', value: '7' })
  expect(JSON.stringify(body)).not.toMatch(/misplaced-secret|live_owner|Bearer/)
  const response = { status: 0, statusText: '', headers: [], content: { size: 0, mimeType: '' } }
  expect(cut).toMatchObject({ response, _faults: ['gone'] })
  expect(emulator.sandbox.log.size).toBe(3)
})

test('the HAR route accepts the filters of the list, and refuses invalid ones', async () => {
  const { har } = await logged()
  expect((await har('?operation=batch-predictions.create')).body.log.entries.length).toBe(1)
  for (const query of ['?operation=pages.creat', '?full=true']) expect((await har(query)).status).toBe(400)
})
