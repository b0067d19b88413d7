import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { interveneBy } from '../support/intervene.ts'
import { refused } from '../support/refusal.ts'

const TS = '/organization/teamspaces'

const open = {
  id: 'ts-open',
  cloud_provider: 'cloud_b',
  name: 'Open',
  access: 'open',
  created_at: '-10d',
  _emulator: { organization_id: 'org-1' },
}

const visitor = {
  id: 'm-visitor',
  teamspace_id: 'ts-open',
  user_id: 'user-outsider',
  role: 'member',
  created_at: '-1d',
  self_joined: true,
}

const visitorKey = {
  id: 'key-visitor',
  kind: 'user',
  token: 'live_visitor',
  user_id: 'user-outsider',
  organization_id: 'org-1',
  teamspace_id: 'ts-open',
}

const withVisitor = { teamspaces: [open], memberships: [visitor], api_keys: [visitorKey] }

function join({ sandbox }: TestEmulator, teamspace_id: string, user_id: string): JsonObject {
  return interveneBy(sandbox, 'POST /teamspaces/{teamspace_id}/join', { teamspace_id }, { user_id })
}

test.for([
  ['R025 creating a page', 'POST', '/pages', { name: 'x' }],
  ['R025 listing users', 'GET', `${TS}/ts-open/users`, undefined],
  ['R025 updating the teamspace', 'PATCH', `${TS}/ts-open`, { name: 'x' }],
  ['R025 creating a teamspace', 'POST', TS, { name: 'x' }],
  ['R025 listing conversations', 'GET', '/conversations', undefined],
  ['R025 listing data views', 'GET', '/data-views', undefined],
] as const)('%s is refused to a user who joined unaided', async ([, method, path, json]) => {
  const emulator = await testEmulator({ collections: withVisitor })
  const request = () => emulator.request(method, path, { token: 'live_visitor', json })
  const answer = await refused(emulator, request, 403, 'forbidden')
  expect(answer.assumed).toEqual(expect.arrayContaining(['U003', 'U071']))
})

test('R025 conversing is open to a user who joined unaided: it gets as far as the missing contract', async () => {
  const emulator = await testEmulator({ collections: withVisitor })
  const answer = await emulator.post('/converse', {}, { token: 'live_visitor' })
  expect(answer.status).toBe(501)
})

test('R025 an approved membership beside the self-joined one opens everything', async () => {
  const approved = { ...visitor, id: 'm-approved', self_joined: false }
  const collections = { ...withVisitor, memberships: [visitor, approved] }
  const emulator = await testEmulator({ collections })
  expect((await emulator.post('/pages', { name: 'x' }, { token: 'live_visitor' })).status).toBe(200)
})

test('R025 a self-joined user cannot manage the teamspace from a key of another one', async () => {
  const emulator = await testEmulator({ collections: withVisitor })
  await refused(emulator, () => emulator.patch(`${TS}/ts-open`, { name: 'x' }, { key: 'KX' }), 404)
})

test('R025 U003 any member of the organization joins an open teamspace; joining twice changes nothing', async () => {
  const emulator = await testEmulator({ collections: { teamspaces: [open] } })
  const membership = join(emulator, 'ts-open', 'user-member')
  expect(membership).toMatchObject({ self_joined: true, removed_at: null, user_id: 'user-member' })
  const before = emulator.digest()
  expect(join(emulator, 'ts-open', 'user-member')).toEqual(membership)
  expect(emulator.digest()).toBe(before)
  expect(() => join(emulator, 'ts-open', 'user-other')).toThrow(/no user "user-other"/)
  expect(() => join(emulator, 'ts-none', 'user-member')).toThrow(/no teamspace/)
})

test('R026 U003 joining a closed teamspace unaided is refused, an approved membership is not', async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  expect(() => join(emulator, 'ts-b', 'user-member')).toThrow(/closed.*approval/)
  expect(emulator.digest()).toBe(before)
  const memberships = [{ ...visitor, teamspace_id: 'ts-b', self_joined: false }]
  await testEmulator({ collections: { memberships } })
})

