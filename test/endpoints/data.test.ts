import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineEndpoint, type EndpointRequest } from '../../src/endpoints/define.ts'
import { testEmulator } from '../support/emulator.ts'

test('responses are given in turn, counted in each sandbox and kept in its state', async () => {
  const responses = [{ status: 202, body: { n: 1 } }, { body: { n: 2 } }]
  const emulator = await testEmulator({
    endpoints: [
      defineEndpoint({ method: 'GET', path: '/turns', responses }),
      defineEndpoint({ method: 'GET', path: '/circle', responses, cycle: true }),
    ],
  })
  for (const status of [202, 200, 200]) expect((await emulator.get('/turns')).status).toBe(status)
  for (const status of [202, 200, 202]) expect((await emulator.get('/circle')).status).toBe(status)
  const after = await emulator.restart()
  expect((await after.get('/turns')).status).toBe(200)
  await emulator.control('POST', '/reset')
  expect((await emulator.get('/turns')).status).toBe(202)
})

test('of several definitions of a path, the one with the most conditions that fit responds', async () => {
  const [method, path] = ['POST', '/converse'] as const
  const text = { body: { '/text': { equals: 'hi' } } }
  const emulator = await testEmulator({
    endpoints: [
      defineEndpoint({ method, path, response: { body: { by: 'any' } } }),
      defineEndpoint({ method, path, match: text, response: { body: { by: 'text' } } }),
      defineEndpoint({
        ...{ method, path, match: { ...text, headers: { 'x-kind': 'a*' } } },
        response: { body: { by: 'both', said: { $request: '/body/text' } } },
      }),
    ],
  })
  const by = async (text: string, headers = {}) => (await emulator.post(path, { text }, { headers })).body
  expect(await by('no')).toEqual({ by: 'any' })
  expect(await by('hi')).toEqual({ by: 'text' })
  expect(await by('hi', { 'x-kind': 'abc' })).toEqual({ by: 'both', said: 'hi' })
})

test('a stub has the same fields: match, responses and a stream', async () => {
  const emulator = await testEmulator()
  const stub = { method: 'GET', path: '/search' }
  await emulator.control('POST', '/stubs', [
    { ...stub, match: { query: { q: 'x*' } }, responses: [{ body: { n: 1 } }, { body: { n: 2 } }] },
    { ...stub, path: '/live', stream: { lines: [{ data: 1 }, { data: 2 }] } },
  ])
  for (const n of [1, 2]) expect((await emulator.get('/search?q=xy')).body).toEqual({ n })
  expect((await emulator.get('/search?q=a')).status).toBe(501)
  expect((await emulator.get('/live')).text).toBe('1\n2\n')
})

test('a stub of the sandbox responds instead of an endpoint, and a function instead of data', async () => {
  const emulator = await testEmulator({
    endpoints: [
      defineEndpoint({ method: 'GET', path: '/search', response: { body: { by: 'data' } } }),
      defineEndpoint({
        ...{ method: 'GET', path: '/search', match: { query: { q: '*' } } },
        handle: ({ query }) => ({ body: { by: 'function', query } }),
      }),
    ],
  })
  expect((await emulator.get('/search')).body).toEqual({ by: 'data' })
  expect((await emulator.get('/search?q=1')).body).toEqual({ by: 'function', query: { q: '1' } })
  await emulator.control('POST', '/stubs', { method: 'GET', path: '/search', body: { by: 'stub' } })
  expect((await emulator.get('/search?q=1')).body).toEqual({ by: 'stub' })
})

test('bytes of any type go in and out', async () => {
  const turn = defineEndpoint({
    method: 'POST',
    path: '/files',
    accept: 'bytes',
    handle: ({ body, headers }) => ({
      status: 201,
      headers: { 'content-type': headers['content-type'] ?? '' },
      body: (body as Uint8Array).toReversed(),
    }),
  })
  const emulator = await testEmulator({ endpoints: [turn] })
  const raw = Buffer.from('ü>p<', 'latin1')
  const { status, headers, text } = await emulator.request('POST', '/files', { raw, type: 'text/html' })
  const head = ['content-type', 'content-length'].map((name) => headers.get(name))
  expect([status, ...head, text.slice(0, 3)]).toEqual([201, 'text/html', '4', '<p>'])
})

test('a key replays the first response, and another body under it is a conflict', async () => {
  const create = defineEndpoint({
    method: 'POST',
    path: '/jobs',
    idempotent: true,
    body: z.object({ n: z.number() }),
    handle: ({ records, body }) => ({ status: 201, body: records('jobs').insert(body) }),
  })
  const emulator = await testEmulator({ endpoints: [create] })
  const headers = { 'idempotency-key': 'k' }
  const first = await emulator.post('/jobs', { n: 1 }, { headers })
  const again = await emulator.post('/jobs', { n: 1 }, { headers })
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
  expect((await emulator.post('/jobs', { n: 2 }, { headers })).status).toBe(409)
  expect(emulator.state('jobs')).toHaveLength(1)
})

test('an endpoint without auth needs no key, and knows the caller of a request that has one', async () => {
  const handle = ({ caller }: EndpointRequest) => ({ body: { ...caller } })
  const open = { method: 'GET', path: '/open', auth: false, handle } as const
  const emulator = await testEmulator({ endpoints: [defineEndpoint(open)] })
  const nobody = await emulator.get('/open', { key: 'none' })
  expect([nobody.status, nobody.body.user_id]).toEqual([200, null])
  expect((await emulator.get('/open')).body.user_id).toBe('user-owner')
})
