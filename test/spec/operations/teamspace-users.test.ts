import { expect, test } from 'vitest'
import { crowd, upTo } from '../../support/crowd.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../../support/emulator.ts'
import { refused } from '../../support/refusal.ts'

const USERS = '/organization/teamspaces/ts-b/users'

const withCrowd = (count: number, settings = {}) =>
  testEmulator({ collections: crowd(upTo(count)), settings, limits: false })

const list = (emulator: TestEmulator, query = ''): Promise<TestResponse> =>
  emulator.get(`${USERS}${query}`, { key: 'K2' })

const idsOf = ({ body }: TestResponse): string[] => body.data.map(({ id }: { id: string }) => id)

test('items and list have their fields', {
  tags: ['R006', 'R028', 'R029', 'R030', 'R158', 'T01'],
}, async () => {
  const emulator = await withCrowd(1)
  const user = { id: 'u-0', email: 'p0@crowd.example', first_name: 'Pat', last_name: 'Number0' }
  const { status, body } = await list(emulator, '?limit=1')
  expect(status).toBe(200)
  expect(body).toEqual({
    object: 'list',
    data: [{ ...user, permissions: { role: 'member', agent_ids: [] } }],
    has_more: true,
  })
})

test('roles and agent ids are returned as in the fixtures', { tags: ['R030', 'R031', 'U004'] }, async () => {
  const membership = { id: 'm', teamspace_id: 'ts-b', user_id: 'user-owner', created_at: '-1d' }
  const memberships = [{ ...membership, role: 'Fürst', agent_ids: ['agent-1', ''] }]
  const emulator = await testEmulator({ collections: { memberships } })
  expect((await list(emulator)).body.data).toMatchObject([
    { id: 'user-second', permissions: { role: 'owner', agent_ids: [] } },
    { id: 'user-owner', permissions: { role: 'Fürst', agent_ids: ['agent-1', ''] } },
  ])
})

test('a fixture without a last name is refused', { tags: ['R028'] }, async () => {
  const users = crowd([0]).users.map((user) => ({ ...user, last_name: undefined }))
  await expect(testEmulator({ collections: { users } })).rejects.toThrow(/users\/5\/last_name.*is required/)
})

test('the newest user comes first, or by a setting the oldest', { tags: ['U020'] }, async () => {
  const all = [...upTo(25).map((n) => `u-${24 - n}`), 'user-second']
  expect(idsOf(await list(await withCrowd(25), '?limit=100'))).toEqual(all)
  const oldest = await withCrowd(25, { 'lists.order': 'oldest' })
  expect(idsOf(await list(oldest, '?limit=100'))).toEqual(all.toReversed())
})

test('without a limit a page has 20 users', { tags: ['R010', 'R158', 'U019'] }, async () => {
  const { body } = await list(await withCrowd(20))
  expect([body.data.length, body.has_more]).toEqual([20, true])
})

const LISTS = [USERS, '/organization/reports/consumption-breakdown', '/data-views']
const BAD_LIMITS = '0 101 -1 1.5 1e1 0x10 abc %205 %D9%A5 +5 05 1&limit=2'.split(' ')

test.for([...BAD_LIMITS, ''])(
  'limit=%s is refused on every list',
  { tags: ['R009', 'R156', 'R167', 'R179'] },
  async (limit) => {
    const emulator = await withCrowd(3)
    for (const path of LISTS) {
      const response = await refused(emulator, () => emulator.get(`${path}?limit=${limit}`, { key: 'K2' }))
      expect(response.body.details.errors[0].pointer).toBe('/query/limit')
    }
  },
)

const people = [
  ['Grace', 'Hopper'],
  ['Alan', 'Turing'],
  ['Ada', 'Lovelace'],
  ['José', 'Núñez'],
] as const
const named = (settings = {}) =>
  testEmulator({ collections: crowd(upTo(people.length), (n) => people[n] ?? ['', '']), settings })

const ALL = ['u-3', 'u-2', 'u-1', 'u-0', 'user-second']

test.for([
  ['substring', 'part of a first name', 'rac', ['u-0']],
  ['substring', 'part of a last name', 'urin', ['u-1']],
  ['substring', 'part of an e-mail address', 'p2@cro', ['u-2']],
  ['substring', 'another letter case', 'GRACE', ['u-0']],
  ['substring', 'letters beyond ASCII', 'ÚÑE', ['u-3']],
  ['substring', 'first and last name with a space between', 'ada love', ['u-2']],
  ['substring', 'no match', 'zzz', []],
  ['substring', 'characters of regular expressions are literal', '.*', []],
  // As a regular expression it would take minutes.
  ['substring', '10,000 characters are not a pattern', 'a.*'.repeat(3333), []],
  ['substring', 'a dot is a dot', 'crowd.example', ['u-3', 'u-2', 'u-1', 'u-0']],
  ['substring', 'an empty search finds all', '', ALL],
  ['prefix', 'the start of a last name', 'tur', ['u-1']],
  ['prefix', 'the end of a last name', 'ing', []],
  ['exact', 'a whole last name', 'turing', ['u-1']],
  ['exact', 'the start of a last name', 'tur', []],
  ['exact', 'an empty search finds all', '', ALL],
] as const)('a search by %s: %s', { tags: ['R155', 'U021'] }, async ([mode, , search, expected]) => {
  const emulator = await named(mode === 'substring' ? {} : { 'users.search': mode })
  expect(idsOf(await list(emulator, `?search=${encodeURIComponent(search)}`))).toEqual(expected)
})

