import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SHIPPED_WORLDS, shippedFile } from '../src/doors/fixtures.ts'
import { startEmulator } from '../src/emulator.ts'
import { DAY } from '../src/kernel/duration.ts'
import { isObject } from '../src/kernel/json.ts'
import { workspaceService } from '../src/resources/index.ts'
import { skillCategories } from '../src/resources/skills.ts'
import { START } from './support/base-world.ts'
import { type AnyRecord, build, documentOf, records, serve, shipped } from './support/starting-worlds.ts'

const OWNER = 'live_demo_owner'
const MEMBER = 'live_demo_member'
const OUTSIDER = 'live_demo_outsider'
const SERVICE = 'service_demo'

// A leap day, a year's end and the second in which 32-bit times overflow are the instants at which worlds break.
const starts = [
  [1, START],
  [2, '2028-02-29T23:59:59.999Z'],
  [4_294_967_295, '2038-01-19T03:14:08.000Z'],
] as const

const everyStart = SHIPPED_WORLDS.flatMap((name) => starts.map(([seed, clock]) => ({ name, seed, clock })))

test.for(everyStart)('$name builds under the seed $seed at $clock', async ({ name, seed, clock }) => {
  expect(await build(name, { seed, clock })).not.toHaveProperty('issues')
})

test.for(everyStart)('no time in $name lies after its start ($seed, $clock)', async ({ name, seed, clock }) => {
  const document = await documentOf(name, { seed, clock })
  const times = instantsIn(document.collections)
  expect(times.length).toBeGreaterThan(2)
  expect(times.filter((time) => !(Date.parse(time) <= Date.parse(clock)))).toEqual([])
})

test.for([...SHIPPED_WORLDS])('R296 the same seed gives %s byte for byte', async (name) => {
  const text = JSON.stringify(await documentOf(name))
  expect(JSON.stringify(await documentOf(name))).toBe(text)
})

test.for(['demo', 'large'])('R296 another seed gives other records in %s', async (name) => {
  const first = await documentOf(name)
  expect((await documentOf(name, { seed: 2 })).collections).not.toEqual(first.collections)
})

test('R296 worlds that are built at the same time do not share their chance', async () => {
  const alone = [await documentOf('demo', { seed: 1 }), await documentOf('demo', { seed: 2 })]
  const together = [documentOf('demo', { seed: 1 }), documentOf('demo', { seed: 2 })]
  expect(await Promise.all(together)).toEqual(alone)
})

test('what is written in demo does not depend on the seed, and large has all of it', async () => {
  const written = shipped('demo').collections as Record<string, AnyRecord[]>
  const [first, second, large] = [
    await documentOf('demo'),
    await documentOf('demo', { seed: 2 }),
    await documentOf('large'),
  ]
  for (const [name, given] of Object.entries(written)) {
    const ids = new Set(given.map(({ id }) => id))
    const own = (from: typeof first) => records(from, name).filter(({ id }) => ids.has(id))
    expect(own(first)).toHaveLength(given.length)
    expect(own(second)).toEqual(own(first))
    expect(own(large)).toEqual(own(first))
  }
})

test.for(['demo', 'large'])('%s holds as many records as it says', async (name) => {
  const document = await documentOf(name)
  const { generate } = shipped(name)
  const written = shipped('demo').collections
  for (const collection of workspaceService.collections.keys()) {
    const given = collection === 'organizations' ? 1 : (written[collection]?.length ?? 0)
    expect([collection, records(document, collection).length]).toEqual([
      collection,
      given + (generate[collection] ?? 0),
    ])
  }
})

test('empty holds what the API needs to be called, and nothing else', async () => {
  const { collections } = await documentOf('empty')
  const sizes = Object.entries(collections).flatMap(([name, rows]) => rows.map(() => name))
  expect(sizes.sort()).toEqual(
    ['api_keys', 'api_keys', 'memberships', 'organizations', 'teamspaces', 'users'].sort(),
  )
})

