import { expect, test } from 'vitest'
import { type RequestOptions, type TestEmulator, testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

const uuid = (digit: string) => `${digit.repeat(8)}-0a0b-4c0d-8e0f-${digit.repeat(12)}`
const [AGENT, VOICE, USER, SYSTEM, ELSEWHERE, OPEN] = [...'a23456'].map(uuid) as [string, ...string[]]

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
    message(OPEN, 'agent', 'c-all'),
  ],
}

const talking = (settings = {}) => testEmulator({ collections, settings })

const path = (id: string | undefined, conversation = 'c-1') => `/conversations/${conversation}/messages/${id}`
const like = (emulator: TestEmulator, id: string | undefined, how?: RequestOptions) =>
  emulator.post(path(id), { like: 1 }, how)
const feedbackOf = (emulator: TestEmulator, id: string | undefined) =>
  emulator.state('messages').find((each) => each.id === id)._emulator.feedback

test.for([
  ['a raw UUID', AGENT],
  ['a public id of an agent', `${AGENT}-agent`],
  ['upper-case hexadecimal digits', AGENT.toUpperCase()],
  ['a voice message', VOICE],
  ['a voice message under its public id', `${VOICE}-agent`],
] as const)('%s accepts feedback with an empty 204', { tags: ['R124', 'R129', 'R131'] }, async ([, id]) => {
  const emulator = await talking()
  const { status, text, headers } = await like(emulator, id)
  expect([status, text, headers.get('content-type')]).toEqual([204, '', null])
  expect(headers.get('x-ratelimit-remaining')).toBe('199')
  expect(feedbackOf(emulator, id?.slice(0, 36).toLowerCase())).toHaveLength(1)
})

test.for([
  ['a word', 'abc', 'malformed_message_id'],
  ['another suffix', `${AGENT}-voice`, 'malformed_message_id'],
  ['two suffixes', `${AGENT}-agent-agent`, 'malformed_message_id'],
  ['35 characters', AGENT.slice(1), 'malformed_message_id'],
  ['37 characters', `${AGENT}a`, 'malformed_message_id'],
  ['an upper-case suffix', `${AGENT}-AGENT`, 'malformed_message_id'],
  ['no dashes', AGENT.replaceAll('-', ''), 'malformed_message_id'],
  ['a letter beyond f', AGENT.replace('a', 'g'), 'malformed_message_id'],
  ['a line break at the end', `${AGENT}%0A`, 'malformed_message_id'],
  ['a dangling dash', `${AGENT}-`, 'malformed_message_id'],
  ['the id of a user message', USER, 'not_an_agent_message'],
  ['the id of a message of another kind', SYSTEM, 'not_an_agent_message'],
  ['the user side of an id', `${AGENT}-user`, 'not_an_agent_message'],
  ['a user message called an agent one', `${USER}-agent`, 'not_an_agent_message'],
] as const)('feedback on %s is a 400', { tags: ['R124', 'R131', 'R247', 'T33'] }, async ([, id, code]) => {
  const emulator = await talking()
  await refused(emulator, () => like(emulator, id), 400, code)
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
] as const)('feedback on %s is a 404', { tags: ['R132', 'R230', 'R248'] }, async ([, where, id, key]) => {
  const emulator = await talking({ 'status.not_found': 410 })
  const request = () => emulator.post(path(id, where), { like: 1 }, { key })
  const response = await refused(emulator, request, 404, 'not_found')
  expect(response.body.message).toBe(`There is no message "${id}" in a conversation "${where}".`)
})

test('a conversation without a list of users is open to the teamspace', { tags: ['R230'] }, async () => {
  const emulator = await talking()
  const request = (key: 'KU' | 'KX' | 'KS' | 'K2') => emulator.post(path(OPEN, 'c-all'), { like: 1 }, { key })
  for (const key of ['KU', 'KX', 'KS'] as const) expect((await request(key)).status).toBe(204)
  await refused(emulator, () => request('K2'), 404)
})

