import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { mountPath } from '../support/transport.ts'

/** Returns every part of a request that a stub can use. */
const PARTS = ['method', 'path', 'params', 'query', 'headers', 'body']
const mirror = Object.fromEntries(PARTS.map((part) => [part, { $request: `/${part}` }]))

const stub = { method: 'GET', path: '/search', body: { object: 'list', data: [] } }

test('a stub responds instead of the 501 of its operation', { tags: ['R223'] }, async () => {
  const emulator = await testEmulator()
  expect((await emulator.get('/search')).body.mitigation).toContain('sandbox.stubs.create()')
  const made = await emulator.control('POST', '/stubs', { ...stub, headers: { 'X-Kind': 'stub' } })
  expect([made.status, made.body]).toMatchObject([201, { id: 'stub', source: 'control', status: 200 }])
  const { status, body, headers } = await emulator.get('/search?query=x')
  expect([status, body]).toEqual([200, stub.body])
  expect(headers.get('x-kind')).toBe('stub')
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test('a stub can respond to a path without a route', { tags: ['R223', 'U045'] }, async () => {
  const emulator = await testEmulator()
  const path = '/conversations/{conversation_id}/messages/{message_id}'
  await emulator.control('POST', '/stubs', { method: 'GET', path, body: mirror })
  const headers = { 'X-Trace': 't1', 'X-Api-Key': 'live_misplaced' }
  const { status, body } = await emulator.get('/conversations/c%201/messages/m1?limit=5', { headers })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    method: 'GET',
    path: `${mountPath()}/v1/conversations/c%201/messages/m1`,
    params: { conversation_id: 'c 1', message_id: 'm1' },
    query: { limit: '5' },
  })
  expect(body.headers['x-trace']).toBe('t1')
  expect(JSON.stringify(body)).not.toMatch(/live_/)
  expect(body).not.toHaveProperty('body')
  expect((await emulator.get('/conversations/c1/messages')).status).toBe(404)
  expect((await emulator.post('/conversations/c1/messages/m1', {})).status).not.toBe(200)
})

test('a stub takes precedence over the records of its operation', { tags: ['U043'] }, async () => {
  const agent = { id: 'a1', _emulator: { teamspace_id: 'ts-a' } }
  const emulator = await testEmulator({ collections: { agents: [agent] } })
  expect((await emulator.get('/agents')).body.data).toEqual([{ id: 'a1' }])
  await emulator.control('POST', '/stubs', { method: 'GET', path: '/agents', body: { agents: 'stubbed' } })
  const stubbed = await emulator.get('/agents')
  expect([stubbed.body, stubbed.assumed]).toEqual([{ agents: 'stubbed' }, expect.arrayContaining(['U043'])])
  await emulator.control('DELETE', '/stubs')
  expect((await emulator.get('/agents')).body.data).toEqual([{ id: 'a1' }])
})

test('a missing part of the request is omitted from an object, and null elsewhere', async () => {
  const emulator = await testEmulator()
  const absent = { $request: '/body/absent' }
  const body = { absent, there: { $request: '/body/there' }, list: [absent, 1], deep: { absent } }
  await emulator.control('POST', '/stubs', [
    { method: 'POST', path: '/converse', body },
    { method: 'POST', path: '/whole', body: { $request: '/body' } },
  ])
  const filled = { there: null, list: [null, 1], deep: {} }
  expect((await emulator.post('/converse', { there: null })).body).toEqual(filled)
  expect((await emulator.post('/whole')).text).toBe('null')
  expect((await emulator.post('/whole', [1, { a: 1.5 }])).body).toEqual([1, { a: 1.5 }])
})