test('empty answers its owner and its service key', async () => {
  const ask = await serve('empty')
  const { body } = await ask(OWNER, 'GET', '/organization/teamspaces/teamspace-demo/users')
  expect(body.data).toMatchObject([{ id: 'user-owner', permissions: { role: 'owner' } }])
  expect((await ask(SERVICE, 'GET', '/data-views')).body).toEqual({ object: 'list', data: [] })
})

test.for([...SHIPPED_WORLDS])('X6 no token and no other secret is in the document of %s', async (name) => {
  const text = JSON.stringify(await documentOf(name))
  const told = secretsOf(shipped(name === 'large' ? 'demo' : name))
  expect(told.length).toBeGreaterThan(1)
  expect([...told, 'generated-claim-token'].filter((secret) => text.includes(secret))).toEqual([])
})

test('demo is small, and every time in it is relative to the start', () => {
  const text = readFileSync(shippedFile('fixtures', 'demo.json'), 'utf8')
  expect(Buffer.byteLength(text)).toBeLessThan(60_000)
  const times = instantsIn(JSON.parse(text))
  expect(times.filter((time) => !/^-\d+(m|h|d)$/.test(time))).toEqual([])
  expect(new Set(text.match(/[\w.]+@[\w.]+/g)?.map((address) => address.split('@')[1]))).toEqual(
    new Set(['example.com']),
  )
})

test('demo is built within 100 ms once the names are loaded, large within 2 s', async () => {
  await build('demo')
  expect(await fastest(5, 'demo')).toBeLessThan(100)
  expect(await fastest(2, 'large')).toBeLessThan(2000)
})

test('twice the users and memberships take about twice the time', async () => {
  const base = shipped('empty')
  const timed = (count: number) =>
    fastest(3, { ...base, generate: { users: count, memberships: count, conversations: count, messages: count } })
  await timed(1000)
  const [once, fourfold] = [await timed(3000), await timed(12_000)]
  expect(fourfold / once).toBeLessThan(9)
})

test('R035 demo has skills of each of the eleven categories', async () => {
  const skills = records(await documentOf('demo'), 'skills')
  expect(new Set(skills.map(({ category }) => category))).toEqual(new Set(skillCategories))
  expect(skillCategories).toHaveLength(11)
})

test('R034 demo has skills of each scope, an override of a built-in one among them', async () => {
  const skills = records(await documentOf('demo'), 'skills')
  expect(new Set(skills.map(({ scope }) => scope))).toEqual(new Set(['user', 'account', 'builtin']))
  expect(skills.some(({ scope, builtin_key }) => scope === 'account' && builtin_key !== null)).toBe(true)
})

test('generated members of demo are new people: nobody else gets a membership that is not written', async () => {
  const document = await documentOf('demo')
  const written = new Set(shipped('demo').collections.users.map(({ id }: AnyRecord) => id))
  const extra = records(document, 'memberships').filter(({ id }) => !id.startsWith('membership-'))
  expect(extra.filter(({ user_id }) => written.has(user_id))).toEqual([])
  expect(new Set(extra.map(({ user_id }) => user_id)).size).toBe(shipped('demo').generate.users)
})

test('nobody in demo or large is a member for longer than there has been the user or the teamspace', async () => {
  for (const document of [await documentOf('demo'), await documentOf('large')]) {
    const births = new Map<string, string>(
      [...records(document, 'users'), ...records(document, 'teamspaces')].map((each) => [each.id, each.created_at]),
    )
    const early = records(document, 'memberships').filter(
      ({ user_id, teamspace_id, created_at }) =>
        created_at < (births.get(user_id) ?? '') || created_at < (births.get(teamspace_id) ?? ''),
    )
    expect(early).toEqual([])
  }
})