test('cursors go on in the list that the search leaves', { tags: ['R157'] }, async () => {
  const collections = crowd(upTo(30), (n) => (n % 3 === 0 ? ['Match', 'Yes'] : ['Other', 'No']))
  const emulator = await testEmulator({ collections })
  for (const cursor of ['u-21', 'u-20'])
    expect(idsOf(await list(emulator, `?search=match&limit=2&after=${cursor}`))).toEqual(['u-18', 'u-15'])
})

test.for(['nobody', 'user-owner', '__proto__', '', 'u-0%00'])(
  'the unknown cursor "%s" is refused, or gives an empty page by a setting',
  { tags: ['R007', 'R157', 'U022'] },
  async (cursor) => {
    const emulator = await withCrowd(2)
    await refused(emulator, () => list(emulator, `?after=${cursor}`), 400)
    const lenient = await withCrowd(2, { 'lists.bad_cursor': 'empty' })
    const empty = { object: 'list', data: [], has_more: false }
    expect((await list(lenient, `?before=${cursor}`)).body).toEqual(empty)
  },
)

test('after together with before is refused, or a setting lets after win', { tags: ['T25'] }, async () => {
  const emulator = await withCrowd(3)
  await refused(emulator, () => list(emulator, '?after=u-2&before=u-0'), 400)
  const lenient = await withCrowd(3, { 'lists.both_cursors': 'after' })
  expect(idsOf(await list(lenient, '?after=u-2&before=u-0&limit=1'))).toEqual(['u-1'])
})

test.for([
  ['u-1', ['u-3', 'u-2'], true],
  ['u-2', ['u-4', 'u-3'], false],
  ['u-4', [], false],
] as const)(
  'has_more with before=%s is about rows before the page, or by a setting about rows after it',
  { tags: ['T26'] },
  async ([before, ids, isMore]) => {
    const inListOrder = await withCrowd(5, { 'lists.has_more_before': 'list_order' })
    const pages = [await withCrowd(5), inListOrder].map((each) => list(each, `?limit=2&before=${before}`))
    const seen = (await Promise.all(pages)).map((page) => [idsOf(page), page.body.has_more])
    expect(seen).toEqual([
      [ids, isMore],
      [ids, true],
    ])
  },
)

test('a deleted user is gone here, and stays in other teamspaces', { tags: ['R160'] }, async () => {
  const membership = { teamspace_id: 'ts-b', user_id: 'user-member', role: 'member', created_at: '-1d' }
  const emulator = await testEmulator({ collections: { memberships: [{ ...membership, id: 'm' }] } })
  const response = await emulator.delete('/organization/teamspaces/ts-a/users/user-member')
  expect([response.status, response.text]).toEqual([204, ''])
  expect(idsOf(await emulator.get('/organization/teamspaces/ts-a/users'))).not.toContain('user-member')
  await refused(emulator, () => emulator.post('/pages', { name: 'x' }, { key: 'KM' }), 403, 'forbidden')
  expect(idsOf(await list(emulator))).toEqual(['user-second', 'user-member'])
})

test('a user is deleted once, also the last owner', { tags: ['R160', 'U025'] }, async () => {
  const emulator = await testEmulator({ settings: { 'success.delete': 200 } })
  const path = '/organization/teamspaces/ts-a/users'
  const response = await emulator.delete(`${path}/user-member`)
  expect([response.status, response.body]).toEqual([200, {}])
  await refused(emulator, () => emulator.delete(`${path}/user-member`), 404, 'not_found')
  expect((await emulator.delete(`${path}/user-owner`)).status).toBe(200)
})

test.for([
  ['an unknown user', 'KU', 'ts-a', 'nobody'],
  ['a user of another teamspace', 'KU', 'ts-a', 'user-second'],
  ['a user named like a property of every object', 'KU', 'ts-a', '__proto__'],
  ['an unknown teamspace', 'KU', 'ts-none', 'user-member'],
  ['a teamspace of others', 'K2', 'ts-a', 'user-member'],
  ['a teamspace of another organization', 'KO', 'ts-a', 'user-member'],
] as const)('deleting %s is not found', { tags: ['R160', 'R229'] }, async ([, key, teamspace, user]) => {
  const emulator = await testEmulator()
  const path = `/organization/teamspaces/${teamspace}/users`
  await refused(emulator, () => emulator.delete(`${path}/${user}`, { key }), 404, 'not_found')
  if (teamspace !== 'ts-a' || key !== 'KU') await refused(emulator, () => emulator.get(path, { key }), 404)
})

test('a user with several memberships is listed and deleted once', { tags: ['R160'] }, async () => {
  const membership = { teamspace_id: 'ts-b', user_id: 'user-member', created_at: '-1d' }
  const memberships = ['first', 'second'].map((role) => ({ ...membership, id: role, role }))
  const emulator = await testEmulator({ collections: { memberships } })
  const shown = { id: 'user-member', permissions: { role: 'first' } }
  expect((await list(emulator)).body.data).toMatchObject([{}, shown])
  await emulator.delete(`${USERS}/user-member`, { key: 'K2' })
  expect(idsOf(await list(emulator))).toEqual(['user-second'])
})
