import fc from 'fast-check'
import { expect, test } from 'vitest'
import { change } from '../../../src/core/sandboxes/change.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../../support/emulator.ts'
import { refused } from '../../support/refusal.ts'

const USERS = '/organization/teamspaces/ts-b/users'
const JANUARY = Date.parse('2026-01-01T00:00:00.000Z')

/** `count` users in ts-b in addition to its owner, oldest first. */
function crowd(
  count: number,
  name: (n: number) => readonly [first: string, last: string] = (n) => ['Pat', `Number${n}`],
) {
  const numbers = Array.from({ length: count }, (_, n) => n)
  return {
    users: numbers.map((n) => {
      const [first_name, last_name] = name(n)
      const created_at = new Date(JANUARY + (n + 1) * 60_000).toISOString()
      return {
        id: `u-${n}`,
        organization_id: 'org-1',
        email: `p${n}@crowd.example`,
        first_name,
        last_name,
        created_at,
      }
    }),
    memberships: numbers.map((n) => ({
      id: `m-${n}`,
      teamspace_id: 'ts-b',
      user_id: `u-${n}`,
      role: 'member',
      created_at: '-1d',
    })),
  }
}

const list = (emulator: TestEmulator, query = ''): Promise<TestResponse> =>
  emulator.get(`${USERS}${query}`, { key: 'K2' })

const idsOf = ({ body }: TestResponse): string[] => body.data.map(({ id }: { id: string }) => id)

async function walk(emulator: TestEmulator, query: string): Promise<string[]> {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const page = await list(emulator, `?${query}${after}`)
    expect(page.status).toBe(200)
    ids.push(...idsOf(page))
    if (!page.body.has_more) return ids
    after = `&after=${ids.at(-1)}`
  }
}

test('items have exactly the fields of the table, and the list has has_more', {
  tags: ['R028', 'R029', 'R030', 'R158'],
}, async () => {
  const emulator = await testEmulator({ collections: crowd(3) })
  const { status, body } = await list(emulator)
  expect(status).toBe(200)
  expect(Object.keys(body).sort()).toEqual(['data', 'has_more', 'object'])
  for (const user of body.data) {
    expect(user).toEqual({
      id: expect.any(String),
      email: expect.stringMatching(/^[^@\s]+@[^@\s]+\.[^@\s]+$/),
      first_name: expect.any(String),
      last_name: expect.any(String),
      permissions: { role: expect.any(String), agent_ids: [] },
    })
  }
})

test('roles and agent ids are returned as in the fixtures', {
  tags: ['R030', 'R031', 'U004'],
}, async () => {
  const membership = { id: 'm', teamspace_id: 'ts-b', user_id: 'user-owner', created_at: '-1d' }
  const memberships = [{ ...membership, role: 'Fürst', agent_ids: ['agent-1', ''] }]
  const emulator = await testEmulator({ collections: { memberships } })
  const permissions = new Map(
    (await list(emulator)).body.data.map((user: { id: string; permissions: object }) => [
      user.id,
      user.permissions,
    ]),
  )
  expect(permissions.get('user-owner')).toEqual({ role: 'Fürst', agent_ids: ['agent-1', ''] })
  expect(permissions.get('user-second')).toEqual({ role: 'owner', agent_ids: [] })
})

test.for(['not-an-email', '', 'a@', '@b.example', 'a b@c.example'])(
  'a fixture whose e-mail is "%s" is refused with a clear message',
  { tags: ['R029'] },
  async (email) => {
    const { users } = crowd(1)
    const collections = { users: users.map((user) => ({ ...user, email })) }
    await expect(testEmulator({ collections })).rejects.toThrow(/users\/5\/email.*must be an e-mail address/)
  },
)

test('a fixture without a last name is refused', { tags: ['R028'] }, async () => {
  const collections = { users: crowd(1).users.map(({ last_name: _, ...user }) => user) }
  await expect(testEmulator({ collections })).rejects.toThrow(/users\/5\/last_name.*is required/)
})

