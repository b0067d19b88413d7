import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setSettings } from '../../../src/core/sandboxes/change.ts'
import { anyText } from '../../support/any-text.ts'
import { testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

const CREATE = '/organization/teamspaces'
const A = '/organization/teamspaces/ts-a'

test('every created teamspace has a unique string id', { tags: ['R018'] }, async () => {
  const emulator = await testEmulator()
  const ids = [await emulator.post(CREATE, { name: 'x' }), await emulator.post(CREATE, { name: 'x' })].map(
    ({ body }) => body.id,
  )
  expect(ids.every((id) => typeof id === 'string' && id !== '')).toBe(true)
  expect(new Set(ids).size).toBe(2)
})

test('a request needs only a name, and the response is a teamspace and nothing else', {
  tags: ['R152', 'R154'],
}, async () => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.post(CREATE, { name: 'Bridge' })
  expect(status).toBe(200)
  expect(body).toEqual({
    id: expect.any(String),
    cloud_provider: 'cloud_b',
    name: 'Bridge',
    access: 'closed',
    created_at: '2026-03-01T12:00:00.000Z',
  })
})

test('a missing name is refused with the assumption, and accepted by a setting', {
  tags: ['R152'],
}, async () => {
  const strict = await testEmulator()
  const response = await refused(strict, () => strict.post(CREATE, {}), 400, 'validation_failed')
  expect(response.assumed).toContain('U015')
  const lenient = await testEmulator({ settings: { 'required.teamspaces.create.name': false } })
  expect((await lenient.post(CREATE, {})).body.name).toBe('')
})

test.for(['cloud_a', 'cloud_b'])(
  'the cloud %s is accepted and returned',
  { tags: ['R019', 'R020'] },
  async (cloud) => {
    const emulator = await testEmulator()
    const { body } = await emulator.post(CREATE, { name: 'x', cloud_provider: cloud })
    expect(body.cloud_provider).toBe(cloud)
  },
)

test.for([['cloud_c'], ['CLOUD_A'], [''], [null], [7], [['cloud_a']]])(
  'the cloud %j is refused, and the message names the settings',
  { tags: ['R019'] },
  async ([cloud]) => {
    const emulator = await testEmulator()
    const response = await refused(emulator, () =>
      emulator.post(CREATE, { name: 'x', cloud_provider: cloud }),
    )
    expect(pointersOf(response)).toEqual(['/cloud_provider'])
    if (typeof cloud === 'string') expect(response.body.message).toContain('names.cloud_a')
  },
)

test('the default cloud is cloud_b', { tags: ['R020'] }, async () => {
  const emulator = await testEmulator({ settings: { 'names.cloud_b': 'second' } })
  const { body } = await emulator.post(CREATE, { name: 'x' })
  expect(body.cloud_provider).toBe('second')
})

test('configured names replace the placeholders in requests and responses, also of older records', {
  tags: ['U009'],
}, async () => {
  const emulator = await testEmulator({ settings: { 'names.cloud_a': 'first', 'names.cloud_b': 'second' } })
  expect((await emulator.patch(A, { name: 'x' })).body.cloud_provider).toBe('second')
  expect((await emulator.post(CREATE, { name: 'x', cloud_provider: 'first' })).body.cloud_provider).toBe(
    'first',
  )
  await refused(emulator, () => emulator.post(CREATE, { name: 'x', cloud_provider: 'cloud_a' }))
})

test('fixtures can use the configured name of a cloud, and names can change in a running sandbox', {
  tags: ['U009'],
}, async () => {
  const record = { id: 'ts-n', cloud_provider: 'first', name: 'N', access: 'open', created_at: '-1d' }
  const teamspaces = [{ ...record, _emulator: { organization_id: 'org-1' } }]
  const memberships = [
    { id: 'm-n', teamspace_id: 'ts-n', user_id: 'user-owner', role: 'owner', created_at: '-1d' },
  ]
  const emulator = await testEmulator({
    settings: { 'names.cloud_a': 'first' },
    collections: { teamspaces, memberships },
  })
  setSettings(emulator.sandbox, { 'names.cloud_a': 'renamed' })
  expect((await emulator.patch('/organization/teamspaces/ts-n', {})).body.cloud_provider).toBe('renamed')
  expect((await (await emulator.restart()).patch('/organization/teamspaces/ts-n', {})).status).toBe(200)
})

