import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json.ts'
import { change } from '../../../src/core/sandboxes/change.ts'
import { type TestEmulator, testEmulator } from '../../support/emulator.ts'
import { interveneBy } from '../../support/intervene.ts'
import { refused } from '../../support/refusal.ts'

const TS = '/organization/teamspaces'
const user_id = 'user-outsider'
const organization_id = 'org-1'
const teamspace_id = 'ts-open'

const open = {
  ...{ id: teamspace_id, cloud_provider: 'cloud_b', name: 'Open', access: 'open', created_at: '-10d' },
  _emulator: { organization_id },
}
const closed = { ...open, access: 'closed' }
const visitor = {
  ...{ id: 'm-visitor', teamspace_id, user_id, role: 'member', created_at: '-1d', self_joined: true },
}
const key = {
  ...{ id: 'key-visitor', kind: 'user', token: 'live_visitor', user_id, organization_id, teamspace_id },
}

/** An open teamspace with a user who joined it without approval, and a key of this user. */
const visited = (changes: Readonly<Record<string, readonly object[]>> = {}) =>
  testEmulator({ collections: { teamspaces: [open], memberships: [visitor], api_keys: [key], ...changes } })

function join({ sandbox }: TestEmulator, teamspace_id: string, user_id: string): JsonObject {
  return interveneBy(sandbox, 'POST /teamspaces/{teamspace_id}/join', { teamspace_id }, { user_id })
}

const page = (emulator: TestEmulator) => () => emulator.post('/pages', { name: 'x' }, { token: key.token })

test.for([
  ['creating a page', 'POST', '/pages', { name: 'x' }],
  ['listing users', 'GET', `${TS}/ts-open/users`, undefined],
  ['updating the teamspace', 'PATCH', `${TS}/ts-open`, { name: 'x' }],
  ['creating a teamspace', 'POST', TS, { name: 'x' }],
  ['listing conversations', 'GET', '/conversations', undefined],
  ['listing data views', 'GET', '/data-views', undefined],
] as const)('%s is refused for a self-joined user', { tags: ['R025'] }, async ([, method, path, json]) => {
  const emulator = await visited()
  const request = () => emulator.request(method, path, { token: key.token, json })
  const response = await refused(emulator, request, 403, 'forbidden')
  expect(response.assumed).toEqual(expect.arrayContaining(['U003', 'U071']))
})

test('a self-joined user may converse, and all with an approved membership', { tags: ['R025'] }, async () => {
  const emulator = await visited()
  expect((await emulator.post('/converse', {}, { token: key.token })).status).toBe(501)
  const approved = { ...visitor, id: 'm-approved', self_joined: false }
  expect((await page(await visited({ memberships: [visitor, approved] }))()).status).toBe(200)
})

test('a self-joined user cannot manage the teamspace with another key', { tags: ['R025'] }, async () => {
  const emulator = await visited()
  await refused(emulator, () => emulator.patch(`${TS}/ts-open`, { name: 'x' }, { key: 'KX' }), 404)
})

test('any member of the organization joins an open teamspace, once', { tags: ['R025', 'U003'] }, async () => {
  const emulator = await testEmulator({ collections: { teamspaces: [open] } })
  const membership = join(emulator, 'ts-open', 'user-member')
  expect(membership).toMatchObject({ self_joined: true, removed_at: null, user_id: 'user-member' })
  const before = emulator.digest()
  expect(join(emulator, 'ts-open', 'user-member')).toEqual(membership)
  expect(() => join(emulator, 'ts-open', 'user-other')).toThrow(/no user "user-other"/)
  expect(() => join(emulator, 'ts-none', 'user-member')).toThrow(/no teamspace/)
  expect(() => join(emulator, 'ts-b', 'user-member')).toThrow(/closed.*approval/)
  expect(emulator.digest()).toBe(before)
})

test('fixtures of a closed teamspace have only approved members', { tags: ['R026', 'U003'] }, async () => {
  await visited({ teamspaces: [closed], memberships: [{ ...visitor, self_joined: false }] })
  const added = visited({ memberships: [{ ...visitor, teamspace_id: 'ts-b' }] })
  await expect(added).rejects.toThrow(/memberships\/5\/self_joined.*closed/)
  await expect(visited({ teamspaces: [closed] })).rejects.toThrow(/joined_while_open/)
})

test('a teamspace that is closed keeps its members and admits no others', { tags: ['R026'] }, async () => {
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

test.for([
  ['is not a member of its teamspace', { memberships: [] }],
  ['is missing', { api_keys: [{ ...key, user_id: null }] }],
] as const)('a user key whose user %s is refused', { tags: ['R160', 'U071'] }, async ([, changes]) => {
  const emulator = await visited(changes)
  const response = await refused(emulator, page(emulator), 403, 'forbidden')
  expect(response.assumed).toContain('U071')
})

test('the selection header reaches only teamspaces that the key may use, and no quota of others', {
  tags: ['R257', 'U070'],
}, async () => {
  const second = { ...visitor, user_id: 'user-owner', teamspace_id: 'ts-b', self_joined: false }
  const emulator = await testEmulator({
    collections: { memberships: [second] },
    settings: { 'auth.teamspace_header': 'X-Teamspace' },
  })
  const create = (teamspace: string, key: 'KU' | 'KM' | 'KS') =>
    emulator.post('/pages', { name: 'x' }, { key, headers: { 'X-Teamspace': teamspace } })
  await refused(emulator, () => create('ts-b', 'KM'), 403)
  await refused(emulator, () => create('ts-x', 'KS'), 403)
  await refused(emulator, () => create('ts-none', 'KS'), 403)
  for (const [key, remaining] of [
    ['KU', '199'],
    ['KS', '198'],
  ] as const) {
    const { body, headers } = await create('ts-b', key)
    expect([body.teamspace_id, headers.get('x-ratelimit-remaining')]).toEqual(['ts-b', remaining])
  }
})
