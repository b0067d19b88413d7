import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SHIPPED_FIXTURES } from '../src/adapters/fixtures.ts'
import { shippedFile } from '../src/adapters/package.ts'
import { isObject } from '../src/core/json.ts'
import { DAY } from '../src/core/time/instant.ts'
import { workspaceService } from '../src/emulator/service.ts'
import { START } from './support/base-state.ts'
import {
  type AnyRecord,
  documentOf,
  records,
  serve,
  shipped,
  shippedEmulator,
} from './support/starting-states.ts'

// Edge cases of seed and clock: the end of a leap day, the second in which 32-bit times overflow, and the largest seed.
const starts = [
  { seed: 1, clock: START },
  { seed: 2, clock: '2028-02-29T23:59:59.999Z' },
  { seed: 4_294_967_295, clock: '2038-01-19T03:14:08.000Z' },
]
const everyStart = SHIPPED_FIXTURES.flatMap((name) => starts.map((start) => ({ name, ...start })))

test.for(everyStart)('$name has no time after its start ($seed, $clock)', async ({ name, ...start }) => {
  const document = await shippedEmulator(name, start)
  expect(records(document, 'api_keys')).not.toHaveLength(0)
  const times = instantsIn(document.collections)
  expect(times.length).toBeGreaterThan(2)
  expect(times.filter((time) => !(Date.parse(time) <= Date.parse(start.clock)))).toEqual([])
})

test.for([...SHIPPED_FIXTURES])(
  'the same seed gives the same bytes for %s',
  { tags: ['R296'] },
  async (name) => {
    expect(JSON.stringify(await documentOf(name))).toBe(JSON.stringify(await shippedEmulator(name)))
  },
)

test.for(['demo', 'large'])('another seed produces other records in %s', { tags: ['R296'] }, async (name) => {
  const sandboxes = [await shippedEmulator(name), await shippedEmulator(name, starts[1])]
  const [emails, otherEmails] = sandboxes.map((sandbox) =>
    records(sandbox, 'users').map(({ email }) => email),
  )
  const [credits, otherCredits] = sandboxes.map((sandbox) =>
    records(sandbox, 'consumption_rows').map((row) => row.credits),
  )
  expect(otherEmails).not.toEqual(emails)
  expect(otherCredits).not.toEqual(credits)
})

test('sandboxes built at the same time do not share randomness', { tags: ['R296'] }, async () => {
  const [demo, seeds] = [shipped('demo'), [{ seed: 1 }, { seed: 2 }]]
  const alone = [await documentOf(demo, seeds[0]), await documentOf(demo, seeds[1])]
  expect(await Promise.all(seeds.map((seed) => documentOf(demo, seed)))).toEqual(alone)
})

test('the written records of demo do not depend on the seed, and large contains all of them', async () => {
  const sandboxes = [await shippedEmulator('demo', { seed: 2 }), await shippedEmulator('large')]
  const demo = await shippedEmulator('demo')
  for (const [name, written] of Object.entries<AnyRecord[]>(shipped('demo').collections)) {
    const ids = new Set(written.map(({ id }) => id))
    const own = (document: typeof demo) => records(document, name).filter(({ id }) => ids.has(id))
    expect(own(demo)).toHaveLength(written.length)
    for (const sandbox of sandboxes) expect(own(sandbox)).toEqual(own(demo))
  }
})

test.for(['demo', 'large'])('%s has the number of records that it declares', async (name) => {
  const document = await shippedEmulator(name)
  const { generate } = shipped(name)
  const written = { organizations: [1], ...shipped('demo').collections }
  const sizes = [...workspaceService.collections.keys()].map((each) => [each, records(document, each).length])
  const declared = (each: string | number = '') => (written[each]?.length ?? 0) + (generate[each] ?? 0)
  expect(sizes).toEqual(sizes.map(([each]) => [each, declared(each)]))
})

test('empty has only the records that the API needs', async () => {
  const { collections } = await shippedEmulator('empty')
  const sizes = Object.entries(collections).map(([name, rows]) => [name, rows.length])
  const needed = { organizations: 1, teamspaces: 1, users: 1, memberships: 1, api_keys: 2 }
  expect(Object.fromEntries(sizes.filter(([, size]) => size !== 0))).toEqual(needed)
})

test('empty accepts its owner key and its service key', async () => {
  const ask = await serve('empty')
  const list = await ask('live_demo_owner', 'GET', '/organization/teamspaces/teamspace-demo/users')
  expect(list.body.data).toMatchObject([{ id: 'user-owner', permissions: { role: 'owner' } }])
  expect((await ask('service_demo', 'GET', '/data-views')).body).toEqual({ object: 'list', data: [] })
})

