import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineEndpoint } from '../../src/endpoints/define.ts'
import { testEmulator } from '../support/emulator.ts'

const write = defineEndpoint({
  method: 'POST',
  path: '/notes',
  summary: 'Write a note',
  body: z.object({ text: z.string().min(1) }),
  handle({ body, records, caller, at }) {
    const note = records('notes').insert({ text: body.text, author_id: caller.user_id, created_at: at })
    return { status: 201, body: note }
  },
})

const list = defineEndpoint({
  method: 'GET',
  path: '/notes',
  handle: ({ records, list: page }) => ({ body: page(records('notes').all()) }),
})

const retrieve = defineEndpoint({
  method: 'GET',
  path: '/notes/{id}',
  handle: ({ records, params, refuse }) => ({
    body:
      records('notes').get(params.id ?? '') ?? refuse(404, 'no_such_note', `There is no note ${params.id}.`),
  }),
})

const notes = [write, list, retrieve]

test('a function writes a record, and later requests read it', async () => {
  const emulator = await testEmulator({ endpoints: notes })
  const made = await emulator.post('/notes', { text: 'hello' })
  expect([made.status, made.body]).toMatchObject([201, { text: 'hello', author_id: expect.any(String) }])
  expect(made.assumed).toContain('U043')
  expect((await emulator.get(`/notes/${made.body.id}`)).body).toEqual(made.body)
  expect((await emulator.get('/notes')).body).toEqual({ object: 'list', data: [made.body], has_more: false })
  expect(emulator.state('notes')).toEqual([made.body])
})

test('a body that does not fit its schema, and a refusal of a function, have their errors', async () => {
  const emulator = await testEmulator({ endpoints: notes })
  const before = emulator.digest()
  const wrong = await emulator.post('/notes', { text: '' })
  expect([wrong.status, wrong.body.details.errors]).toMatchObject([400, [{ pointer: '/text' }]])
  const { status, body } = await emulator.get('/notes/none')
  expect([status, body.error, body.message]).toEqual([404, 'no_such_note', 'There is no note none.'])
  expect(emulator.digest()).toBe(before)
})

test('a list has pages with cursors, in the order of its rows', async () => {
  const emulator = await testEmulator({ endpoints: notes })
  const ids: string[] = []
  for (const text of ['a', 'b', 'c']) ids.push((await emulator.post('/notes', { text })).body.id)
  const page = async (query: string) => {
    const { data, has_more } = (await emulator.get(`/notes?${query}`)).body
    return [data.map((note: { id: string }) => note.id), has_more]
  }
  expect(await page('limit=2')).toEqual([ids.slice(0, 2), true])
  expect(await page(`limit=2&after=${ids[1]}`)).toEqual([ids.slice(2), false])
  expect((await emulator.get('/notes?after=unknown')).status).toBe(400)
  expect((await emulator.get('/notes?limit=0')).status).toBe(400)
})

test('the parameters of a list, and all others that a function gets, count as read', async () => {
  const emulator = await testEmulator({ endpoints: notes })
  expect((await emulator.get('/notes?limit=1&page=2')).status).toBe(200)
  const { body } = await emulator.control('GET', '/explain/default-000001')
  expect(body.unread_query).toBeUndefined()
})

test('the error of a function that is given to a start names its file and line', async () => {
  const handle = () => {
    throw new TypeError('boom')
  }
  const throws = defineEndpoint({ method: 'POST', path: '/broken', handle })
  const { status, body } = await (await testEmulator({ endpoints: [throws] })).post('/broken', {})
  expect([status, body.error]).toEqual([500, 'internal_error'])
  expect(body.message).toMatch(
    /^The function of POST \/broken failed: test\/endpoints\/functions.test.ts:\d+: TypeError: boom$/,
  )
})

test('records of built-in collections are checked as everywhere, and never show the facts of the emulator', async () => {
  const reply = defineEndpoint({
    method: 'POST',
    path: '/conversations/{id}/replies',
    handle({ records, params, body }) {
      const _emulator = { conversation_id: params.id, kind: 'agent' }
      return { status: 201, body: records('messages').insert({ ...(body as object), _emulator }) }
    },
  })
  const conversations = [{ id: 'c1', _emulator: { teamspace_id: 'ts-a' } }]
  const emulator = await testEmulator({ endpoints: [reply], collections: { conversations } })
  const made = await emulator.post('/conversations/c1/replies', { text: 'hi' })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), text: 'hi' })
  const wrong = await emulator.post('/conversations/c2/replies', { text: 'hi' })
  expect(wrong.status).toBe(500)
  expect(wrong.body.message).toContain('/_emulator/conversation_id')
  expect(emulator.state('messages')).toHaveLength(1)
})

test('a function that does not end is stopped, others are served', async () => {
  const handle = () => {
    for (;;);
  }
  const endless = defineEndpoint({ method: 'GET', path: '/endless', handle })
  const emulator = await testEmulator({ endpoints: [endless, ...notes] })
  const { status, body } = await emulator.get('/endless')
  expect([status, body.message]).toEqual([500, expect.stringContaining('was stopped')])
  expect((await emulator.get('/notes')).status).toBe(200)
})

test('with --strict, the endpoints of a user respond with 501, and nothing of them runs', async () => {
  const data = defineEndpoint({ method: 'GET', path: '/search', response: { body: {} } })
  const match = { query: { q: '*' } }
  const other = defineEndpoint({ ...data, match, response: { body: { by: 'match' } } })
  const emulator = await testEmulator({ endpoints: [...notes, data, other], strict: true })
  const before = emulator.digest()
  const gets = ['/notes', '/search', '/search?q=1'].map((path) => emulator.get(path))
  const posts = ['a', ''].map((text) => emulator.post('/notes', { text }))
  for (const { status, body } of await Promise.all([...gets, ...posts]))
    expect([status, body.error]).toEqual([501, 'emulator_contract_unspecified'])
  expect(emulator.digest()).toBe(before)
})
