import { expect, test } from 'vitest'
import { setSettings } from '../../../src/core/sandboxes/change.ts'
import { testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

const CREATE = '/organization/teamspaces'
const A = '/organization/teamspaces/ts-a'

test('a request needs only a name', { tags: ['R006', 'R018', 'R152', 'R154', 'T01'] }, async () => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.post(CREATE, { name: 'Bridge' })
  expect(status).toBe(200)
  expect(body).toEqual({
    id: expect.stringMatching(/./),
    cloud_provider: 'cloud_b',
    name: 'Bridge',
    access: 'closed',
    created_at: '2026-03-01T12:00:00.000Z',
  })
  expect((await emulator.post(CREATE, { name: 'Bridge' })).body.id).not.toBe(body.id)
})

test('a missing name is refused, and accepted by a setting', { tags: ['R152'] }, async () => {
  const strict = await testEmulator()
  expect(pointersOf(await refused(strict, () => strict.post(CREATE, {}), 400))).toEqual(['/name'])
  const lenient = await testEmulator({ settings: { 'required.teamspaces.create.name': false } })
  expect((await lenient.post(CREATE, {})).body.name).toBe('')
})

test.for([
  ['cloud_provider', [7, null, '', 'cloud_c', 'CLOUD_A', ['cloud_a']]],
  ['name', [5, null, ['x'], {}]],
  ['access', [true, null, '', 'OPEN', 'public']],
] as const)('%s cannot be one of %j', { tags: ['R019', 'R023', 'R024'] }, async ([field, values]) => {
  const emulator = await testEmulator()
  for (const value of values) {
    const body = { name: 'x', [field]: value }
    expect(pointersOf(await refused(emulator, () => emulator.post(CREATE, body), 400))).toEqual([`/${field}`])
    expect(pointersOf(await refused(emulator, () => emulator.patch(A, body), 400))).toEqual([`/${field}`])
  }
})

const named = { settings: { 'names.cloud_a': 'first', 'names.cloud_b': 'second' } }

test('configured names replace the placeholders', { tags: ['R019', 'R020', 'U009'] }, async () => {
  const emulator = await testEmulator(named)
  expect((await emulator.patch(A, { name: 'x' })).body.cloud_provider).toBe('second')
  expect((await emulator.post(CREATE, { name: 'x' })).body.cloud_provider).toBe('second')
  const first = await emulator.post(CREATE, { name: 'x', cloud_provider: 'first' })
  expect(first.body.cloud_provider).toBe('first')
  const former = () => emulator.post(CREATE, { name: 'x', cloud_provider: 'cloud_a' })
  expect((await refused(emulator, former)).body.message).toContain('names.cloud_a')
})

test('fixtures can use the configured name of a cloud, which can change', { tags: ['U009'] }, async () => {
  const record = { id: 'ts-n', cloud_provider: 'first', name: 'N', access: 'open', created_at: '-1d' }
  const emulator = await testEmulator({
    ...named,
    collections: {
      teamspaces: [{ ...record, _emulator: { organization_id: 'org-1' } }],
      memberships: [
        { id: 'm', teamspace_id: 'ts-n', user_id: 'user-owner', role: 'owner', created_at: '-1d' },
      ],
    },
  })
  setSettings(emulator.sandbox, { 'names.cloud_a': 'renamed' })
  expect((await emulator.patch(`${CREATE}/ts-n`, {})).body.cloud_provider).toBe('renamed')
  expect((await (await emulator.restart()).patch(`${CREATE}/ts-n`, {})).status).toBe(200)
})

test('another cloud is refused, or by a setting without effect', { tags: ['R021'] }, async () => {
  const emulator = await testEmulator()
  for (const cloud_provider of ['cloud_a', null])
    await refused(emulator, () => emulator.patch(A, { cloud_provider, name: 'new' }), 400)
  expect((await emulator.patch(A, { cloud_provider: 'cloud_b' })).status).toBe(200)
  const lenient = await testEmulator({ settings: { 'patch.immutable': 'ignore' } })
  const { body } = await lenient.patch(A, { cloud_provider: 'cloud_a', name: 'new' })
  expect(body).toMatchObject({ cloud_provider: 'cloud_b', name: 'new' })
})