test.for([
  ['a malformed id comes before access', 'abc', 'KX', '{"like":9}', 'malformed_message_id'],
  ['access comes before the kind', USER, 'KX', '{"like":9}', 'not_found'],
  ['access comes before the kind in the suffix', `${AGENT}-user`, 'KX', '{"like":1}', 'not_found'],
  ['the kind comes before the body', USER, 'KU', '{"like":9}', 'not_an_agent_message'],
  ['the body comes last', AGENT, 'KU', '{"like":9}', 'validation_failed'],
  ['a malformed id comes before malformed JSON', 'abc', 'KU', '{', 'malformed_message_id'],
  ['access comes before malformed JSON', AGENT, 'KX', '{', 'not_found'],
  ['the kind comes before malformed JSON', USER, 'KU', '{', 'not_an_agent_message'],
  ['malformed JSON comes last', AGENT, 'KU', '{', 'malformed_json'],
] as const)('%s', { tags: ['T34'] }, async ([, id, key, raw, code]) => {
  const emulator = await talking()
  await refused(emulator, () => emulator.request('POST', path(id), { raw, key }), undefined, code)
})

test.for(['1', '-1', '1.0', '-1e0', '10e-1'])(
  'like as %s is accepted',
  { tags: ['R126'] },
  async (number) => {
    const emulator = await talking()
    const response = await emulator.request('POST', path(AGENT), { raw: `{"like":${number}}` })
    expect(response.status).toBe(204)
    expect(feedbackOf(emulator, AGENT)[0].like).toBe(Number(number))
  },
)

// fetch sends an empty body in pieces.
test('an empty body is refused', { tags: ['R125'] }, async () => {
  const emulator = await talking()
  await refused(emulator, () => emulator.request('POST', path(AGENT), { raw: '' }))
})

test.for<[raw: string, pointers: readonly string[]]>([
  ...['0', '2', '-2', '"1"', 'true', 'null', '1.5', '[1]', '-0', '1e400'].map((like): [string, string[]] => [
    `{"like":${like}}`,
    ['/like'],
  ]),
  ['{"feedback":5,"ui_surface":"fridge"}', ['/like', '/feedback', '/ui_surface']],
  ...['5', 'true', '["x"]', '{}'].map((feedback): [string, string[]] => [
    `{"like":1,"feedback":${feedback}}`,
    ['/feedback'],
  ]),
  ...['"fridge"', '"SERVICE_WEB"', '""', '1'].map((surface): [string, string[]] => [
    `{"like":1,"ui_surface":${surface}}`,
    ['/ui_surface'],
  ]),
])('the body %s is refused at %j', { tags: ['R126', 'R127', 'R128'] }, async ([raw, pointers]) => {
  const emulator = await talking()
  const response = await refused(emulator, () => emulator.request('POST', path(AGENT), { raw }), 400)
  expect(pointersOf(response)).toEqual(pointers)
})

test.for([
  ['feedback', 'absent', undefined, null],
  ['feedback', 'null', null, null],
  ['feedback', 'empty', '', ''],
  ['feedback', 'a megabyte', 'x'.repeat(1_000_000), 'x'.repeat(1_000_000)],
  ['ui_surface', 'absent', undefined, null],
  ['ui_surface', 'null', null, null],
  ...['service_web', 'construction_platform_embed', 'field_app_mobile'].map(
    (name) => ['ui_surface', name, name, name] as const,
  ),
] as const)(
  '%s may be %s, and is kept',
  { tags: ['R127', 'R128', 'U009'] },
  async ([field, , given, kept]) => {
    const emulator = await talking()
    expect((await emulator.post(path(AGENT), { like: -1, [field]: given })).status).toBe(204)
    expect(feedbackOf(emulator, AGENT)[0]).toMatchObject({ like: -1, [field]: kept })
  },
)

test('configured surfaces replace the placeholders', { tags: ['R128', 'U009'] }, async () => {
  const emulator = await talking({ 'names.ui_surfaces': ['fridge'] })
  expect((await emulator.post(path(AGENT), { like: 1, ui_surface: 'fridge' })).status).toBe(204)
  const request = () => emulator.post(path(AGENT), { like: 1, ui_surface: 'service_web' })
  expect((await refused(emulator, request)).body.message).toContain('names.ui_surfaces')
})