test.for([
  ['another cloud alone is refused', { cloud_provider: 'cloud_a' }],
  ['another cloud with a name is refused, and the name stays', { cloud_provider: 'cloud_a', name: 'new' }],
  ['null as the cloud is refused', { cloud_provider: null }],
] as const)('%s', { tags: ['R021'] }, async ([, body]) => {
  const emulator = await testEmulator()
  const response = await refused(emulator, () => emulator.patch(A, body), 400)
  expect(response.assumed).toContain('U017')
  expect((await emulator.patch(A, {})).body).toMatchObject({
    cloud_provider: 'cloud_b',
    name: 'Teamspace ts-a',
  })
})

test('the present cloud is accepted; with patch.immutable=ignore any value is accepted without effect', {
  tags: ['R021'],
}, async () => {
  const emulator = await testEmulator()
  expect((await emulator.patch(A, { cloud_provider: 'cloud_b' })).status).toBe(200)
  const lenient = await testEmulator({ settings: { 'patch.immutable': 'ignore' } })
  const { body } = await lenient.patch(A, { cloud_provider: 'cloud_a', name: 'new' })
  expect(body).toMatchObject({ cloud_provider: 'cloud_b', name: 'new' })
})

test.for([
  ['ASCII', 'a'],
  ['an emoji', '🏗'],
  ['a combining sequence counted by code points', 'e\u0301'],
])(
  'a name of 300 characters of %s is accepted on create and update, 301 are refused',
  { tags: ['R023'] },
  async ([, unit = '']) => {
    const emulator = await testEmulator()
    const longest = unit.repeat(300 / [...unit].length)
    expect((await emulator.post(CREATE, { name: longest })).body.name).toBe(longest)
    expect((await emulator.patch(A, { name: longest })).body.name).toBe(longest)
    await refused(emulator, () => emulator.post(CREATE, { name: `${longest}x` }))
    await refused(emulator, () => emulator.patch(A, { name: `${longest}x` }))
  },
)

test.for([[5], [null], [['x']], [{}]])('the name %j is refused', { tags: ['R023'] }, async ([name]) => {
  const emulator = await testEmulator()
  await refused(emulator, () => emulator.post(CREATE, { name }))
  await refused(emulator, () => emulator.patch(A, { name }))
})

test.for(['open', 'closed'])(
  'the access %s is accepted on create and update',
  { tags: ['R024'] },
  async (access) => {
    const emulator = await testEmulator()
    expect((await emulator.post(CREATE, { name: 'x', access })).body.access).toBe(access)
    expect((await emulator.patch(A, { access })).body.access).toBe(access)
  },
)

test.for([['OPEN'], ['public'], [null], [true], ['']])(
  'the access %j is refused',
  { tags: ['R024'] },
  async ([access]) => {
    const emulator = await testEmulator()
    await refused(emulator, () => emulator.post(CREATE, { name: 'x', access }))
    await refused(emulator, () => emulator.patch(A, { access }))
  },
)

test('access and cloud are optional in all four combinations', { tags: ['R153'] }, async () => {
  const emulator = await testEmulator()
  const [access, cloud_provider] = ['open', 'cloud_a']
  const combinations: object[] = [{}, { access }, { cloud_provider }, { access, cloud_provider }]
  for (const given of combinations) {
    const { body } = await emulator.post(CREATE, { name: 'x', ...given })
    expect(body).toMatchObject({ access: 'closed', cloud_provider: 'cloud_b', ...given })
  }
})

test('only the default access names the assumption, and a setting changes it', {
  tags: ['R153', 'U024'],
}, async () => {
  const emulator = await testEmulator()
  expect((await emulator.post(CREATE, { name: 'x' })).assumed).toContain('U024')
  expect((await emulator.post(CREATE, { name: 'x', access: 'closed' })).assumed).not.toContain('U024')
  const open = await testEmulator({ settings: { 'teamspace.access.default': 'open' } })
  expect((await open.post(CREATE, { name: 'x' })).body.access).toBe('open')
})