test('a stub requires a key, uses quota, and has the headers of every response', async () => {
  const override = { operation: 'search.query', limit: 1, window_s: 60 }
  const emulator = await testEmulator({ settings: { 'limits.overrides': [override] } })
  await emulator.control('POST', '/stubs', [stub, { ...stub, path: '/notes/{id}', status: 503 }])
  expect((await emulator.get('/search', { key: 'none' })).status).toBe(401)
  const [first, second] = [await emulator.get('/search'), await emulator.get('/search')]
  expect([first.status, second.status]).toEqual([200, 429])
  expect(first.headers.get('x-ratelimit-limit')).toBe('1')
  const note = await emulator.get('/notes/1')
  expect([note.status, note.headers.get('x-ratelimit-remaining')]).toEqual([503, '199'])
  expect((await emulator.get('/notes/2')).headers.get('x-ratelimit-remaining')).toBe('198')
  expect((await emulator.get('/notes/3', { key: 'none' })).headers.get('x-ratelimit-limit')).toBe('200')
  const windows = await emulator.control('GET', '/limits')
  expect(windows.body.data.map(({ key }: { key: string }) => key)).toContain('ts-a GET /notes/{id}')
})

test('a request with a stub response is in the log and can be explained', async () => {
  const emulator = await testEmulator()
  const notes = { id: 'notes', method: 'POST', path: '/notes', status: 202, body: {} }
  await emulator.control('POST', '/stubs', notes)
  const { headers } = await emulator.post('/notes', { text: 'x' })
  await emulator.control('DELETE', '/stubs/notes')
  const { body } = await emulator.control('GET', `/explain/${headers.get('x-emulator-request-id')}`)
  expect(body).toMatchObject({
    route: { operation: 'POST /notes', path: '/notes', stub: 'notes' },
    request: { body: { text: 'x' } },
    specification: 'Endpoints named without a contract',
  })
  const description = expect.stringContaining('The stub notes responded with 202 instead of the service')
  expect(body.steps).toContainEqual(expect.objectContaining({ step: 'handle', description }))
  const { data } = (await emulator.control('GET', '/requests')).body
  expect(data.map(({ operation }: { operation: string }) => operation)).toEqual(['POST /notes'])
})

test('the body of a request to a stub has to be JSON, and a stub without a body responds without one', async () => {
  const emulator = await testEmulator()
  const body = { got: { $request: '/body' } }
  await emulator.control('POST', '/stubs', { method: 'POST', path: '/notes', body })
  expect((await emulator.request('POST', '/notes', { raw: '{' })).body.error).toBe('malformed_json')
  expect((await emulator.post('/notes')).body).toEqual({})
  await emulator.control('POST', '/stubs', { method: 'DELETE', path: '/notes/{id}', status: 204 })
  expect(await emulator.delete('/notes/1')).toMatchObject({ status: 204, text: '' })
})

test('the most literal stub responds, and the last written of equal ones', async () => {
  const emulator = await testEmulator()
  const responding = (path: string, body: string) =>
    emulator.control('POST', '/stubs', { method: 'GET', path, body })
  await responding('/notes/{id}', 'first')
  await responding('/notes/{note}', 'second')
  await responding('/notes/special', 'literal')
  expect((await emulator.get('/notes/1')).body).toBe('second')
  expect((await emulator.get('/notes/special')).body).toBe('literal')
  await emulator.control('DELETE', '/stubs/stub-2')
  expect((await emulator.get('/notes/1')).body).toBe('first')
  expect((await emulator.request('HEAD', '/notes/1')).status).toBe(200)
})

test('no stub responds under --strict', { tags: ['R223'] }, async () => {
  const emulator = await testEmulator({ strict: true })
  await emulator.control('POST', '/stubs', [stub, { ...stub, path: '/notes' }])
  expect((await emulator.control('GET', '/stubs')).body.answers).toBe(false)
  expect((await emulator.get('/search')).status).toBe(501)
  expect((await emulator.get('/notes')).status).toBe(404)
})