test('paging with after visits every user once, newest first, and before pages back', {
  tags: ['R008', 'R157'],
}, async () => {
  const emulator = await testEmulator({ collections: crowd(25) })
  const all = idsOf(await list(emulator, '?limit=100'))
  expect(all).toEqual([...Array.from({ length: 25 }, (_, n) => `u-${24 - n}`), 'user-second'])
  for (const limit of [1, 7, 26]) expect(await walk(emulator, `limit=${limit}`)).toEqual(all)
  expect(idsOf(await list(emulator, `?limit=3&after=${all[4]}`))).toEqual(all.slice(5, 8))
  expect(idsOf(await list(emulator, `?limit=3&before=${all[4]}`))).toEqual(all.slice(1, 4))
  expect(idsOf(await list(emulator, `?limit=3&before=${all[1]}`))).toEqual(all.slice(0, 1))
})

test('has_more is true only while more users exist: 150 users at limit 1, 99 and 100; 100 users at 100', {
  tags: ['R010', 'R158'],
}, async () => {
  const emulator = await testEmulator({ collections: crowd(149) })
  for (const limit of [1, 99, 100]) {
    const { body } = await list(emulator, `?limit=${limit}`)
    expect([body.data.length, body.has_more]).toEqual([limit, true])
  }
  const exact = await testEmulator({ collections: crowd(99) })
  const { body } = await list(exact, '?limit=100')
  expect([body.data.length, body.has_more]).toEqual([100, false])
})

test('without a limit the page has 20 users and names the assumption', {
  tags: ['R010', 'U019'],
}, async () => {
  const emulator = await testEmulator({ collections: crowd(30) })
  const response = await list(emulator)
  expect(response.body.data).toHaveLength(20)
  expect(response.assumed).toContain('U019')
  expect((await list(emulator, '?limit=20')).assumed).not.toContain('U019')
})

const badLimits = [
  '0',
  '101',
  '-1',
  '1.5',
  '1e1',
  '0x10',
  'abc',
  '',
  '%205',
  '%D9%A5',
  '+5',
  '05',
  '1&limit=2',
]

test.for(badLimits)(
  'limit=%s is refused on every list',
  { tags: ['R009', 'R156', 'R167', 'R179'] },
  async (limit) => {
    const emulator = await testEmulator({ collections: crowd(3) })
    const lists = [USERS, '/organization/reports/consumption-breakdown', '/data-views']
    for (const path of lists) {
      const response = await refused(emulator, () => emulator.get(`${path}?limit=${limit}`, { key: 'K2' }))
      expect(response.body.details.errors[0].pointer).toBe('/query/limit')
    }
  },
)

test.for(['1', '100'])(
  'limit=%s is accepted on every list',
  { tags: ['R009', 'R156', 'R167', 'R179'] },
  async (limit) => {
    const emulator = await testEmulator({ collections: crowd(3) })
    const lists = [USERS, '/organization/reports/consumption-breakdown', '/data-views']
    for (const path of lists)
      expect((await emulator.get(`${path}?limit=${limit}`, { key: 'K2' })).status).toBe(200)
  },
)

const people = [
  ['Grace', 'Hopper'],
  ['Alan', 'Turing'],
  ['Ada', 'Lovelace'],
  ['José', 'Núñez'],
] as const
const named = () => crowd(people.length, (n) => people[n] ?? ['', ''])

test.for([
  ['part of a first name', 'rac', ['u-0']],
  ['part of a last name', 'urin', ['u-1']],
  ['part of an e-mail address', 'p2@cro', ['u-2']],
  ['another letter case', 'GRACE', ['u-0']],
  ['letters beyond ASCII', 'ÚÑE', ['u-3']],
  ['first and last name with a space between', 'ada love', ['u-2']],
  ['no match', 'zzz', []],
  ['characters of regular expressions are literal', '.*', []],
  ['a dot is a dot', 'crowd.example', ['u-3', 'u-2', 'u-1', 'u-0']],
  ['an empty search finds all', '', ['u-3', 'u-2', 'u-1', 'u-0', 'user-second']],
] as const)('%s', { tags: ['R155', 'U021'] }, async ([, search, expected]) => {
  const emulator = await testEmulator({ collections: named() })
  const response = await list(emulator, `?search=${encodeURIComponent(search)}`)
  expect(idsOf(response)).toEqual(expected)
  expect(response.assumed.includes('U021')).toBe(search !== '')
})

