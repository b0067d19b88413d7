import { expect, test } from 'vitest'
import { objectId } from '../../src/core/random.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { mergeFixtures } from '../../src/core/state/merge-fixtures.ts'
import { baseCollections } from '../support/base-state.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'

const SEED = 1

const pageOf = (id: string) => ({
  id,
  name: 'Ahead',
  teamspace_id: 'ts-a',
  scope: 'teamspace',
  created_at: '2026-01-01T00:00:00.000Z',
})

/** Pages with ids that the counter of a sandbox has not reached: the next three, and one after a gap. */
function pagesAhead(sandbox: Sandbox) {
  const { ids } = sandbox.document().counters
  return [1, 2, 3, 5].map((places) => pageOf(objectId(SEED, ids + places)))
}

const post = async (emulator: Pick<TestEmulator, 'post'>): Promise<string> =>
  (await emulator.post('/pages', { name: 'Mine' })).body.id

/** Creates more pages than pagesAhead gives. Each is new with a unique id, and no record changes. */
async function makesPages(emulator: TestEmulator): Promise<void> {
  const records = () => {
    const { pages, ...others } = emulator.sandbox.document().collections
    return { pages: new Map(pages?.map((page) => [page.id, JSON.stringify(page)])), others }
  }
  const before = records()
  const made: string[] = []
  for (let n = 0; n < 6; n++) made.push(await post(emulator))
  const after = records()
  expect(after.others).toEqual(before.others)
  expect([...after.pages].slice(0, before.pages.size)).toEqual([...before.pages])
  expect([...after.pages.keys()].slice(before.pages.size)).toEqual(made)
}

/** The ways to add records to a running sandbox from outside the API. */
const WAYS: Readonly<Record<string, (emulator: TestEmulator) => Promise<unknown>>> = {
  'POST /fixtures': ({ control, sandbox }) =>
    control('POST', '/fixtures', { collections: { pages: pagesAhead(sandbox) } }),
  'PUT of single records': async ({ control, sandbox }) => {
    for (const page of pagesAhead(sandbox)) await control('PUT', `/state/pages/${page.id}`, page)
  },
  'PUT of the whole state': ({ control, sandbox }) => control('PUT', '/state', withPages(sandbox, 0)),
  'PUT of a state whose counters are lower than they were': async (emulator) => {
    for (let n = 0; n < 4; n++) await post(emulator)
    return emulator.control('PUT', '/state', withPages(emulator.sandbox, 3))
  },
  'the import of a snapshot': async ({ control, sandbox }) => {
    await control('PUT', '/snapshots/ahead', withPages(sandbox, 0))
    return control('POST', '/snapshots/ahead/restore')
  },
  'a fault that inserts rows': async (emulator) => {
    const insert_rows = { collection: 'pages', records: pagesAhead(emulator.sandbox) }
    const match = { operation: 'connections.create' }
    await emulator.control('POST', '/faults', { match, do: [{ state: { insert_rows } }], times: 1 })
    return emulator.post('/connections', { connector_id: 'x', connection_provider_id: 'y' })
  },
}

function withPages(sandbox: Sandbox, lower: number) {
  const document = sandbox.document()
  const { collections, counters } = document
  const pages = [...(collections.pages ?? []), ...pagesAhead(sandbox)]
  return {
    ...document,
    counters: { ...counters, ids: counters.ids - lower },
    collections: { ...collections, pages },
  }
}

test.for(Object.entries(WAYS))('D9 no record is replaced by a create after %s', async ([, bring]) => {
  const emulator = await testEmulator()
  await post(emulator)
  const before = emulator.state('pages').length
  await bring(emulator)
  expect(emulator.state('pages').length).toBeGreaterThanOrEqual(before + 4)
  await makesPages(emulator)
  await makesPages(await emulator.restart())
})

test('D9 generated and created records skip the ids of given records', async () => {
  const pages = [1, 2, 4, 8].map((n) => pageOf(objectId(SEED, n)))
  const fixtures = { collections: { ...baseCollections, pages }, generate: { pages: 3 } } as never
  const emulator = await testEmulator({ fixtures } as never)
  const ids = emulator.state('pages').map(({ id }) => id)
  expect(ids).toEqual([1, 2, 4, 8, 3, 5, 6].map((n) => objectId(SEED, n)))
  await makesPages(emulator)
})

test('D9 the second of two simultaneous merges with generated records is a conflict, and no record is lost', async () => {
  const { sandbox, ...emulator } = await testEmulator()
  const merge = () => mergeFixtures(sandbox, { collections: {}, generate: { pages: 5 } })
  const [first, second] = await Promise.allSettled([merge(), merge()])
  expect(first).toEqual({ status: 'fulfilled', value: { pages: 5 } })
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } })
  expect(emulator.state('pages')).toHaveLength(5)
})

test('a record that is deleted while others are generated stays deleted', async () => {
  const { sandbox, ...emulator } = await testEmulator()
  const id = await post(emulator)
  const merging = mergeFixtures(sandbox, { collections: {}, generate: { pages: 1 } })
  change(sandbox, ({ tx }) => tx.delete('pages', id))
  expect(await merging).toEqual({ pages: 1 })
  expect(emulator.state('pages').map((page) => page.id)).not.toContain(id)
})