test.for([
  ['ASCII', 'a'],
  ['an emoji', '🏗'],
  ['a combining sequence counted by code points', 'e\u0301'],
])('a name may have 300 characters of %s, and not 301', { tags: ['R023'] }, async ([, unit = '']) => {
  const emulator = await testEmulator()
  const longest = unit.repeat(300 / [...unit].length)
  expect((await emulator.post(CREATE, { name: longest })).body.name).toBe(longest)
  expect((await emulator.patch(A, { name: longest })).body.name).toBe(longest)
  await refused(emulator, () => emulator.post(CREATE, { name: `${longest}x` }))
  await refused(emulator, () => emulator.patch(A, { name: `${longest}x` }))
})

test('access and cloud are optional', { tags: ['R019', 'R020', 'R024', 'R153'] }, async () => {
  const emulator = await testEmulator()
  for (const access of [undefined, 'open', 'closed'])
    for (const cloud_provider of [undefined, 'cloud_a', 'cloud_b']) {
      const { body } = await emulator.post(CREATE, { name: 'x', access, cloud_provider })
      expect([body.access, body.cloud_provider]).toEqual([access ?? 'closed', cloud_provider ?? 'cloud_b'])
    }
})

test('a setting changes the default access', { tags: ['R153', 'U024'] }, async () => {
  const open = await testEmulator({ settings: { 'teamspace.access.default': 'open' } })
  expect((await open.post(CREATE, { name: 'x' })).body.access).toBe('open')
})

test('an update changes only the fields that it has', {
  tags: ['R024', 'R027', 'R149', 'R150'],
}, async () => {
  const emulator = await testEmulator()
  emulator.advance('90s')
  const created = (await emulator.post(CREATE, { name: 'x' })).body
  expect(created.created_at).toBe('2026-03-01T12:01:30.000Z')
  emulator.advance('1h')
  const path = `${CREATE}/${created.id}`
  expect((await emulator.patch(path, { name: 'y' })).body).toEqual({ ...created, name: 'y' })
  const changed = { ...created, name: 'y', access: 'open' }
  expect((await emulator.patch(path, { access: 'open' })).body).toEqual(changed)
  expect((await emulator.restart()).state('teamspaces').at(-1)).toMatchObject(changed)
})

test('a PATCH without a known field changes nothing, or is refused', { tags: ['R149'] }, async () => {
  const emulator = await testEmulator()
  const before = emulator.digest()
  expect((await emulator.patch(A, { unknown: 1 })).status).toBe(200)
  expect(emulator.digest()).toBe(before)
  const strict = await testEmulator({ settings: { 'patch.empty': 'reject' } })
  await refused(strict, () => strict.patch(A, {}))
})

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

test('the creator is the owner, and manages it with the same key', { tags: ['R031'] }, async () => {
  const emulator = await testEmulator()
  const { id } = (await emulator.post(CREATE, { name: 'x' }, { key: 'KM' })).body
  const { data } = (await emulator.get(`${CREATE}/${id}/users`, { key: 'KM' })).body
  expect(data).toMatchObject([{ id: 'user-member', permissions: { role: 'owner', agent_ids: [] } }])
  await refused(emulator, () => emulator.get(`${CREATE}/${id}/users`, { key: 'KX' }), 404)
})

test('the two clouds cannot have one name', { tags: ['R019'] }, async () => {
  const { sandbox } = await testEmulator()
  const rename = (a: string, b: string) => setSettings(sandbox, { 'names.cloud_a': a, 'names.cloud_b': b })
  expect(() => setSettings(sandbox, { 'names.cloud_a': 'cloud_b' })).toThrow(/names\.cloud_a/)
  expect(() => rename('x', 'x')).toThrow(/names\.cloud_b/)
  rename('cloud_b', 'cloud_a')
})
