import { expect, test } from 'vitest'
import { pointersOf, refused } from '../support/refusal.ts'
import { type RequestOptions, type TestWorld, testWorld } from '../support/world.ts'

const uuid = (digit: string) => `${digit.repeat(8)}-0a0b-4c0d-8e0f-${digit.repeat(12)}`
const [AGENT, VOICE, USER, SYSTEM, ELSEWHERE] = ['a', '2', '3', '4', '5'].map(uuid)

const conversation = (id: string, facts: object = {}) => ({
  id,
  _emulator: { teamspace_id: 'ts-a', user_ids: ['user-owner', 'user-member'], ...facts },
})
const message = (id: string | undefined, kind: string, conversation_id = 'c-1') => ({
  id,
  content: [
    { type: 'text', text: 'hello' },
    { type: 'json', json: { total: 12.5 } },
    { type: 'hologram', depth: 3 },
  ],
  _emulator: { conversation_id, kind },
})

const collections = {
  conversations: [
    conversation('c-1', { share_data_consent: true }),
    conversation('c-2'),
    conversation('c-b', { teamspace_id: 'ts-b', user_ids: null }),
    conversation('c-all', { user_ids: null }),
  ],
  messages: [
    message(AGENT, 'agent'),
    message(VOICE, 'voice'),
    message(USER, 'user'),
    message(SYSTEM, 'system'),
    message(ELSEWHERE, 'agent', 'c-2'),
    message(uuid('6'), 'agent', 'c-all'),
  ],
}

const path = (id: string | undefined, conversation = 'c-1') => `/conversations/${conversation}/messages/${id}`
const like = (world: TestWorld, id: string | undefined, how?: RequestOptions) =>
  world.post(path(id), { like: 1 }, how)
const feedbackOf = (world: TestWorld, id: string | undefined) =>
  world.state('messages').find((each) => each.id === id)._emulator.feedback

test('R129 success is a 204 without body and content type, with the rate-limit headers', async () => {
  const world = await testWorld({ collections })
  const { status, text, headers } = await like(world, AGENT)
  expect([status, text, headers.get('content-type')]).toEqual([204, '', null])
  expect(headers.get('x-ratelimit-remaining')).toBe('199')
})

test.for([
  ['R124 a raw UUID', AGENT],
  ['R124 a public id of an agent', `${AGENT}-agent`],
  ['R124 upper-case hexadecimal digits', AGENT?.toUpperCase()],
  ['R131 a voice message', VOICE],
  ['R131 a voice message under its public id', `${VOICE}-agent`],
] as const)('%s takes feedback', async ([, id]) => {
  const world = await testWorld({ collections })
  expect((await like(world, id)).status).toBe(204)
  expect(feedbackOf(world, id?.slice(0, 36).toLowerCase())).toHaveLength(1)
})

test.for([
  ['a word', 'abc'],
  ['another suffix', `${AGENT}-voice`],
  ['two suffixes', `${AGENT}-agent-agent`],
  ['35 characters', AGENT?.slice(1)],
  ['37 characters', `${AGENT}a`],
  ['an upper-case suffix', `${AGENT}-AGENT`],
  ['no dashes', AGENT?.replaceAll('-', '')],
  ['a letter beyond f', AGENT?.replace('a', 'g')],
  ['a line break at the end', `${AGENT}%0A`],
  ['a dangling dash', `${AGENT}-`],
])('R124 R131 R247 the message id with %s is malformed: 400', async ([, id]) => {
  const world = await testWorld({ collections })
  await refused(world, () => like(world, id), 400, 'malformed_message_id')
})

test.for([
  ['R131 R247 a user message', USER],
  ['R131 a message of another kind', SYSTEM],
  ['R131 T33 the user side of an id', `${AGENT}-user`],
  ['R131 a user message called an agent one', `${USER}-agent`],
] as const)('%s takes no feedback: 400', async ([, id]) => {
  const world = await testWorld({ collections })
  await refused(world, () => like(world, id), 400, 'not_an_agent_message')
})

