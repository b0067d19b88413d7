import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RecordingBundle } from '../../src/core/record/bundle.ts'
import type { EndpointRequest } from '../../src/endpoints/define.ts'
import { replayBundle } from '../../src/tools/replay/run.ts'
import { command, temporaryDirectory } from '../cli/in-process.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { folderWith, put } from '../support/endpoint-folder.ts'

const NOTES = `import { defineEndpoint } from 'agent-workspace-emulator'
import { title } from './lib/title'

export default [
  defineEndpoint({
    method: 'POST',
    path: '/notes',
    body: { type: 'object', required: ['text'] },
    handle: ({ body, records, chance, at }) => ({
      status: 201,
      headers: { 'x-chance': String(chance()) },
      body: records('notes').insert({ text: title(body.text), at }),
    }),
  }),
  defineEndpoint({ method: 'GET', path: '/notes', handle: ({ records, list }) => ({ body: list(records('notes').all()) }) }),
  defineEndpoint({
    method: 'DELETE',
    path: '/notes/{id}',
    handle: ({ records, params, refuse }) =>
      records('notes').delete(params.id) ? { status: 204 } : refuse(410, 'note_gone', 'There is no note ' + params.id),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/orders',
    idempotent: true,
    handle: ({ records, newId }) => ({ body: records('orders').insert({ number: newId() }) }),
  }),
  defineEndpoint({ method: 'PUT', path: '/files', accept: 'bytes', handle: ({ body }) => ({ body: body.map((byte) => 255 - byte) }) }),
  defineEndpoint({ method: 'GET', path: '/words', handle: ({ stream }) => stream.lines([{ data: 'grün' }, { data: 'rot' }]) }),
  defineEndpoint({ method: 'GET', path: '/turns', responses: [{ body: { n: 1 } }, { body: { n: 2 } }] }),
  defineEndpoint({ method: 'GET', path: '/open', auth: false, handle: () => ({ body: 'plain text' }) }),
  defineEndpoint({ method: 'GET', path: '/broken', handle: ({ records }) => { records('notes').insert({}); throw new Error('too bad') } }),
]
`
const FILES = {
  'notes.ts': NOTES,
  'lib/title.ts': "export const title = (text: string) => 'Note: ' + text\n",
}

/** Everything that an endpoint can do, over HTTP. */
async function used({ get, post, request, control, ...emulator }: TestEmulator) {
  const first = await post('/notes', { text: 'a' })
  await post('/notes', { text: 'b' })
  expect((await post('/notes', {})).status).toBe(400)
  await control('POST', '/requests/default-000002/resend')
  expect((await request('DELETE', `/notes/${first.body.id}`)).status).toBe(204)
  expect((await request('DELETE', '/notes/none')).body.error).toBe('note_gone')
  const headers = { 'idempotency-key': 'k' }
  const order = (await post('/orders', {}, { headers })).body
  expect((await post('/orders', {}, { headers })).body).toEqual(order)
  await request('PUT', '/files', { raw: Uint8Array.of(0, 1, 2, 255), type: 'application/octet-stream' })
  await get('/words')
  await get('/turns')
  await get('/turns')
  await get('/open', { key: 'none' })
  expect((await get('/broken')).status).toBe(500)
  const rule = { match: { operation: 'notes.list' }, times: 1, do: [{ body: { patch: { extra: 1 } } }] }
  await control('POST', '/faults', rule)
  await get('/notes')
  await control('POST', '/clock/advance', { by: '1h' })
  await get('/notes?limit=1')
  await post('/pages', { name: 'Roof plan' })
  expect(emulator.state('notes').map(({ text }) => text)).toEqual(['Note: b', 'Note: b'])
}

async function recorded(emulator: TestEmulator) {
  const { body } = await emulator.control('GET', '/record')
  const file = join(temporaryDirectory(), 'recording.json')
  writeFileSync(file, JSON.stringify(body, null, 2))
  return { file, bundle: body as RecordingBundle }
}

const SAME = / inputs repeated: every output is the same, byte for byte\.$/
const GIVEN = 'Your own endpoints have responded as recorded; their files were not run.'

test('a recording replays with the results and the records of the endpoints, without their files and a flag', async () => {
  const endpoints = folderWith(FILES)
  const emulator = await testEmulator({ endpoints })
  await used(emulator)
  const { file, bundle } = await recorded(emulator)
  expect(Object.keys(bundle.endpoints?.files ?? {})).toEqual(['notes.ts', 'lib/title.ts'])
  expect(bundle.scenarios).toEqual({})
  const { code, out } = await command(['replay', file])
  expect([code, out]).toEqual([0, expect.stringMatching(SAME)])
  expect(out).toContain(GIVEN)
  const options = { until: bundle.inputs.length, scenarios: temporaryDirectory(), listen: false }
  const replay = await replayBundle(bundle, options)
  const rows = (collection: string) => [...replay.sandbox.store.rows(collection).values()]
  await replay.emulator.close()
  for (const collection of ['notes', 'orders', 'pages'])
    expect(rows(collection)).toEqual(emulator.state(collection))
})

