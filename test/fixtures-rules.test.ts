import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFixtures } from '../src/adapters/fixtures.ts'
import type { JsonObject } from '../src/core/json.ts'
import { skillCategories } from '../src/service/skills.ts'
import { temporaryDirectory } from './cli/in-process.ts'
import { type AnyRecord, demoWith, documentOf, issuesOf, records } from './support/starting-states.ts'

const NO_EMAILS = ['not-an-email', '', 'a@', '@example.com', 'a b@example.com', 'a@b@example.com', 7, true]

test.for(NO_EMAILS)('the e-mail address %j is refused at its field', { tags: ['R029'] }, async (email) => {
  const [issue, ...others] = await issuesOf(demoWith('users', 'user-ines', () => ({ email })))
  expect(issue?.pointer).toBe('/collections/users/2/email')
  expect(issue?.detail).toContain('must be an e-mail address such as')
  expect(others).toEqual([])
})

test('an unknown category is refused, and the message lists the eleven', { tags: ['R035'] }, async () => {
  const fixtures = demoWith('skills', 'skill-takeoff', () => ({ category: 'gardening' }))
  const [issue, ...others] = await issuesOf(fixtures)
  expect(issue?.pointer).toBe('/collections/skills/0/category')
  for (const category of skillCategories) expect(issue?.detail).toContain(category)
  expect(others).toEqual([])
})