test.for([
  ['an unknown conversation', 'c-none', AGENT, 'KU'],
  ['an unknown message', 'c-1', uuid('9'), 'KU'],
  ['a message of another conversation', 'c-1', ELSEWHERE, 'KU'],
  ['a conversation without the caller', 'c-1', AGENT, 'KX'],
  ['a conversation that lists users, for a service key', 'c-1', AGENT, 'KS'],
  ['a conversation of another teamspace', 'c-1', AGENT, 'K2'],
  ['a conversation of another organization', 'c-1', AGENT, 'KO'],
  ['a conversation named like a property of every object', '__proto__', AGENT, 'KU'],
] as const)('R132 R230 R248 %s: 404, in words that differ by the ids alone', async ([, where, id, key]) => {
  const world = await testWorld({ collections, settings: { 'status.not_found': 410 } })
  const request = () => world.post(path(id, where), { like: 1 }, { key })
  const answer = await refused(world, request, 404, 'not_found')
  expect(answer.body.message).toBe(`There is no message "${id}" in a conversation "${where}".`)
})

test('R230 a conversation without a list of users is open to the whole teamspace', async () => {
  const world = await testWorld({ collections })
  for (const key of ['KU', 'KX', 'KS'] as const)
    expect((await world.post(path(uuid('6'), 'c-all'), { like: 1 }, { key })).status).toBe(204)
  await refused(world, () => world.post(path(uuid('6'), 'c-all'), { like: 1 }, { key: 'K2' }), 404)
})

test.for([
  ['T34 a malformed id comes before access', 'abc', 'KX', { like: 9 }, 'malformed_message_id'],
  ['T34 access comes before the kind', USER, 'KX', { like: 9 }, 'not_found'],
  ['T34 access comes before the kind in the suffix', `${AGENT}-user`, 'KX', { like: 1 }, 'not_found'],
  ['T34 the kind comes before the body', USER, 'KU', { like: 9 }, 'not_an_agent_message'],
  ['T34 the body comes last', AGENT, 'KU', { like: 9 }, 'validation_failed'],
] as const)('%s', async ([, id, key, body, code]) => {
  const world = await testWorld({ collections })
  await refused(world, () => world.post(path(id), body, { key }), undefined, code)
})

test('T34 even a body that is not JSON comes after id, access and kind', async () => {
  const world = await testWorld({ collections })
  const send = (id: string | undefined, key: 'KU' | 'KX') =>
    world.request('POST', path(id), { raw: '{', key })
  await refused(world, () => send('abc', 'KU'), 400, 'malformed_message_id')
  await refused(world, () => send(AGENT, 'KX'), 404, 'not_found')
  await refused(world, () => send(USER, 'KU'), 400, 'not_an_agent_message')
  await refused(world, () => send(AGENT, 'KU'), 400, 'malformed_json')
})

test.for([
  ['no body', undefined],
  ['an empty body', ''],
  ['an array', '[]'],
  ['a string', '"x"'],
  ['null', 'null'],
] as const)('R125 %s is refused', async ([, raw]) => {
  const world = await testWorld({ collections })
  await refused(world, () => world.request('POST', path(AGENT), raw === undefined ? {} : { raw }))
})

test.for(['1', '-1', '1.0', '-1e0', '10e-1'])('R126 like as %s passes', async (number) => {
  const world = await testWorld({ collections })
  const answer = await world.request('POST', path(AGENT), { raw: `{"like":${number}}` })
  expect(answer.status).toBe(204)
  expect(feedbackOf(world, AGENT)[0].like).toBe(Number(number))
})

test.for(['0', '2', '-2', '"1"', 'true', 'null', '1.5', '[1]', '-0', '1e400'])(
  'R126 like as %s is refused',
  async (number) => {
    const world = await testWorld({ collections })
    const raw = `{"like":${number}}`
    const answer = await refused(world, () => world.request('POST', path(AGENT), { raw }))
    expect(pointersOf(answer)).toEqual(['/like'])
  },
)

test('R126 a missing like is refused, together with every other fault of the body', async () => {
  const world = await testWorld({ collections })
  const body = { feedback: 5, ui_surface: 'fridge' }
  const answer = await refused(world, () => world.post(path(AGENT), body))
  expect(pointersOf(answer)).toEqual(['/like', '/feedback', '/ui_surface'])
})