test.for([
  ['substring', 'ing', ['u-1']],
  ['prefix', 'tur', ['u-1']],
  ['prefix', 'ing', []],
  ['exact', 'turing', ['u-1']],
  ['exact', 'tur', []],
  ['exact', '', ['u-3', 'u-2', 'u-1', 'u-0', 'user-second']],
] as const)(
  'users.search at %s and the search "%s"',
  { tags: ['U021'] },
  async ([mode, search, expected]) => {
    const emulator = await testEmulator({ collections: named(), settings: { 'users.search': mode } })
    expect(idsOf(await list(emulator, `?search=${search}`))).toEqual(expected)
  },
)

test('a search of 10,000 characters is not a pattern, and finds no users', { tags: ['R155'] }, async () => {
  const emulator = await testEmulator({ collections: crowd(500) })
  await list(emulator)
  // As a regular expression it would take minutes.
  const response = await list(emulator, `?search=${'a.*'.repeat(3333)}`)
  expect([response.status, response.body.data]).toEqual([200, []])
})

test('paging with a search visits each match once', { tags: ['R157'] }, async () => {
  const collections = crowd(30, (n) => (n % 3 === 0 ? ['Match', 'Yes'] : ['Other', 'No']))
  const emulator = await testEmulator({ collections })
  const expected = Array.from({ length: 10 }, (_, n) => `u-${27 - 3 * n}`)
  expect(await walk(emulator, 'search=match&limit=4')).toEqual(expected)
  expect(idsOf(await list(emulator, '?search=match&limit=2&after=u-20'))).toEqual(['u-18', 'u-15'])
})

test.for(['nobody', 'user-owner', '__proto__', '', 'u-0%00'])(
  'the unknown cursor "%s" is refused, or gives an empty page by a setting',
  { tags: ['R157', 'U022'] },
  async (cursor) => {
    const emulator = await testEmulator({ collections: crowd(2) })
    const response = await refused(emulator, () => list(emulator, `?after=${cursor}`), 400)
    expect(response.assumed).toContain('U022')
    const lenient = await testEmulator({ collections: crowd(2), settings: { 'lists.bad_cursor': 'empty' } })
    const empty = { object: 'list', data: [], has_more: false }
    expect((await list(lenient, `?before=${cursor}`)).body).toEqual(empty)
  },
)

test('after together with before is refused, or a setting lets after win', { tags: ['T25'] }, async () => {
  const emulator = await testEmulator({ collections: crowd(3) })
  expect((await refused(emulator, () => list(emulator, '?after=u-2&before=u-0'))).assumed).toContain('T25')
  const lenient = await testEmulator({ collections: crowd(3), settings: { 'lists.both_cursors': 'after' } })
  expect(idsOf(await list(lenient, '?after=u-2&before=u-0&limit=1'))).toEqual(['u-1'])
})

test('has_more of a page read with before is false if no row is before it, and names the assumption', {
  tags: ['T26'],
}, async () => {
  const emulator = await testEmulator({ collections: crowd(5) })
  const read = async (before: string, where: TestEmulator = emulator) => {
    const response = await list(where, `?limit=2&before=${before}`)
    return [idsOf(response), response.body.has_more, response.assumed.includes('T26')]
  }
  expect(await read('u-1')).toEqual([['u-3', 'u-2'], true, true])
  expect(await read('u-2')).toEqual([['u-4', 'u-3'], false, true])
  expect(await read('u-4')).toEqual([[], false, true])
  const settings = { 'lists.has_more_before': 'list_order' }
  const literal = await testEmulator({ collections: crowd(5), settings })
  expect(await read('u-2', literal)).toEqual([['u-4', 'u-3'], true, false])
  expect(await read('u-4', literal)).toEqual([[], true, false])
})

test('a cursor works in both directions after the membership of its user is removed, and after a restart', {
  tags: ['T28'],
}, async () => {
  const emulator = await testEmulator({ collections: crowd(6) })
  expect((await emulator.delete(`${USERS}/u-3`, { key: 'K2' })).status).toBe(204)
  const again = await emulator.restart()
  expect(idsOf(await list(again, '?limit=2&after=u-3'))).toEqual(['u-2', 'u-1'])
  expect(idsOf(await list(again, '?limit=1&before=u-3'))).toEqual(['u-4'])
})