test('feedback is kept with its user, instant and donation', { tags: ['R130', 'R290', 'U034'] }, async () => {
  const emulator = await talking()
  await emulator.post(path(AGENT), { like: 1, feedback: 'good' })
  emulator.advance('10s')
  await emulator.post(path(AGENT), { like: -1 }, { key: 'KM' })
  const response = await emulator.post(path(ELSEWHERE, 'c-2'), { like: 1 })
  expect([response.text, response.assumed]).toEqual(['', []])
  const again = await emulator.restart()
  expect(feedbackOf(again, AGENT)).toMatchObject([
    { feedback: 'good', at: '2026-03-01T12:00:00.000Z', user_id: 'user-owner', donated: true },
    { feedback: null, at: '2026-03-01T12:00:10.000Z', user_id: 'user-member', donated: true },
  ])
  expect(feedbackOf(again, ELSEWHERE)[0].donated).toBe(false)
  // Blocks of unknown types stay as in the fixture.
  expect(again.state('messages')[0].content).toEqual(message(AGENT, 'agent').content)
})

test.for([
  ['an id that is no UUID', 'messages', message('m-1', 'agent'), /messages\/0\/id.*UUID/],
  ['an upper-case id', 'messages', message(AGENT.toUpperCase(), 'agent'), /messages\/0\/id.*lower case/],
  ['a conversation that does not exist', 'messages', message(AGENT, 'agent'), /_emulator\/conversation_id/],
  ['an unknown teamspace', 'conversations', conversation('c', { teamspace_id: 'x' }), /\/teamspace_id/],
] as const)('a fixture with %s is refused', async ([, name, record, message]) => {
  await expect(testEmulator({ collections: { [name]: [record] } })).rejects.toThrow(message)
})

test('the list has the whole records that the user may see', { tags: ['R224', 'U043'] }, async () => {
  const odd = '"title":"Roof","__proto__":{"x":1},"constructor":2,"__v":null,"tags":[{"a":[]}]'
  const rich = { ...JSON.parse(`{${odd}}`), ...conversation('c-rich', { user_ids: null }) }
  const emulator = await testEmulator({
    collections: { conversations: [...collections.conversations, rich] },
    settings: { unknown_fields: 'reject' },
  })
  const { text, body } = await emulator.get('/conversations', { key: 'KX' })
  expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual(['c-all', 'c-rich'])
  expect(text).toContain(odd)
  for (const query of ['?has_messages=1', '?has_messages=', '?has_messages=no'])
    expect((await emulator.get(`/conversations${query}`, { key: 'KX' })).body).toEqual(body)
})

test.for(['direct message', 'standard channel', 'chats'])(
  'deleting the root conversation of a channel (%s) is a 400',
  { tags: ['R225', 'R247', 'R294', 'T40'] },
  async (channel) => {
    for (const strict of [false, true]) {
      const conversations = [{ ...conversation('c-root', { root: true }), channel }]
      const emulator = await testEmulator({ collections: { conversations }, strict })
      await refused(emulator, () => emulator.delete('/conversations/c-root'), 400, 'root_conversation')
      expect(emulator.state('conversations')).toHaveLength(1)
    }
  },
)

test('another conversation is deleted with its messages, by those who see it', {
  tags: ['R225', 'R230', 'R248', 'U044'],
}, async () => {
  const emulator = await talking()
  for (const [id, key] of [
    ['c-none', 'KU'],
    ['c-1', 'KX'],
    ['c-b', 'KU'],
  ] as const)
    await refused(emulator, () => emulator.delete(`/conversations/${id}`, { key }), 404, 'not_found')
  const { status, text } = await emulator.delete('/conversations/c-1')
  expect([status, text]).toEqual([204, ''])
  expect(emulator.state('conversations').map(({ id }) => id)).not.toContain('c-1')
  expect(emulator.state('messages').map(({ id }) => id)).toEqual([ELSEWHERE, OPEN])
  await refused(emulator, () => like(emulator, AGENT), 404, 'not_found')
  expect((await (await emulator.restart()).get('/conversations')).status).toBe(200)
})