test('R026 a self-joined membership of a closed teamspace is refused in fixtures', async () => {
  const memberships = [{ ...visitor, teamspace_id: 'ts-b' }]
  await expect(testEmulator({ collections: { memberships } })).rejects.toThrow(
    /memberships\/5\/self_joined.*closed/,
  )
})

test('R026 closing an open teamspace keeps who has joined, admits nobody else, and survives a restart', async () => {
  const emulator = await testEmulator({ collections: { teamspaces: [open] } })
  const membership = join(emulator, 'ts-open', 'user-member')
  const path = `${TS}/ts-open`
  change(emulator.sandbox, ({ tx }) =>
    tx.put('memberships', { ...membership, id: 'm-o', user_id: 'user-owner', self_joined: false } as never),
  )
  expect((await emulator.patch(path, { access: 'closed' })).status).toBe(200)
  expect(() => join(emulator, 'ts-open', 'user-outsider')).toThrow(/closed/)
  const again = await emulator.restart()
  const ids = (await again.get(`${path}/users`)).body.data.map(({ id }: { id: string }) => id)
  expect(ids.sort()).toEqual(['user-member', 'user-owner'])
})

test('R026 closing a teamspace by hand beside self-joined members is refused with the way out', async () => {
  const collections = { ...withVisitor, teamspaces: [{ ...open, access: 'closed' }] }
  await expect(testEmulator({ collections })).rejects.toThrow(/joined_while_open/)
})

test('R160 U071 a key whose user is no member of its teamspace is refused', async () => {
  const emulator = await testEmulator({ collections: { ...withVisitor, memberships: [] } })
  const request = () => emulator.post('/pages', { name: 'x' }, { token: 'live_visitor' })
  const answer = await refused(emulator, request, 403, 'forbidden')
  expect(answer.assumed).toContain('U071')
})

test('U071 a user key without a user is refused, a service key needs none', async () => {
  const api_keys = [{ ...visitorKey, user_id: null }]
  const emulator = await testEmulator({ collections: { ...withVisitor, api_keys } })
  await refused(emulator, () => emulator.get('/data-views', { token: 'live_visitor' }), 403)
  expect((await emulator.get('/data-views', { key: 'KS' })).status).toBe(200)
})

test('U070 the selection header reaches teamspaces of the own organization, with membership, and no other', async () => {
  const second = { ...visitor, id: 'm-two', user_id: 'user-owner', teamspace_id: 'ts-b', self_joined: false }
  const emulator = await testEmulator({
    collections: { memberships: [second] },
    settings: { 'auth.teamspace_header': 'X-Teamspace' },
  })
  const create = (teamspace: string, key: 'KU' | 'KM' | 'KS') =>
    emulator.post('/pages', { name: 'x' }, { key, headers: { 'X-Teamspace': teamspace } })
  expect((await create('ts-b', 'KU')).body.teamspace_id).toBe('ts-b')
  expect((await create('ts-b', 'KS')).body.teamspace_id).toBe('ts-b')
  await refused(emulator, () => create('ts-b', 'KM'), 403)
  await refused(emulator, () => create('ts-x', 'KS'), 403)
  await refused(emulator, () => create('ts-none', 'KS'), 403)
})

test('U070 R257 a key cannot use up the windows of a teamspace that it may not act in', async () => {
  const emulator = await testEmulator({ settings: { 'auth.teamspace_header': 'x-team' } })
  const remaining = async () =>
    Number((await emulator.get('/data-views')).headers.get('x-ratelimit-remaining'))
  const before = await remaining()
  const foreign = await emulator.get('/data-views', { key: 'K2', headers: { 'x-team': 'ts-a' } })
  expect(foreign.status).toBe(403)
  expect(await remaining()).toBe(before - 1)
})