test('a recording that begins with records of the user replays with the order of their fields', async () => {
  const emulator = await testEmulator({ endpoints: folderWith(FILES) })
  await emulator.post('/notes', { text: 'a' })
  const before = (await emulator.get('/notes')).text
  expect((await (await emulator.restart()).get('/notes')).text).toBe(before)
  await emulator.control('POST', '/snapshots', { name: 'one' })
  await emulator.control('POST', '/snapshots/one/restore')
  expect((await emulator.get('/notes')).text).toBe(before)
  const { file } = await recorded(emulator)
  expect((await command(['replay', file])).code).toBe(0)
})

test('a changed result shows that the recorded one is given', async () => {
  const emulator = await testEmulator({ endpoints: folderWith(FILES) })
  await emulator.get('/open')
  const { file, bundle } = await recorded(emulator)
  const bytes = Buffer.from('other text').toString('base64')
  Object.assign(bundle.endpoints?.results[0]?.reply ?? {}, { bytes })
  writeFileSync(file, JSON.stringify(bundle))
  const { code, out } = await command(['replay', file])
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/recorded {2}plain text\n {2}replayed {2}other text/),
  ])
})

test('where the files are those of the recording, they are run and compared', async () => {
  const endpoints = folderWith(FILES)
  const emulator = await testEmulator({ endpoints })
  await used(emulator)
  const { file, bundle } = await recorded(emulator)
  // Without results, only the files can respond.
  writeFileSync(file, JSON.stringify({ ...bundle, endpoints: { ...bundle.endpoints, results: [] } }))
  const { code, out } = await command(['replay', file, '--endpoints', endpoints])
  expect([code, out]).toEqual([0, expect.stringMatching(SAME)])
  expect(out).toContain(`The endpoints of ${endpoints} are those of the recording, and were run.`)
})

test.for([
  ['a changed helper', { 'lib/title.ts': 'export const title = () => "other"\n' }],
  ['another file of endpoints', { 'more.js': 'export default []' }],
])('with %s, the files are not run', async ([, change]) => {
  const endpoints = folderWith(FILES)
  const emulator = await testEmulator({ endpoints })
  await emulator.post('/notes', { text: 'a' })
  const { file } = await recorded(emulator)
  put(endpoints, change as Record<string, string>)
  const { code, out } = await command(['replay', file, '--endpoints', endpoints])
  expect([code, out]).toEqual([0, expect.stringContaining(GIVEN)])
})

test('after a reload the recording has the results only, also those of an endpoint that is gone', async () => {
  const endpoints = folderWith(FILES)
  const emulator = await testEmulator({ endpoints })
  await emulator.get('/open')
  put(endpoints, { 'notes.ts': NOTES.replace('/open', '/opened') })
  await emulator.control('GET', '/endpoints')
  await emulator.get('/opened')
  const { file, bundle } = await recorded(emulator)
  expect(bundle.endpoints?.files).toEqual({})
  const { code, out } = await command(['replay', file, '--endpoints', endpoints])
  expect([code, out]).toEqual([0, expect.stringContaining(GIVEN)])
})

test('a rule about an operation that is gone does not stop a replay', async () => {
  const endpoints = folderWith(FILES)
  const emulator = await testEmulator({ endpoints })
  const rule = { match: { operation: 'gone.list' }, do: [{ respond: { status: 503 } }] }
  await emulator.control('POST', '/faults', rule)
  await emulator.control('POST', '/snapshots', { name: 'one' })
  await emulator.control('POST', '/snapshots/one/restore')
  await emulator.get('/open')
  const { file } = await recorded(emulator)
  expect((await command(['replay', file])).code).toBe(0)
})

test('keys and secrets of results are placeholders', async () => {
  const handle = ({ body, records }: EndpointRequest) => ({ body: records('seen').insert(body as object) })
  const emulator = await testEmulator({ endpoints: [{ method: 'POST', path: '/echo', handle }] })
  await emulator.post('/echo', { password: 'correct-horse-battery' })
  const { file, bundle } = await recorded(emulator)
  expect(JSON.stringify(bundle)).not.toContain('correct-horse-battery')
  expect((await command(['replay', file])).code).toBe(0)
})