test('the consumption of demo covers the 120 days before the start, every week of them', async () => {
  const rows = records(await documentOf('demo'), 'consumption_rows')
  const weeks = rows.map(({ created_at }) => Math.floor((Date.parse(START) - Date.parse(created_at)) / (7 * DAY)))
  expect([...new Set(weeks)].sort((a, b) => a - b)).toEqual(Array.from({ length: 18 }, (_, week) => week))
})

test.for(['demo', 'large'])('every id that %s refers to exists', async (name) => {
  const document = await documentOf(name)
  const ids = new Map(
    Object.entries(document.collections).map(([each, rows]) => [each, new Set(rows.map(({ id }) => id))]),
  )
  const dangling = Object.entries(document.collections).flatMap(([collection, rows]) =>
    rows.flatMap((row) =>
      referencesIn(row)
        .filter(({ to, id }) => !ids.get(to)?.has(id))
        .map(({ to, id }) => `${collection}/${row.id} refers to ${to}/${id}`),
    ),
  )
  expect(dangling).toEqual([])
})

test('the four keys of demo are of the kinds and teamspaces that their names say', async () => {
  const keys = records(await documentOf('demo'), 'api_keys')
  const facts = keys.map(({ id, kind, teamspace_id, account_admin }) => [id, kind, teamspace_id, account_admin])
  expect(facts).toEqual([
    ['key-owner', 'user', 'teamspace-harbor', true],
    ['key-member', 'user', 'teamspace-harbor', false],
    ['key-outsider', 'user', 'teamspace-depot', false],
    ['key-service', 'service', 'teamspace-harbor', false],
  ])
})

test('a world that nothing is said about is demo', async () => {
  const emulator = await startEmulator({ port: 0, rate: 0, clock: START })
  await emulator.close()
  expect(emulator.sandbox.store.get('teamspaces', 'teamspace-harbor')).toBeDefined()
})

test('the keys of demo reach their own teamspace and no other', async () => {
  const ask = await serve('demo')
  const reached = async (token: string) =>
    Promise.all(
      ['teamspace-harbor', 'teamspace-depot'].map(
        async (id) => (await ask(token, 'GET', `/organization/teamspaces/${id}/users`)).status,
      ),
    )
  expect(await reached(OWNER)).toEqual([200, 404])
  expect(await reached(MEMBER)).toEqual([200, 404])
  expect(await reached(OUTSIDER)).toEqual([404, 200])
  expect(await reached(SERVICE)).toEqual([200, 404])
})

/** Every value of a member that names an instant, at any depth. */
function instantsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(instantsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    key.endsWith('_at') && typeof member === 'string' ? [member] : instantsIn(member),
  )
}

/** The members of all declared secrets in a fixtures document. */
function secretsOf({ collections }: AnyRecord): string[] {
  return [...workspaceService.collections.values()].flatMap(({ name, secrets }) =>
    (collections[name] ?? []).flatMap((record: AnyRecord) => secrets.map((member) => record[member])),
  ).filter((secret) => typeof secret === 'string')
}

const targets: Readonly<Record<string, string>> = {
  organization_id: 'organizations',
  account_id: 'organizations',
  teamspace_id: 'teamspaces',
  user_id: 'users',
  creator_id: 'users',
  user_ids: 'users',
  page_id: 'pages',
  agent_id: 'agents',
  agent_ids: 'agents',
  automation_id: 'automations',
  trigger_id: 'event_triggers',
  server_id: 'mcp_servers',
  conversation_id: 'conversations',
}

/** The ids of other records in a record, at any depth. */
function referencesIn(value: unknown): { readonly to: string; readonly id: string }[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) => {
    const to = targets[key]
    if (to === undefined) return referencesIn(member)
    return [member].flat().flatMap((id) => (typeof id === 'string' ? [{ to, id }] : []))
  })
}

/** The shortest of several builds in milliseconds: what the work takes when nothing else is in the way. */
async function fastest(times: number, source: Parameters<typeof build>[0]): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let n = 0; n < times; n++) {
    const begun = performance.now()
    await build(source)
    least = Math.min(least, performance.now() - begun)
  }
  return least
}
