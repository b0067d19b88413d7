import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import { change } from '../../../src/core/sandboxes/change.ts'
import { type TestEmulator, testEmulator } from '../../support/emulator.ts'
import { interveneBy } from '../../support/intervene.ts'
import { refused } from '../../support/refusal.ts'

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
  ['creating a page', 'POST', '/pages', { name: 'x' }],
  ['listing users', 'GET', `${TS}/ts-open/users`, undefined],
  ['updating the teamspace', 'PATCH', `${TS}/ts-open`, { name: 'x' }],
  ['creating a teamspace', 'POST', TS, { name: 'x' }],
  ['listing conversations', 'GET', '/conversations', undefined],
  ['listing data views', 'GET', '/data-views', undefined],
] as const)('%s is refused for a self-joined user', { tags: ['R025'] }, async ([, method, path, json]) => {
  const emulator = await testEmulator({ collections: withVisitor })
  const request = () => emulator.request(method, path, { token: 'live_visitor', json })
  const response = await refused(emulator, request, 403, 'forbidden')
  expect(response.assumed).toEqual(expect.arrayContaining(['U003', 'U071']))
})

test('a self-joined user may converse, and gets the 501 of the missing contract', {
  tags: ['R025'],
}, async () => {
  const emulator = await testEmulator({ collections: withVisitor })
  const response = await emulator.post('/converse', {}, { token: 'live_visitor' })
  expect(response.status).toBe(501)
})

test('an approved membership in addition to the self-joined one allows every operation', {
  tags: ['R025'],
}, async () => {
  const approved = { ...visitor, id: 'm-approved', self_joined: false }
  const collections = { ...withVisitor, memberships: [visitor, approved] }
  const emulator = await testEmulator({ collections })
  expect((await emulator.post('/pages', { name: 'x' }, { token: 'live_visitor' })).status).toBe(200)
})

test('a self-joined user cannot manage the teamspace with a key of another one', {
  tags: ['R025'],
}, async () => {
  const emulator = await testEmulator({ collections: withVisitor })
  await refused(emulator, () => emulator.patch(`${TS}/ts-open`, { name: 'x' }, { key: 'KX' }), 404)
})

test('any member of the organization joins an open teamspace; joining twice changes nothing', {
  tags: ['R025', 'U003'],
}, async () => {
  const emulator = await testEmulator({ collections: { teamspaces: [open] } })
  const membership = join(emulator, 'ts-open', 'user-member')
  expect(membership).toMatchObject({ self_joined: true, removed_at: null, user_id: 'user-member' })
  const before = emulator.digest()
  expect(join(emulator, 'ts-open', 'user-member')).toEqual(membership)
  expect(emulator.digest()).toBe(before)
  expect(() => join(emulator, 'ts-open', 'user-other')).toThrow(/no user "user-other"/)
  expect(() => join(emulator, 'ts-none', 'user-member')).toThrow(/no teamspace/)
})

test('self-joining a closed teamspace is refused, but an approved membership is accepted', {
  tags: ['R026', 'U003'],
}, async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  expect(() => join(emulator, 'ts-b', 'user-member')).toThrow(/closed.*approval/)
  expect(emulator.digest()).toBe(before)
  const memberships = [{ ...visitor, teamspace_id: 'ts-b', self_joined: false }]
  await testEmulator({ collections: { memberships } })
})

test('a self-joined membership of a closed teamspace is refused in fixtures', {
  tags: ['R026'],
}, async () => {
  const memberships = [{ ...visitor, teamspace_id: 'ts-b' }]
  await expect(testEmulator({ collections: { memberships } })).rejects.toThrow(
    /memberships\/5\/self_joined.*closed/,
  )
})

test('closing an open teamspace keeps its members and admits no others, also after a restart', {
  tags: ['R026'],
}, async () => {
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

test('a closed teamspace with self-joined members is refused in fixtures, with the fix', {
  tags: ['R026'],
}, async () => {
  const collections = { ...withVisitor, teamspaces: [{ ...open, access: 'closed' }] }
  await expect(testEmulator({ collections })).rejects.toThrow(/joined_while_open/)
})

test('a key whose user is not a member of its teamspace is refused', { tags: ['R160', 'U071'] }, async () => {
  const emulator = await testEmulator({ collections: { ...withVisitor, memberships: [] } })
  const request = () => emulator.post('/pages', { name: 'x' }, { token: 'live_visitor' })
  const response = await refused(emulator, request, 403, 'forbidden')
  expect(response.assumed).toContain('U071')
})

test('a user key without a user is refused, but a service key needs none', { tags: ['U071'] }, async () => {
  const api_keys = [{ ...visitorKey, user_id: null }]
  const emulator = await testEmulator({ collections: { ...withVisitor, api_keys } })
  await refused(emulator, () => emulator.get('/data-views', { token: 'live_visitor' }), 403)
  expect((await emulator.get('/data-views', { key: 'KS' })).status).toBe(200)
})

test('the selection header reaches only teamspaces of the same organization, and a user key needs a membership', {
  tags: ['U070'],
}, async () => {
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

test('a key uses no quota of a teamspace that it may not act in', {
  tags: ['U070', 'R257'],
}, async () => {
  const emulator = await testEmulator({ settings: { 'auth.teamspace_header': 'x-team' } })
  const remaining = async () =>
    Number((await emulator.get('/data-views')).headers.get('x-ratelimit-remaining'))
  const before = await remaining()
  const foreign = await emulator.get('/data-views', { key: 'K2', headers: { 'x-team': 'ts-a' } })
  expect(foreign.status).toBe(403)
  expect(await remaining()).toBe(before - 1)
})