test('created_at is the virtual instant of the creation, and an update keeps it, id and cloud', {
  tags: ['R027', 'R150'],
}, async () => {
  const emulator = await testEmulator()
  emulator.advance('90s')
  const created = (await emulator.post(CREATE, { name: 'x' })).body
  expect(created.created_at).toBe('2026-03-01T12:01:30.000Z')
  emulator.advance('1h')
  const path = `${CREATE}/${created.id}`
  expect((await emulator.patch(path, { name: 'y', access: 'open' })).body).toEqual({
    ...created,
    name: 'y',
    access: 'open',
  })
})

test.for([
  ['name alone', { name: 'new' }],
  ['access alone', { access: 'open' }],
  ['both', { name: 'new', access: 'open' }],
] as const)('%s changes, and other fields stay', { tags: ['R149'] }, async ([, change]) => {
  const emulator = await testEmulator()
  const { body } = await emulator.patch(A, change)
  expect(body).toMatchObject({ name: 'Teamspace ts-a', access: 'closed', ...change })
  expect(emulator.state('teamspaces').find(({ id }) => id === 'ts-a')).toMatchObject(body)
})

test('a PATCH without a known field changes nothing and names the assumption, or is refused by a setting', {
  tags: ['R149'],
}, async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  const response = await emulator.patch(A, { unknown: 1 })
  expect(response.status).toBe(200)
  expect(response.assumed).toContain('U016')
  expect(emulator.digest()).toBe(before)
  const strict = await testEmulator({ settings: { 'patch.empty': 'reject' } })
  await refused(strict, () => strict.patch(A, {}))
})

test.for([
  ['none', undefined],
  ['an array', []],
  ['a string', 'x'],
  ['null', null],
] as const)(
  'a body that is %s is refused on create and update',
  { tags: ['R149', 'R152'] },
  async ([, body]) => {
    const emulator = await testEmulator()
    await refused(emulator, () => emulator.post(CREATE, body))
    await refused(emulator, () => emulator.patch(A, body))
  },
)

test.for([
  ['an unknown teamspace', 'KU', 'ts-none'],
  ['a teamspace of another organization', 'KU', 'ts-x'],
  ['a teamspace that the user is no member of', 'KU', 'ts-b'],
  ['a teamspace that the service key does not act in', 'KS', 'ts-b'],
  ['a teamspace named like a property of every object', 'KU', '__proto__'],
] as const)('%s is not found, with the same message', { tags: ['R229'] }, async ([, key, id]) => {
  const emulator = await testEmulator()
  const request = () => emulator.patch(`${CREATE}/${id}`, { name: 'x' }, { key })
  const response = await refused(emulator, request, 404, 'not_found')
  expect(response.body.message).toBe(`There is no teamspace with the id "${id}".`)
})

test('the creator is the owner and manages the new teamspace with the same key', {
  tags: ['R031'],
}, async () => {
  const emulator = await testEmulator()
  const { id } = (await emulator.post(CREATE, { name: 'x' }, { key: 'KM' })).body
  const { data } = (await emulator.get(`${CREATE}/${id}/users`, { key: 'KM' })).body
  expect(data.map(({ id, permissions }: never) => [id, permissions])).toEqual([
    ['user-member', { role: 'owner', agent_ids: [] }],
  ])
  await refused(emulator, () => emulator.get(`${CREATE}/${id}/users`, { key: 'KX' }), 404)
})

test('any sequence of updates leaves the last value of each field', {
  tags: ['R149'],
}, async () => {
  const emulator = await testEmulator({ limits: false })
  const change = fc.record(
    { name: anyText({ maxLength: 20 }), access: fc.constantFrom('open', 'closed') },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
      const before = (await emulator.patch(A, {})).body
      for (const each of changes) expect((await emulator.patch(A, each)).status).toBe(200)
      expect((await emulator.patch(A, {})).body).toEqual(Object.assign(before, ...changes))
    }),
    { numRuns: 25 },
  )
})

test('the two clouds cannot have one name', { tags: ['R019'] }, async () => {
  const emulator = await testEmulator()
  expect(() => setSettings(emulator.sandbox, { 'names.cloud_a': 'cloud_b' })).toThrow(/names\.cloud_a/)
  expect(() => setSettings(emulator.sandbox, { 'names.cloud_a': 'x', 'names.cloud_b': 'x' })).toThrow(
    /names\.cloud_b/,
  )
  setSettings(emulator.sandbox, { 'names.cloud_a': 'cloud_b', 'names.cloud_b': 'cloud_a' })
})