test.for([...SHIPPED_FIXTURES])('X6 no token and no other secret is in the document of %s', async (name) => {
  const text = JSON.stringify(await shippedEmulator(name))
  const told = secretsOf(shipped(name === 'large' ? 'demo' : name))
  expect(told).toEqual(expect.arrayContaining(['live_demo_owner', 'service_demo']))
  expect([...told, 'generated-claim-token'].filter((secret) => text.includes(secret))).toEqual([])
})

test('demo is small, its times are relative to the start, and its addresses are reserved examples', () => {
  const text = readFileSync(shippedFile('fixtures', 'demo.json'), 'utf8')
  expect(Buffer.byteLength(text)).toBeLessThan(60_000)
  expect(instantsIn(JSON.parse(text)).filter((time) => !/^-\d+[mhd]$/.test(time))).toEqual([])
  const found = text.matchAll(/@([\w.]+)|:\/\/(?:[\w-]+\.)?([\w.]+)/g)
  const hosts = [...found].map(([, mail, web]) => mail ?? web)
  expect([...new Set(hosts)].sort()).toEqual(['example.com', 'localhost'])
})

test('each generated membership belongs to a different generated user, never to a written one', async () => {
  for (const name of ['demo', 'large']) {
    const document = await shippedEmulator(name)
    const written = new Set(shipped('demo').collections.memberships.map(({ id }: AnyRecord) => id))
    const people = new Set(shipped('demo').collections.users.map(({ id }: AnyRecord) => id))
    const made = records(document, 'memberships').filter(({ id }) => !written.has(id))
    expect(made.find(({ user_id }) => people.has(user_id))).toBeUndefined()
    expect(new Set(made.map(({ user_id }) => user_id)).size).toBe(made.length)
  }
})

test.for(['demo', 'large'])('no membership in %s is older than its user or its teamspace', async (name) => {
  const document = await shippedEmulator(name)
  const origins = [...records(document, 'users'), ...records(document, 'teamspaces')]
  const origin = new Map<string, string>(origins.map(({ id, created_at }) => [id, created_at]))
  const tooOld = records(document, 'memberships').find(({ user_id, teamspace_id, created_at }) =>
    [user_id, teamspace_id].some((id) => created_at < (origin.get(id) ?? '')),
  )
  expect(tooOld).toBeUndefined()
})

test('the consumption of demo covers each week of the 120 days before the start', async () => {
  const rows = records(await shippedEmulator('demo'), 'consumption_rows')
  const ages = rows.map(({ created_at }) => Date.parse(START) - Date.parse(created_at))
  const weeks = new Set(ages.map((age) => Math.floor(age / (7 * DAY))))
  expect([...weeks].sort((a, b) => a - b)).toEqual(Array.from({ length: 18 }, (_, week) => week))
})

test.for(['demo', 'large'])('every id that %s refers to exists', async (name) => {
  const { collections } = await shippedEmulator(name)
  const ids = new Map(
    Object.entries(collections).map(([each, rows]) => [each, new Set(rows.map(({ id }) => id))]),
  )
  const found = Object.values(collections)
    .flatMap((rows) => rows.flatMap(referencesIn))
    .filter(({ to }) => ids.has(to))
  expect(found.length).toBeGreaterThan(100)
  expect(found.find(({ to, id }) => !ids.get(to)?.has(id))).toBeUndefined()
})

function instantsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(instantsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key.endsWith('_at') && typeof member === 'string' ? [member] : instantsIn(member),
  )
}

/** The values of all fields of a fixtures document that are declared secret. */
function secretsOf({ collections }: AnyRecord): string[] {
  return [...workspaceService.collections.values()].flatMap(({ name, secrets }) =>
    (collections[name] ?? []).flatMap((record: AnyRecord) => secrets.map((member) => record[member])),
  )
}

/** Collections that a field such as `creator_id` refers to; `user_ids` refers to users. */
const NAMED = { account: 'organizations', creator: 'users', server: 'mcp_servers', trigger: 'event_triggers' }

function referencesIn(value: unknown): { readonly to: string; readonly id: string }[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) => {
    const [, name = ''] = /^(.+)_ids?$/.exec(key) ?? []
    if (name === '') return referencesIn(member)
    const to = NAMED[name as keyof typeof NAMED] ?? `${name}s`
    return [member].flat().flatMap((id) => (typeof id === 'string' ? [{ to, id }] : []))
  })
}
