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

test('the log is shown as HAR 1.2, with bodies, headers and real durations, but without keys and secrets', async () => {
  const { emulator, status, body } = await harOf()
  expect([status, body.log.version, body.log.entries.length]).toEqual([200, '1.2', 3])
  const [created, listed] = body.log.entries
  expect(created.request.postData.text).toBe(JSON.stringify(batchBody()))
  expect(JSON.parse(created.response.content.text)).toMatchObject({ object: 'batch_prediction' })
  expect(created.response.content.size).toBe(created.response.content.text.length)
  expect(created.time).toBe(created.timings.send + created.timings.wait + created.timings.receive)
  expect(created).toMatchObject({ _operation: 'batch-predictions.create', _faults: [] })
  expect(listed.request.headers).toContainEqual({ name: 'x-trace', value: '7' })
  expect(JSON.stringify(body)).not.toMatch(/misplaced-secret|live_owner|Bearer/)
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
  for (const query of ['operation=pages.creat', 'full=true'])
    expect((await emulator.control('GET', `/requests/har?${query}`)).status).toBe(400)
})