test.for(['oldest', 'shuffled'])(
  'lists.order=%s is a stable order for paging',
  { tags: ['U020'] },
  async (order) => {
    const emulator = await testEmulator({ collections: crowd(20), settings: { 'lists.order': order } })
    const all = idsOf(await list(emulator, '?limit=100'))
    expect(await walk(emulator, 'limit=3')).toEqual(all)
    const oldest = ['user-second', ...Array.from({ length: 20 }, (_, n) => `u-${n}`)]
    if (order === 'oldest') expect(all).toEqual(oldest)
    else expect(all).not.toEqual(oldest)
  },
)

test('a deleted user is not listed, its key is refused, and it stays in other teamspaces', {
  tags: ['R160'],
}, async () => {
  const memberships = [
    { id: 'm', teamspace_id: 'ts-b', user_id: 'user-member', role: 'member', created_at: '-1d' },
  ]
  const emulator = await testEmulator({ collections: { memberships } })
  expect(idsOf(await list(emulator))).toEqual(['user-second', 'user-member'])
  const response = await emulator.delete('/organization/teamspaces/ts-a/users/user-member')
  expect([response.status, response.text]).toEqual([204, ''])
  expect(idsOf(await emulator.get('/organization/teamspaces/ts-a/users'))).not.toContain('user-member')
  await refused(emulator, () => emulator.post('/pages', { name: 'x' }, { key: 'KM' }), 403, 'forbidden')
  expect(idsOf(await list(emulator))).toEqual(['user-second', 'user-member'])
})

test('a second deletion is not found; the last owner can be deleted; a setting makes the response a 200', {
  tags: ['R160', 'U025'],
}, async () => {
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
  const path = `/organization/teamspaces/${teamspace}/users/${user}`
  await refused(emulator, () => emulator.delete(path, { key }), 404, 'not_found')
  if (teamspace !== 'ts-a' || key !== 'KU')
    await refused(emulator, () => emulator.get(`/organization/teamspaces/${teamspace}/users`, { key }), 404)
})

test('a user with several memberships is listed once, and a deletion removes all of them', {
  tags: ['R160'],
}, async () => {
  const membership = { teamspace_id: 'ts-b', user_id: 'user-member', role: 'first', created_at: '-1d' }
  const memberships = [
    { ...membership, id: 'm-1' },
    { ...membership, id: 'm-2', role: 'second' },
  ]
  const emulator = await testEmulator({ collections: { memberships } })
  expect((await list(emulator)).body.data).toMatchObject([
    {},
    { id: 'user-member', permissions: { role: 'first' } },
  ])
  await emulator.delete(`${USERS}/user-member`, { key: 'K2' })
  expect(idsOf(await list(emulator))).toEqual(['user-second'])
})

test('a user who is added again is listed again', { tags: ['R160'] }, async () => {
  const emulator = await testEmulator({ collections: crowd(2) })
  await emulator.delete(`${USERS}/u-0`, { key: 'K2' })
  const membership = { id: 'm-again', teamspace_id: 'ts-b', user_id: 'u-0', role: 'back', agent_ids: [] }
  change(emulator.sandbox, ({ tx, at }) =>
    tx.put('memberships', { ...membership, created_at: at, removed_at: null, self_joined: false } as never),
  )
  expect((await list(emulator)).body.data[1]).toMatchObject({ id: 'u-0', permissions: { role: 'back' } })
})

test('paging with any mix of page sizes and removals visits each remaining user once', {
  tags: ['R008', 'R010'],
}, async () => {
  const steps = fc.array(fc.record({ limit: fc.integer({ min: 1, max: 9 }), remove: fc.nat(19) }), {
    minLength: 30,
    maxLength: 30,
  })
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const emulator = await testEmulator({ collections: crowd(20) })
      const seen: string[] = []
      const removed = new Set<string>()
      for (const { limit, remove } of plan) {
        const after = seen.length === 0 ? '' : `&after=${seen.at(-1)}`
        const { body } = await list(emulator, `?limit=${limit}${after}`)
        seen.push(...body.data.map(({ id }: { id: string }) => id))
        if (!body.has_more) break
        const gone = await emulator.delete(`${USERS}/u-${remove}`, { key: 'K2' })
        if (gone.status === 204) removed.add(`u-${remove}`)
      }
      expect(new Set(seen).size).toBe(seen.length)
      const everyone = ['user-second', ...Array.from({ length: 20 }, (_, n) => `u-${n}`)]
      for (const id of everyone) if (!removed.has(id)) expect(seen).toContain(id)
    }),
    { numRuns: 8 },
  )
})
