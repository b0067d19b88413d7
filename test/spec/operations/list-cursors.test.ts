import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadDocument } from '../../../src/core/sandboxes/change.ts'
import type { Row } from '../../../src/core/state/commit.ts'
import { consumptionRow } from '../../support/consumption-row.ts'
import { crowd, minute, upTo } from '../../support/crowd.ts'
import { type TestEmulator, type TestResponse, testEmulator } from '../../support/emulator.ts'
import { arm } from '../../support/state-faults.ts'

const USERS = '/organization/teamspaces/ts-b/users'
const REPORT = '/organization/reports/consumption-breakdown'
const LISTS = { users: USERS, consumption: REPORT } as const

/** Users of ts-b and rows of the report, one of each per minute. */
const rowsAt = (minutes: readonly number[]) => ({
  ...crowd(minutes),
  consumption_rows: minutes.map((at, n) => consumptionRow(`row-${n}`, minute(at))),
})

const read = (emulator: TestEmulator, path: string, query: string): Promise<TestResponse> =>
  emulator.get(`${path}?${query}`, { key: 'K2' })

const namesOf = ({ body }: TestResponse): string[] =>
  body.data.map((each: { id?: string; resource?: string }) => each.id ?? each.resource)

/** The cursor of the first or the last row of a page. */
function cursorOf(response: TestResponse, end: 'first' | 'last'): string {
  const own = response.body[`${end}_id`]
  return own ?? namesOf(response).at(end === 'first' ? 0 : -1)
}

/** Walks a list to its end in one direction; `between` runs after each page with has_more. */
async function walk(
  emulator: TestEmulator,
  path: string,
  { limit, back }: { limit: number; back?: string },
  between: () => Promise<void> = async () => {},
): Promise<string[]> {
  const seen: string[] = []
  let cursor = back === undefined ? '' : `&before=${back}`
  for (let pages = 0; ; pages++) {
    expect(pages).toBeLessThan(200)
    const response = await read(emulator, path, `limit=${limit}${cursor}`)
    expect(response.status, response.text).toBe(200)
    const page = namesOf(response)
    if (back === undefined) seen.push(...page)
    else seen.unshift(...page)
    if (!response.body.has_more) return seen
    const edge = cursorOf(response, back === undefined ? 'last' : 'first')
    cursor = `&${back === undefined ? 'after' : 'before'}=${edge}`
    await between()
  }
}

const orders = fc.constantFrom('newest', 'oldest', 'shuffled')
const limits = fc.integer({ min: 1, max: 12 })

test.for(['users', 'consumption'] as const)(
  'paging the list of %s forwards and backwards visits every row once, and ends',
  { tags: ['R008', 'R010', 'R167', 'R168', 'R171', 'T26', 'U020'] },
  async (name) => {
    const minutes = fc.array(fc.nat(9), { maxLength: 30 })
    const property = fc.asyncProperty(minutes, limits, orders, async (at, limit, order) => {
      const settings = { 'lists.order': order }
      const emulator = await testEmulator({ collections: rowsAt(at), settings })
      const all = await read(emulator, LISTS[name], 'limit=100')
      const forward = await walk(emulator, LISTS[name], { limit })
      expect(forward).toEqual(namesOf(all))
      if (forward.length === 0) return
      const end = cursorOf(all, 'last')
      expect(await walk(emulator, LISTS[name], { limit, back: end })).toEqual(forward.slice(0, -1))
    })
    await fc.assert(property, { numRuns: 15 })
  },
)

type Delete = (emulator: TestEmulator, user: string) => Promise<void> | void

const membershipsOf = (emulator: TestEmulator, user: string): Row[] =>
  emulator.state('memberships').filter(({ user_id }) => user_id === user)

async function overState(emulator: TestEmulator, ref: string): Promise<void> {
  expect((await emulator.control('DELETE', `/state/${ref}`)).status).toBe(204)
}

/** Every way in which a user can leave the list. */
const ways: Readonly<Record<string, Delete>> = {
  'the API': async (emulator, user) => {
    expect((await emulator.delete(`${USERS}/${user}`, { key: 'K2' })).status).toBe(204)
  },
  'DELETE /state of the membership': async (emulator, user) => {
    for (const { id } of membershipsOf(emulator, user)) await overState(emulator, `memberships/${id}`)
  },
  'PATCH /state of the membership': async (emulator, user) => {
    for (const { id } of membershipsOf(emulator, user)) {
      const patched = await emulator.control('PATCH', `/state/memberships/${id}`, { teamspace_id: 'ts-a' })
      expect(patched.status).toBe(200)
    }
  },
  'the merge of a fixture': async (emulator, user) => {
    const memberships = membershipsOf(emulator, user).map((each) => ({ ...each, teamspace_id: 'ts-a' }))
    expect((await emulator.control('POST', '/fixtures', { collections: { memberships } })).status).toBe(200)
  },
  'the API and DELETE /state afterwards': async (emulator, user) => {
    await ways['the API']?.(emulator, user)
    for (const { id } of membershipsOf(emulator, user)) await overState(emulator, `memberships/${id}`)
    await overState(emulator, `users/${user}`)
  },
  'a fault of the next request': async (emulator, user) => {
    const match = { operation: 'data-views.list' }
    const gone = { collection: 'users', id: user }
    await arm(emulator, { match, times: 1, do: [{ state: { delete: gone } }] })
    await emulator.get('/data-views', { key: 'K2' })
  },
  'an edit of the state file': ({ sandbox }, user) => {
    const edited = JSON.parse(JSON.stringify(sandbox.document()))
    edited.collections.users = edited.collections.users.filter(({ id }: Row) => id !== user)
    edited.collections.memberships = edited.collections.memberships.filter(
      ({ user_id }: { user_id: string }) => user_id !== user,
    )
    loadDocument(sandbox, edited, edited.revision)
  },
}