test.for([
  ['absent', undefined],
  ['null', null],
  ['empty', ''],
  ['a megabyte', 'x'.repeat(1_000_000)],
] as const)('R127 feedback that is %s passes and is kept', async ([, feedback]) => {
  const world = await testWorld({ collections })
  const body = feedback === undefined ? { like: -1 } : { like: -1, feedback }
  expect((await world.post(path(AGENT), body)).status).toBe(204)
  expect(feedbackOf(world, AGENT)[0]).toMatchObject({ like: -1, feedback: feedback ?? null })
})

test.for([[5], [true], [['x']], [{}]])('R127 feedback as %j is refused', async ([feedback]) => {
  const world = await testWorld({ collections })
  await refused(world, () => world.post(path(AGENT), { like: 1, feedback }))
})

test.for(['service_web', 'construction_platform_embed', 'field_app_mobile'])(
  'R128 U009 the surface %s passes and is marked as a placeholder',
  async (ui_surface) => {
    const world = await testWorld({ collections })
    const answer = await world.post(path(AGENT), { like: 1, ui_surface })
    expect([answer.status, answer.assumed]).toEqual([204, ['U009']])
    expect(feedbackOf(world, AGENT)[0].ui_surface).toBe(ui_surface)
  },
)

test('R128 a surface of null or none passes unmarked', async () => {
  const world = await testWorld({ collections })
  for (const body of [{ like: 1 }, { like: 1, ui_surface: null }]) {
    const answer = await world.post(path(AGENT), body)
    expect([answer.status, answer.assumed]).toEqual([204, []])
  }
})

test.for([['fridge'], ['SERVICE_WEB'], [''], [1]])('R128 the surface %j is refused', async ([ui_surface]) => {
  const world = await testWorld({ collections })
  const answer = await refused(world, () => world.post(path(AGENT), { like: 1, ui_surface }))
  if (typeof ui_surface === 'string') expect(answer.body.message).toContain('names.ui_surfaces')
})

test('R128 U009 configured surfaces replace the placeholders', async () => {
  const world = await testWorld({ collections, settings: { 'names.ui_surfaces': ['fridge'] } })
  expect((await world.post(path(AGENT), { like: 1, ui_surface: 'fridge' })).status).toBe(204)
  await refused(world, () => world.post(path(AGENT), { like: 1, ui_surface: 'service_web' }))
})

test('R130 U034 feedback is kept with who, when and whether the trace was donated, which no answer tells', async () => {
  const world = await testWorld({ collections })
  await world.post(path(AGENT), { like: 1, feedback: 'good' })
  world.advance('10s')
  await world.post(path(AGENT), { like: -1 }, { key: 'KM' })
  const answer = await world.post(path(ELSEWHERE, 'c-2'), { like: 1 })
  expect([answer.text, answer.assumed]).toEqual(['', []])
  const again = await world.restart()
  expect(feedbackOf(again, AGENT)).toEqual([
    {
      like: 1,
      feedback: 'good',
      ui_surface: null,
      at: '2026-03-01T12:00:00.000Z',
      user_id: 'user-owner',
      donated: true,
    },
    {
      like: -1,
      feedback: null,
      ui_surface: null,
      at: '2026-03-01T12:00:10.000Z',
      user_id: 'user-member',
      donated: true,
    },
  ])
  expect(feedbackOf(again, ELSEWHERE)[0].donated).toBe(false)
})

test('R290 content blocks of the type json and of unknown types stay as the fixture gave them', async () => {
  const world = await testWorld({ collections })
  await like(world, AGENT)
  const again = await world.restart()
  expect(again.state('messages').find(({ id }) => id === AGENT).content).toEqual(
    message(AGENT, 'agent').content,
  )
})

test.for([
  ['an id that is no UUID', 'messages', message('m-1', 'agent'), /messages\/0\/id.*UUID/],
  ['an upper-case id', 'messages', message(AGENT?.toUpperCase(), 'agent'), /messages\/0\/id.*lower case/],
  ['no kind', 'messages', { id: AGENT, _emulator: { conversation_id: 'c' } }, /_emulator\/kind.*is required/],
  ['a conversation that does not exist', 'messages', message(AGENT, 'agent'), /_emulator\/conversation_id/],
  ['an unknown fact', 'conversations', conversation('c', { rooot: true }), /_emulator\/rooot.*not a known/],
  [
    'an unknown teamspace',
    'conversations',
    conversation('c', { teamspace_id: 'x' }),
    /_emulator\/teamspace_id/,
  ],
] as const)('a fixture with %s is refused', async ([, name, record, message]) => {
  await expect(testWorld({ collections: { [name]: [record] } })).rejects.toThrow(message)
})

