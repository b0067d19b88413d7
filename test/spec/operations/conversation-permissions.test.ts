import { expect, test } from 'vitest'
import { type TestEmulator, testEmulator } from '../../support/emulator.ts'
import { refused } from '../../support/refusal.ts'

const MESSAGE = 'aaaaaaaa-0a0b-4c0d-8e0f-aaaaaaaaaaaa'
const DENIED = ['messages.feedback', 'conversations.delete', 'conversations.list', 'pages.create']

const member = { teamspace_id: 'ts-open', role: 'member', created_at: '-2d' }
const key = { kind: 'user', organization_id: 'org-1', teamspace_id: 'ts-open' }

// Every user may see the conversation, so only the missing permission can refuse.
const collections = {
  teamspaces: [
    {
      ...{ id: 'ts-open', cloud_provider: 'cloud_b', name: 'Open', access: 'open', created_at: '-10d' },
      _emulator: { organization_id: 'org-1' },
    },
  ],
  memberships: [
    { ...member, id: 'm-removed', user_id: 'user-member', removed_at: '-1d' },
    { ...member, id: 'm-visitor', user_id: 'user-outsider', self_joined: true },
    { ...member, id: 'm-denied', user_id: 'user-owner' },
  ],
  api_keys: [
    { ...key, id: 'key-removed', token: 'live_removed', user_id: 'user-member' },
    { ...key, id: 'key-visitor', token: 'live_visitor', user_id: 'user-outsider' },
    { ...key, id: 'key-denied', token: 'live_denied', user_id: 'user-owner', denied: DENIED },
    { ...key, id: 'key-elsewhere', token: 'live_elsewhere', user_id: 'user-owner', teamspace_id: 'ts-none' },
  ],
  conversations: [{ id: 'c-1', _emulator: { teamspace_id: 'ts-open', user_ids: null } }],
  messages: [{ id: MESSAGE, _emulator: { conversation_id: 'c-1', kind: 'agent' } }],
}

const callers = [
  ['a removed member', 'live_removed', []],
  ['a self-joined user', 'live_visitor', ['U003']],
  ['a key that is denied the operation', 'live_denied', []],
  ['a key of a teamspace that does not exist', 'live_elsewhere', []],
] as const

const like = (emulator: TestEmulator, token: string, conversation = 'c-1', id = MESSAGE) =>
  emulator.post(`/conversations/${conversation}/messages/${id}`, { like: 1 }, { token })
const remove = (emulator: TestEmulator, token: string, id = 'c-1') =>
  emulator.delete(`/conversations/${id}`, { token })

test.for(callers)(
  'feedback and a deletion by %s are a 404, as for a missing conversation, and only a malformed id is checked before',
  { tags: ['R132', 'R225', 'R230', 'R248', 'T34'] },
  async ([, token, assumed]) => {
    const settings = { 'status.forbidden': 451, 'status.not_found': 410 }
    const emulator = await testEmulator({ collections, settings })
    for (const ask of [like, remove]) {
      const response = await refused(emulator, () => ask(emulator, token), 404, 'not_found')
      const missing = await refused(emulator, () => ask(emulator, token, 'c-2'), 404, 'not_found')
      expect(response.text).toBe(missing.text.replaceAll('c-2', 'c-1'))
      expect(response.assumed).toEqual(expect.arrayContaining([...assumed]))
    }
    await refused(emulator, () => like(emulator, token, 'c-1', 'abc'), 400, 'malformed_message_id')
    await refused(emulator, () => like(emulator, 'live_nobody', 'c-1', 'abc'), 401)
  },
)

test('a missing permission is a 403 where the specification is silent', { tags: ['U071'] }, async () => {
  const emulator = await testEmulator({ collections })
  for (const [, token] of callers) {
    await refused(emulator, () => emulator.get('/conversations', { token }), 403, 'forbidden')
    await refused(emulator, () => emulator.post('/pages', { name: 'x' }, { token }), 403, 'forbidden')
  }
})

test('the request log has the reason for the 404, but the response does not', async () => {
  const emulator = await testEmulator({ collections })
  const response = await like(emulator, 'live_denied')
  expect(response.text).not.toContain('denied')
  const id = response.headers.get('x-emulator-request-id')
  const { body } = await emulator.control('GET', `/explain/${id}`)
  expect(body.summary).toContain('404 not_found by the step authorize')
  expect(body.error.detail).toContain('The key may not call messages.feedback')
})
