import { expect, test } from 'vitest'
import { aSkillRecord } from '../../../src/service/builders.ts'
import { skillCategories } from '../../../src/service/skills.ts'
import { testEmulator } from '../../support/emulator.ts'
import { refused } from '../../support/refusal.ts'

const skill = aSkillRecord({
  ...{ id: 'skill-1', creator_id: 'user-owner', required_tools: ['shovel'], enabled: false },
  ...{ created_at: '2026-02-01T00:00:00.000Z', updated_at: '2026-02-02T00:00:00.000Z' },
})

const withSkill = (change: object, ...api_keys: object[]) =>
  testEmulator({ collections: { skills: [{ ...skill, ...change }], api_keys } })
const PROMOTE = '/skills/skill-1/promote'
const RIGHTS = { account_admin: true, permissions: ['ep:skills:write'] }
const KEY = { id: 'k', token: 'live_k', organization_id: 'org-1', teamspace_id: 'ts-a' }

test('promotion moves the skill to the account and changes nothing else', {
  tags: ['R006', 'R033', 'R038', 'R041', 'R042', 'R118', 'R173'],
}, async () => {
  const emulator = await withSkill({})
  emulator.advance('5m')
  const { status, body } = await emulator.post(PROMOTE)
  expect(status).toBe(200)
  expect(body).toEqual({
    ...skill,
    object: 'skill',
    scope: 'account',
    account_id: 'org-1',
    promoted_at: '2026-03-01T12:05:00.000Z',
    updated_at: '2026-03-01T12:05:00.000Z',
  })
  expect(emulator.state('skills')).toEqual([body])
})

test('updated_at is never before a created_at in the future', { tags: ['R043'] }, async () => {
  const future = '2027-01-01T00:00:00.000Z'
  const emulator = await withSkill({ created_at: future, updated_at: future })
  const { body } = await emulator.post(PROMOTE)
  expect([body.updated_at, body.promoted_at]).toEqual([future, '2026-03-01T12:00:00.000Z'])
  expect((await emulator.restart()).state('skills')).toEqual([body])
})

const combinations = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
  author: (bits & 1) !== 0,
  admin: (bits & 2) !== 0,
  permission: (bits & 4) !== 0,
}))

test.for(combinations)(
  'author $author, admin $admin, permission $permission',
  { tags: ['R118', 'R174'] },
  async ({ author, admin, permission }) => {
    const facts = { account_admin: admin, permissions: permission ? ['ep:skills:write'] : ['other'] }
    const user_id = author ? 'user-owner' : 'user-member'
    const emulator = await withSkill({}, { ...KEY, kind: 'user', user_id, ...facts })
    const request = () => emulator.post(PROMOTE, undefined, { token: 'live_k' })
    if (!author) return void (await refused(emulator, request, 404, 'not_found'))
    if (admin && permission) return expect((await request()).body.scope).toBe('account')
    const { body, assumed } = await refused(emulator, request, 403, 'forbidden')
    const named = ['account admin', 'ep:skills:write'].map((right) => body.message.includes(right))
    expect([...named, assumed.includes('U029')]).toEqual([!admin, !permission, true])
  },
)

test.for([
  ['a company skill', { scope: 'account', account_id: 'org-1' }],
  ['a built-in skill', { scope: 'builtin', creator_id: null, builtin_key: 'dig' }],
] as const)('%s is not promoted: a 400, or a 403', { tags: ['R175', 'U029'] }, async ([, change]) => {
  const emulator = await withSkill(change)
  await refused(emulator, () => emulator.post(PROMOTE), 400, 'validation_failed')
  await refused(emulator, () => emulator.post(PROMOTE, undefined, { key: 'KM' }), 403)
})

test.for([
  ['no such skill', '/skills/none/promote', { key: 'KU' }, {}],
  ['a private skill of another organization', PROMOTE, { key: 'KO' }, {}],
  ['a private skill of another teamspace', PROMOTE, { key: 'K2' }, {}],
  ['a company skill of others', PROMOTE, { key: 'KU' }, { scope: 'account', account_id: 'org-2' }],
  ['an id named like a property of every object', '/skills/__proto__/promote', { key: 'KU' }, {}],
  ['a private skill, for a service key, which has no user', PROMOTE, { token: 'live_k' }, {}],
] as const)('%s is not found', { tags: ['R174', 'R229'] }, async ([, path, who, change]) => {
  const emulator = await withSkill(change, { ...KEY, kind: 'service', ...RIGHTS })
  await refused(emulator, () => emulator.post(path, undefined, who), 404, 'not_found')
})

test.for([
  ['no body and no content type', {}],
  ['an object', { json: { scope: 'builtin' } }],
  ['an array', { json: [1] }],
] as const)('%s: the body is ignored', { tags: ['R172'] }, async ([, how]) => {
  const emulator = await withSkill({})
  const { status, body } = await emulator.request('POST', PROMOTE, how)
  expect([status, body.scope]).toEqual([200, 'account'])
})

test('there are eleven categories, each is accepted, as is each scope', {
  tags: ['R034', 'R035'],
}, async () => {
  expect(new Set(skillCategories).size).toBe(11)
  const categories = skillCategories.map((category) => ({ ...skill, id: category, category }))
  const account = { ...skill, id: 'account', scope: 'account', account_id: 'org-1', promoted_at: '-1h' }
  const builtin = { ...skill, id: 'builtin', scope: 'builtin', creator_id: null, builtin_key: 'dig' }
  await testEmulator({ collections: { skills: [...categories, account, builtin] } })
})

test.for([
  ['another scope', { scope: 'team' }, 'scope'],
  ['a name that is no string', { name: null }, 'name'],
  ['a missing slash_key', { slash_key: undefined }, 'slash_key'],
  ['required_tools of null', { required_tools: null }, 'required_tools'],
  ['preferred_tools with a number', { preferred_tools: ['a', 1] }, 'preferred_tools/1'],
  ['enabled as a word', { enabled: 'true' }, 'enabled'],
  ['an account of a private skill', { account_id: 'org-1' }, 'account_id'],
  ['an account of a built-in skill', { scope: 'builtin', account_id: 'org-1' }, 'account_id'],
  ['a company skill without account', { scope: 'account' }, 'account_id'],
  ['a builtin_key of a private skill', { builtin_key: 'dig' }, 'builtin_key'],
  ['a promoted_at of a private skill', { promoted_at: '-1h' }, 'promoted_at'],
  ['a private skill without author', { creator_id: null }, 'creator_id'],
  ['an author who does not exist', { creator_id: 'nobody' }, 'creator_id'],
  ['a created_at without zone', { created_at: '2026-01-01T00:00:00' }, 'created_at'],
  ['an updated_at before created_at', { updated_at: '2026-01-01T00:00:00Z' }, 'updated_at'],
  ['another object', { object: 'page' }, 'object'],
  ['an unknown member', { colour: 'red' }, 'colour'],
] as const)(
  '%s is refused in fixtures',
  { tags: ['R034', 'R035', 'R036', 'R037', 'R038', 'R039', 'R040', 'R041', 'R042', 'R043', 'R032', 'R004'] },
  async ([, change, member]) => {
    await expect(withSkill(change)).rejects.toThrow(new RegExp(`skills/0/${member}: `))
  },
)
