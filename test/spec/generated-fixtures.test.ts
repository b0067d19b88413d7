import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { baseCollections, START } from '../support/base-state.ts'
import { builtState, startAt } from '../support/built-state.ts'

async function generated(generate: Record<string, number>, seed = 1) {
  const fixtures = { collections: baseCollections, generate }
  const start = startAt(Date.parse(START), { seed })
  const { store } = await builtState(fixtures, start, workspaceService)
  return Object.fromEntries(Object.keys(generate).map((name) => [name, [...store.rows(name).values()]]))
}

const WANTED = {
  organizations: 3,
  teamspaces: 6,
  users: 40,
  memberships: 80,
  pages: 50,
  conversations: 20,
  messages: 40,
  skills: 22,
  data_views: 10,
  consumption_rows: 100,
}

test('generated records are valid in their collections, in the requested number', {
  tags: ['R284'],
}, async () => {
  const sandbox = await generated(WANTED)
  for (const [name, count] of Object.entries(WANTED))
    expect([name, sandbox[name]?.length]).toEqual([name, count + (baseCollections[name]?.length ?? 0)])
})

test('the same seed generates the same sandbox, another seed another', { tags: ['R296'] }, async () => {
  const sandbox = await generated(WANTED)
  expect(await generated(WANTED)).toEqual(sandbox)
  expect(await generated(WANTED, 2)).not.toEqual(sandbox)
})

test('generated pages belong to teamspaces that exist', { tags: ['R014'] }, async () => {
  const { pages, teamspaces } = await generated({ teamspaces: 3, pages: 60 })
  const known = teamspaces?.map(({ id }) => id)
  const used = new Set(pages?.map((page) => (page as unknown as { teamspace_id: string }).teamspace_id))
  expect(known).toEqual(expect.arrayContaining([...used]))
  expect(used.size).toBeGreaterThan(1)
})