test.for(Object.keys(ways))(
  'a cursor works after %s deletes its user',
  { tags: ['T28', 'R157'] },
  async (way) => {
    const emulator = await testEmulator({ collections: crowd(upTo(6)) })
    await ways[way]?.(emulator, 'u-3')
    const users = await read(emulator, USERS, '')
    expect(namesOf(users)).toEqual(['u-5', 'u-4', 'u-2', 'u-1', 'u-0', 'user-second'])
    for (const each of [emulator, await emulator.restart()]) {
      const after = await read(each, USERS, 'limit=2&after=u-3')
      expect([namesOf(after), after.body.has_more]).toEqual([['u-2', 'u-1'], true])
      const before = await read(each, USERS, 'limit=2&before=u-3')
      expect([namesOf(before), before.body.has_more]).toEqual([['u-5', 'u-4'], false])
      expect(after.assumed).toContain('T28')
    }
  },
)

test('paging visits each user once who stays in the list', { tags: ['T28', 'R008', 'R010'] }, async () => {
  const deletion = fc.record({ user: fc.nat(14), way: fc.constantFrom(...Object.keys(ways)) })
  const plan = fc.array(fc.array(deletion, { maxLength: 3 }), { minLength: 10, maxLength: 10 })
  const property = fc.asyncProperty(
    plan,
    limits,
    orders,
    fc.boolean(),
    async (steps, limit, order, isBack) => {
      const settings = { 'lists.order': order }
      const emulator = await testEmulator({ collections: crowd(upTo(15)), settings })
      const all = namesOf(await read(emulator, USERS, 'limit=100'))
      const gone = new Set<string>()
      const left = [...steps]
      const back = isBack ? { back: all.at(-1) ?? '' } : {}
      const seen = await walk(emulator, USERS, { limit: Math.min(limit, 5), ...back }, async () => {
        for (const { user, way } of left.shift() ?? []) {
          const id = `u-${user}`
          if (gone.has(id)) continue
          gone.add(id)
          await ways[way]?.(emulator, id)
        }
      })
      const expected = isBack ? all.slice(0, -1) : all
      expect(seen.filter((id) => !gone.has(id))).toEqual(expected.filter((id) => !gone.has(id)))
      expect(new Set(seen).size).toBe(seen.length)
    },
  )
  await fc.assert(property, { numRuns: 20 })
})

test('a setting refuses the cursor of a deleted user', { tags: ['T28'] }, async () => {
  const settings = { 'lists.deleted_cursor': 'reject' } as const
  const emulator = await testEmulator({ collections: crowd(upTo(2)), settings })
  await ways['the API']?.(emulator, 'u-1')
  const { status, assumed } = await read(emulator, USERS, 'after=u-1')
  expect([status, assumed.includes('U022')]).toEqual([400, true])
})

test('a user who was never in the list is no cursor, deleted or not', { tags: ['T28'] }, async () => {
  const emulator = await testEmulator({ collections: crowd(upTo(2)) })
  await ways['a fault of the next request']?.(emulator, 'user-outsider')
  expect(emulator.state('users').map(({ id }) => id)).not.toContain('user-outsider')
  for (const id of ['user-outsider', 'user-member'])
    expect((await read(emulator, USERS, `after=${id}`)).status).toBe(400)
})

test('a user who is added again is listed, and its cursor works again', { tags: ['T28'] }, async () => {
  const emulator = await testEmulator({ collections: crowd(upTo(3)) })
  await ways['DELETE /state of the membership']?.(emulator, 'u-1')
  const again = { teamspace_id: 'ts-b', user_id: 'u-1', role: 'member', created_at: minute(1_440) }
  expect((await emulator.control('PUT', '/state/memberships/m-again', again)).status).toBe(201)
  expect(namesOf(await read(emulator, USERS, ''))).toEqual(['u-2', 'u-1', 'u-0', 'user-second'])
  const response = await read(emulator, USERS, 'limit=1&after=u-1')
  expect([namesOf(response), response.assumed]).toEqual([['u-0'], expect.not.arrayContaining(['T28'])])
})