/** Writes JSON files into a folder that is removed after the test; returns the path of the first. */
function written(files: Readonly<Record<string, unknown>>): string {
  const folder = temporaryDirectory()
  const paths = Object.entries(files).map(([name, content]) => {
    const path = join(folder, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  })
  return paths[0] ?? folder
}

const page = (id: string, name: string) => {
  const facts = { teamspace_id: 'teamspace-demo', scope: 'teamspace', created_at: '-1d' }
  return { id, name, ...facts }
}

const A = page('a', 'A')

test('a document may have an organization and further ones in its collections', async () => {
  const organization = { id: 'org-a', name: 'A' }
  const document = { organization, collections: { organizations: [{ id: 'org-b', name: 'B' }] } }
  const ids = records(await documentOf(document), 'organizations').map(({ id }) => id)
  expect(ids.toSorted()).toEqual(['org-a', 'org-b'])
})

test('extends adds records, replaces those with the same id, and overrides how many are generated', async () => {
  const pages = (of: string, ...ids: readonly string[]) => ({ pages: ids.map((id) => page(id, of)) })
  const path = written({
    'top.json': { extends: 'middle.json', collections: pages('top', 'b', 'c') },
    'middle.json': { extends: './low.json', generate: { pages: 3 }, collections: pages('middle', 'a') },
    'low.json': { extends: 'empty', generate: { pages: 50, agents: 2 }, collections: pages('low', 'a', 'b') },
  })
  const document = await documentOf(path)
  const names = new Map(records(document, 'pages').map(({ id, name }) => [id, name]))
  expect(names.size).toBe(3 + 3)
  expect([names.get('a'), names.get('b'), names.get('c')]).toEqual(['middle', 'top', 'top'])
  expect(records(document, 'agents')).toHaveLength(2)
  expect(records(document, 'api_keys')).toHaveLength(2)
})

test('extends never loses or duplicates an id', async () => {
  const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__', 'toString'))
  await fc.assert(
    fc.asyncProperty(ids, ids, async (below, above) => {
      const from = (name: string, list: readonly string[]) => ({ pages: list.map((id) => ({ id, name })) })
      const path = written({
        'above.json': { extends: 'below.json', collections: from('above', above) },
        'below.json': { collections: from('below', below) },
      })
      const { collections } = await readFixtures(path)
      const merged = new Map((collections.pages as AnyRecord[]).map(({ id, name }) => [id, name]))
      expect(merged.size).toBe((collections.pages as AnyRecord[]).length)
      expect(new Set(merged.keys())).toEqual(new Set([...below, ...above]))
      for (const [id, name] of merged) expect(name).toBe(above.includes(id) ? 'above' : 'below')
    }),
    { numRuns: 30 },
  )
})

test.for([
  ['itself', { 'a.json': { extends: 'a.json' } }],
  ['another that extends it', { 'a.json': { extends: 'b.json' }, 'b.json': { extends: './a.json' } }],
] as const)('a document that extends %s is refused', async ([, files]) => {
  const cycle = /\/extends: forms a cycle that contains .*a\.json/
  await expect(readFixtures(written(files))).rejects.toThrow(cycle)
})

test('a pointer into a document that extends another counts the records of that document', async () => {
  const pages = [page('a', 'A'), { ...page('b', 'B'), scope: 'sandbox' }]
  const issues = await issuesOf({ extends: 'demo', collections: { pages } })
  expect(issues.map(({ pointer }) => pointer)).toEqual(['/collections/pages/1/scope'])
})

test('X4 a collection called __proto__ is unknown in a document that extends another too', async () => {
  const document = JSON.parse('{"extends": "empty", "collections": {"__proto__": []}}')
  expect((await issuesOf(document)).map(({ pointer }) => pointer)).toEqual(['/collections/__proto__'])
})

test('a document that extends a missing file is refused, and the message names the file', async () => {
  const decision = readFixtures(written({ 'a.json': { extends: 'demmo' } }))
  await expect(decision).rejects.toThrow(/demmo: .*cannot be read.*empty, demo, large/)
})

test.for([
  [{ extend: 'demo' }, '/extend: is not a known field. Did you mean "extends"?'],
  [{ colections: {} }, '/colections: is not a known field. Did you mean "collections"?'],
  [{ collections: [] }, '/collections: must be an object'],
  [{ generate: 5 }, '/generate: must be an object'],
  [{ extends: 5 }, '/extends: must be a string'],
  [{ description: {} }, '/description: must be a string'],
  [{ organization: 'Larkmoor' }, '/organization: must be an object'],
] as const)('the document %j is refused', async ([document, message]) => {
  await expect(readFixtures(document)).rejects.toThrow(message)
})

test.for([
  ['{"collections": ', /a\.json: \/: is not JSON/],
  ['[]', /a\.json: \/: must be a JSON object/],
] as const)('a file that contains %s is refused, and the error names the file', async ([text, message]) => {
  await expect(readFixtures(written({ 'a.json': text }))).rejects.toThrow(message)
})

test.for([
  [{ collections: { page: [] } }, '/collections/page', 'no such collection. Did you mean "pages"?'],
  [{ generate: { skill: 1 } }, '/generate/skill', 'There is no such collection. Did you mean "skills"?'],
  [{ generate: { pages: -1 } }, '/generate/pages', 'must be an integer from 0 to 1000000'],
  [{ generate: { pages: 1.5 } }, '/generate/pages', 'must be an integer from 0 to 1000000'],
  [{ generate: { pages: '7' } }, '/generate/pages', 'must be an integer from 0 to 1000000'],
  [{ generate: { connections: 1 } }, '/generate/connections', 'cannot be generated; write them under /coll'],
  [{ collections: { pages: {} } }, '/collections/pages', 'must be an array of records'],
  [{ collections: { pages: [7] } }, '/collections/pages/0', 'must be of the type object, not number'],
  [{ collections: { pages: [A, A] } }, '/collections/pages/1/id', '"a" is used twice'],
  [{ collections: { pages: [{ ...A, colour: 1 }] } }, '/collections/pages/0/colour', 'not a known field'],
] as const)('the sandbox %j is refused at %s', async ([document, pointer, detail]) => {
  const [issue, ...others] = await issuesOf({ extends: 'empty', ...document } as unknown as JsonObject)
  expect(issue?.pointer).toBe(pointer)
  expect(issue?.detail).toContain(detail)
  expect(others).toEqual([])
})

const pageOf = (created_at: string) => ({ extends: 'empty', collections: { pages: [{ ...A, created_at }] } })

test.for([
  ['-30d', '2026-01-30T12:00:00.000Z'],
  ['-90s', '2026-03-01T11:58:30.000Z'],
  ['-PT24H', '2026-02-28T12:00:00.000Z'],
  ['+250ms', '2026-03-01T12:00:00.250Z'],
  ['2025-01-31T09:30:00+02:00', '2025-01-31T09:30:00+02:00'],
] as const)('the time %s of a record is %s', async ([given, instant]) => {
  const document = await documentOf(pageOf(given))
  expect(records(document, 'pages')).toMatchObject([{ created_at: instant }])
})

test.for(['-30', '-30 days', '-', 'yesterday', '30d', '2026-02-30T00:00:00Z'])(
  'the time %j of a record is refused',
  async (created_at) => {
    const issues = await issuesOf(pageOf(created_at))
    expect(issues.map(({ pointer }) => pointer)).toEqual(['/collections/pages/0/created_at'])
    expect(issues[0]?.detail).toContain('must be an ISO 8601 date-time with a zone')
  },
)

test('the message names the records that a generator needs', async () => {
  const building = documentOf({ extends: 'empty', generate: { messages: 1 } })
  await expect(building).rejects.toThrow('To generate messages, the sandbox needs at least one conversation')
})
