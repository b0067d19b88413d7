import { expect, test } from 'vitest'
import { callOperation } from '../../support/call-operation.ts'
import { testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'

const page = (id: string, teamspace_id: string, scope = 'teamspace') => ({
  ...{ id, name: id, teamspace_id, scope, created_at: '2026-02-01T00:00:00.000Z' },
})

const pages = [
  page('parent', 'ts-a'),
  page('shared', 'ts-b', 'organization'),
  page('hidden', 'ts-b'),
  page('foreign', 'ts-x', 'organization'),
]
const collections = { pages }

test('the response is a whole page', { tags: ['R006', 'R011', 'R015', 'R017', 'R139'] }, async () => {
  const emulator = await testEmulator()
  emulator.advance('36h')
  const { status, body } = await emulator.post('/pages', { name: 'Notes' })
  expect(status).toBe(200)
  expect(body).toEqual({
    object: 'page',
    id: expect.stringMatching(/./),
    name: 'Notes',
    teamspace_id: 'ts-a',
    scope: 'teamspace',
    created_at: '2026-03-03T00:00:00.000Z',
  })
  emulator.advance('24h')
  expect((await emulator.restart()).state('pages')).toEqual([body])
})

test('a thousand pages have a thousand ids, across a restart', { tags: ['R012'] }, async () => {
  const ids = new Set<string>()
  let emulator = await testEmulator({ limits: false })
  for (let n = 0; n < 1_000; n++) {
    if (n === 500) emulator = await emulator.restart()
    const { text = '' } = callOperation(emulator.sandbox, 'pages.create', { body: { name: 'x' } })
    ids.add(JSON.parse(text).id)
  }
  expect([ids.size, ids.has('')]).toEqual([1000, false])
})

test.for([
  ['ASCII', 'Plan B / "quoted" \\ <b>'],
  ['an emoji', '🏗️👩‍🔧'],
  ['right to left', 'مرحبا \u202eabc'],
  ['NUL', 'a\u0000b'],
  ['a combining sequence, not normalised', 'e\u0301\u00e9'],
  ['a line separator', 'a\u2028b\nc'],
  ['a lone surrogate', 'a\ud800b'],
  ['a name of every object', '__proto__'],
  ['nothing', ''],
  ['many characters', 'x'.repeat(100_000)],
] as const)('a name with %s is kept unchanged, also over a restart', { tags: ['R013'] }, async ([, name]) => {
  const emulator = await testEmulator()
  const { body } = await emulator.request('POST', '/pages', { raw: JSON.stringify({ name }) })
  expect(body.name).toBe(name)
  expect((await emulator.restart()).state('pages')[0].name).toBe(name)
})

test.for([[5], [null], [['x']], [{}], [true], [undefined]])(
  'the name %j is refused',
  { tags: ['R013', 'R138'] },
  async ([name]) => {
    const emulator = await testEmulator()
    const response = await refused(emulator, () => emulator.post('/pages', { name }))
    expect(pointersOf(response)).toEqual(['/name'])
  },
)

test.for([
  ['KU', 'ts-a'],
  ['KS', 'ts-a'],
  ['K2', 'ts-b'],
] as const)(
  'a page of %s belongs to %s, whatever it asks',
  { tags: ['R014'] },
  async ([key, teamspace_id]) => {
    const emulator = await testEmulator()
    const own = { teamspace_id: 'ts-x', scope: 'organization', id: 'mine', created_at: '2000-01-01' }
    const { body } = await emulator.post('/pages', { name: 'x', ...own }, { key })
    expect(body).toMatchObject({ teamspace_id, scope: 'teamspace', created_at: '2026-03-01T12:00:00.000Z' })
    expect(body.id).not.toBe('mine')
  },
)

test('a setting is the scope of new pages', { tags: ['R015', 'U002'] }, async () => {
  const emulator = await testEmulator({ settings: { 'page.scope.default': 'organization' } })
  expect((await emulator.post('/pages', { name: 'x' })).body.scope).toBe('organization')
})

test.for([
  ['a page of the own teamspace', 'parent'],
  ['a page that a sibling teamspace shares with the organization', 'shared'],
])('%s is accepted as a parent, and returned', { tags: ['R016'] }, async ([, page_id]) => {
  const emulator = await testEmulator({ collections })
  const parent = { type: 'page', page_id }
  expect((await emulator.post('/pages', { name: 'x', parent })).body.parent).toEqual(parent)
})

test.for([
  ['another type', { type: 'folder', page_id: 'parent' }, '/parent/type'],
  ['a page_id that is no string', { type: 'page', page_id: 5 }, '/parent/page_id'],
  ['no page_id', { type: 'page' }, '/parent/page_id'],
  ['null', null, '/parent'],
  ['an array', ['page'], '/parent'],
  ['a page that does not exist', { type: 'page', page_id: 'none' }, '/parent/page_id'],
  ['a shared page of another organization', { type: 'page', page_id: 'foreign' }, '/parent/page_id'],
  ['a name of every object', { type: 'page', page_id: '__proto__' }, '/parent/page_id'],
] as const)('%s is refused as a parent', { tags: ['R016'] }, async ([, parent, pointer]) => {
  const emulator = await testEmulator({ collections })
  const response = await refused(emulator, () => emulator.post('/pages', { name: 'x', parent }), 400)
  expect(pointersOf(response)).toEqual([pointer])
})

test('a page of another teamspace is refused like one that is missing', { tags: ['R016'] }, async () => {
  const emulator = await testEmulator({ collections })
  const [hidden, missing] = ['hidden', 'nobody'].map(async (page_id) => {
    const response = await emulator.post('/pages', { name: 'x', parent: { type: 'page', page_id } })
    return response.text.replaceAll(page_id, '')
  })
  expect(await hidden).toBe(await missing)
  expect(await hidden).toContain('/parent/page_id')
})

test('page.parent.other=passthrough keeps any object unchanged', { tags: ['R016', 'U001'] }, async () => {
  const emulator = await testEmulator({ collections, settings: { 'page.parent.other': 'passthrough' } })
  const raw = '{"name":"x","parent":{"type":"folder","__proto__":{"a":1}}}'
  const response = await emulator.request('POST', '/pages', { raw })
  expect(response.text).toContain('"parent":{"type":"folder","__proto__":{"a":1}}')
  await refused(emulator, () => emulator.post('/pages', { name: 'x', parent: 'folder' }))
})

test('settings make parent required, and name optional', { tags: ['R138', 'U015'] }, async () => {
  const parent = { type: 'page', page_id: 'parent' }
  const settings = { 'required.pages.create.name': false, 'required.pages.create.parent': true }
  const emulator = await testEmulator({ collections, settings })
  expect((await emulator.post('/pages', { parent })).status).toBe(200)
  expect(pointersOf(await refused(emulator, () => emulator.post('/pages', {})))).toEqual(['/parent'])
})