test.for<[title: string, change: object, pointer: string, description: string]>([
  ['the path of an operation with a contract', { method: 'POST', path: '/pages' }, '/path', 'pages.create'],
  ['one below such a template', { path: '/batch-predictions/b1' }, '/path', '"respond"'],
  ['a path with the version', { path: '/v1/search' }, '/path', 'the same for every sandbox: /search'],
  ['a path with a sandbox', { path: '/@w1/v1/search' }, '/path', ': /search'],
  ['a path without a slash', { path: 'search' }, '/path', 'must begin with a slash'],
  ['a segment that clients resolve', { path: '/files/../x' }, '/path', 'must have no segment ".."'],
  ['a query', { path: '/search?x=1' }, '/path', 'must have no query'],
  ['an empty segment', { path: '/a//b' }, '/path', 'between its slashes'],
  ['half a name in braces', { path: '/a/x{id}' }, '/path', '"x{id}"'],
  ['a name twice', { path: '/{id}/{id}' }, '/path', 'has {id} twice'],
  ['an unknown method', { method: 'FETCH' }, '/method', 'must be one of'],
  ['a status that is none', { status: 100 }, '/status', '200 to 599'],
  ['a header of ours', { headers: { 'Content-Length': '1' } }, '/headers/Content-Length', 'cannot be set by'],
  ['a line break in a header', { headers: { 'X-A': 'a\nb' } }, '/headers/X-A', 'Latin-1'],
  ['an unknown member', { bdy: {} }, '/bdy', 'Did you mean "body"?'],
  ['an unknown part of the request', { body: [{ $request: '/boddy/x' }] }, '/body/0/$request', '"body"?'],
  ['a place that is no pointer', { body: { $request: 'body' } }, '/body/$request', 'JSON Pointer'],
  ['a placeholder beside others', { body: { $request: '/body', b: 1 } }, '/body', 'no field other than $req'],
])('a stub with %s is refused, and nothing changes', async ([, change, pointer, description]) => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const { status, body } = await emulator.control('POST', '/stubs', { ...stub, ...change })
  expect(status).toBe(400)
  expect(body.details.errors).toEqual([{ pointer, detail: expect.stringContaining(description) }])
  expect(emulator.digest()).toBe(before)
})

test('a list of stubs is written as a whole or not at all', async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const a = { ...stub, id: 'a' }
  expect((await emulator.control('POST', '/stubs', [a, { ...a, path: '/other' }])).status).toBe(409)
  expect(emulator.digest()).toBe(before)
  const listed = await emulator.control('POST', '/stubs', [stub, { ...stub, path: '/other' }])
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual(['stub', 'stub-2'])
  expect((await emulator.control('GET', '/stubs/stbu')).body.message).toContain('Did you mean "stub"?')
  expect((await emulator.control('DELETE', '/stubs/stub-2')).body.path).toBe('/other')
})

test('a fixtures document can contain stubs, also for a new sandbox; a later one replaces a stub by its id', async () => {
  const emulator = await testEmulator()
  const load = async (...stubs: object[]) => (await emulator.control('POST', '/fixtures', { stubs })).body
  const search = { ...stub, id: 'search' }
  const note = { method: 'GET', path: '/notes/{id}', body: 'note' }
  expect(await load(search, note)).toEqual({ written: { stubs: 2 } })
  expect((await emulator.get('/notes/1')).body).toBe('note')
  await load({ ...search, body: 'again' })
  expect((await emulator.get('/search')).body).toBe('again')
  expect((await emulator.control('GET', '/stubs')).body.data).toHaveLength(2)
  await emulator.control('POST', '/sandboxes', { name: 'w1', fixtures: { extends: 'demo', stubs: [stub] } })
  const { data } = (await emulator.in('w1')('GET', '/stubs')).body
  expect(data).toMatchObject([{ id: 'stub', source: 'fixtures', path: '/search' }])
  expect((await load({ ...stub, path: 'x' })).details.errors[0].pointer).toBe('/stubs/0/path')
  expect((await load(stub, stub)).details.errors[0].pointer).toBe('/stubs/1/path')
})