test('R224 U043 the list passes on what the fixture gave, to those who may see it, with or without has_messages', async () => {
  const rich = { ...conversation('c-rich', { user_ids: null }), title: 'Roof', __v: null, tags: [{ a: [] }] }
  const world = await testWorld({ collections: { conversations: [...collections.conversations, rich] } })
  const { status, body, assumed } = await world.get('/conversations', { key: 'KX' })
  expect([status, assumed.includes('U043')]).toEqual([200, true])
  expect(body).toEqual({
    object: 'list',
    data: expect.arrayContaining([
      { id: 'c-rich', title: 'Roof', __v: null, tags: [{ a: [] }] },
      { id: 'c-all' },
    ]),
    has_more: false,
  })
  expect(body.data).toHaveLength(2)
  for (const query of ['?has_messages=true', '?has_messages=', '?has_messages=no&x=1'])
    expect((await world.get(`/conversations${query}`, { key: 'KX' })).body).toEqual(body)
})

test('R224 has_messages is no unknown parameter even where those are refused', async () => {
  const world = await testWorld({ collections, settings: { unknown_fields: 'reject' } })
  expect((await world.get('/conversations?has_messages=true')).status).toBe(200)
})

test('R224 a record with a member named __proto__ comes back whole', async () => {
  const odd = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}')
  const conversations = [{ ...odd, ...conversation('c-odd') }]
  const world = await testWorld({ collections: { conversations } })
  expect((await world.get('/conversations')).text).toContain('"__proto__":{"x":1},"constructor":2')
})

test.for(['direct message', 'standard channel', 'chats'])(
  'R225 R247 R294 T40 the root conversation of a channel (%s) cannot be deleted: 400',
  async (channel) => {
    for (const strict of [false, true]) {
      const conversations = [{ ...conversation('c-root', { root: true }), channel }]
      const world = await testWorld({ collections: { conversations }, strict })
      await refused(world, () => world.delete('/conversations/c-root'), 400, 'root_conversation')
      expect(world.state('conversations')).toHaveLength(1)
    }
  },
)

test('R225 U044 another conversation is deleted with its messages, and the answer is marked', async () => {
  const world = await testWorld({ collections })
  const answer = await world.delete('/conversations/c-1')
  expect([answer.status, answer.text]).toEqual([204, ''])
  expect(answer.assumed).toEqual(expect.arrayContaining(['U025', 'U044']))
  expect(world.state('conversations').map(({ id }) => id)).not.toContain('c-1')
  expect(world.state('messages').map(({ id }) => id)).toEqual([ELSEWHERE, uuid('6')])
  await refused(world, () => world.delete('/conversations/c-1'), 404, 'not_found')
  await refused(world, () => like(world, AGENT), 404, 'not_found')
  expect((await (await world.restart()).get('/conversations')).status).toBe(200)
})

test.for([
  ['an unknown conversation', 'c-none', 'KU'],
  ['one without the caller', 'c-1', 'KX'],
  ['one of another teamspace', 'c-b', 'KU'],
] as const)('R230 R248 deleting %s is a 404', async ([, id, key]) => {
  const world = await testWorld({ collections })
  await refused(world, () => world.delete(`/conversations/${id}`, { key }), 404, 'not_found')
})

test('R223 U043 under --strict list and delete answer 501, name a way out and change nothing', async () => {
  const world = await testWorld({ collections, strict: true })
  const before = world.digest()
  for (const answer of [await world.get('/conversations'), await world.delete('/conversations/c-1')]) {
    expect([answer.status, answer.body.error]).toEqual([501, 'emulator_contract_unspecified'])
    expect(answer.body.mitigation).toEqual(expect.stringMatching(/./))
    expect(answer.assumed).toContain('U043')
  }
  expect(world.digest()).toBe(before)
})
