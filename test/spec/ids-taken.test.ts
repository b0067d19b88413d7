import { EventEmitter, once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { objectId } from '../../src/core/random.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { mergeFixtures } from '../../src/core/state/merge-fixtures.ts'
import { baseCollections, KEYS } from '../support/base-state.ts'
import { alive, dataFolder } from '../support/data-folder.ts'
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

/** Every record of a sandbox by its collection and id. */
function recordsOf(sandbox: Sandbox): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(sandbox.document().collections).flatMap(([name, rows]) =>
      rows.map((row) => [`${name}/${row.id}`, JSON.stringify(row)] as const),
    ),
  )
}

/** The names of the records that a call has changed and created. */
async function effectOf(sandbox: Sandbox, call: () => Promise<unknown>) {
  const before = recordsOf(sandbox)
  await call()
  const after = recordsOf(sandbox)
  return {
    changed: [...before].filter(([name, record]) => after.get(name) !== record).map(([name]) => name),
    made: [...after.keys()].filter((name) => !before.has(name)),
  }
}

/** Creates more pages than pagesAhead gives. Each is new with a unique id, and no record changes. */
async function makesPages(sandbox: Sandbox, make: () => Promise<string>): Promise<void> {
  const made: string[] = []
  const effect = await effectOf(sandbox, async () => {
    for (let n = 0; n < 6; n++) made.push(`pages/${await make()}`)
  })
  expect(effect).toEqual({ changed: [], made })
  expect(new Set(made).size).toBe(6)
}

const post = async (emulator: Pick<TestEmulator, 'post'>): Promise<string> =>
  (await emulator.post('/pages', { name: 'Mine' })).body.id

test('D9 a fixture page with the next id stays unchanged when a page is created', async () => {
  const id = 'c1c0faf8c250000000000239'
  const fixtures = {
    extends: 'demo',
    collections: { pages: [{ ...pageOf(id), teamspace_id: 'teamspace-harbor' }] },
  }
  const { emulator, control } = await alive(dataFolder(), {
    fixtures,
    ephemeral: true,
    limits: false,
    auth: 'any',
  })
  const before = await control('GET', `/state/pages/${id}`)
  const response = await fetch(`${emulator.baseUrl}/pages`, {
    method: 'POST',
    headers: { authorization: 'Bearer live_any', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Mine' }),
  })
  expect(((await response.json()) as { id: string }).id).toBe('c1c0faf8c25000000000023a')
  expect(await control('GET', `/state/pages/${id}`)).toEqual(before)
})

/** The ways to add records to a running sandbox from outside the API. */
const WAYS: Readonly<Record<string, (emulator: TestEmulator) => Promise<unknown>>> = {
  'POST /fixtures': (emulator) =>
    emulator.control('POST', '/fixtures', { collections: { pages: pagesAhead(emulator.sandbox) } }),
  'PUT of single records': async (emulator) => {
    for (const page of pagesAhead(emulator.sandbox))
      await emulator.control('PUT', `/state/pages/${page.id}`, page)
  },
  'PUT of the whole state': (emulator) => emulator.control('PUT', '/state', withPages(emulator.sandbox, 0)),
  'PUT of a state whose counters are lower than they were': async (emulator) => {
    for (let n = 0; n < 4; n++) await post(emulator)
    return emulator.control('PUT', '/state', withPages(emulator.sandbox, 3))
  },
  'the import of a snapshot': async (emulator) => {
    await emulator.control('PUT', '/snapshots/ahead', withPages(emulator.sandbox, 0))
    return emulator.control('POST', '/snapshots/ahead/restore')
  },
  'a fault that inserts rows': async (emulator) => {
    const records = pagesAhead(emulator.sandbox)
    await emulator.control('POST', '/faults', {
      match: { operation: 'connections.create' },
      do: [{ state: { insert_rows: { collection: 'pages', records } } }],
      times: 1,
    })
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
  const { made } = await effectOf(emulator.sandbox, () => bring(emulator))
  expect(made.length).toBeGreaterThanOrEqual(4)
  await makesPages(emulator.sandbox, () => post(emulator))
  const again = await emulator.restart()
  await makesPages(again.sandbox, () => post(again))
})

test('D9 no record is replaced by a create after an edit of the file, while the emulator runs or is stopped', async () => {
  const data = dataFolder()
  const file = join(data, 'default.json')
  const lives = async () => {
    const told = new EventEmitter()
    const info = (message: string): void => {
      if (message.includes('has been applied')) told.emit('taken')
    }
    const taken = once(told, 'taken')
    const logger = { info, warn: info, error: info }
    const life = await alive(data, { fixtures: { collections: baseCollections } as never, logger })
    return { ...life, sandbox: life.emulator.sandbox, taken }
  }
  const edit = (sandbox: Sandbox): void => {
    const document = JSON.parse(readFileSync(file, 'utf8'))
    document.collections.pages.push(...pagesAhead(sandbox))
    writeFileSync(file, JSON.stringify(document, null, 2))
  }
  const first = await lives()
  edit(first.sandbox)
  await first.taken
  const create = (url: string) => async (): Promise<string> => {
    const headers = { authorization: `Bearer ${KEYS.KU}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/pages`, { method: 'POST', headers, body: '{"name":"Mine"}' })
    return ((await response.json()) as { id: string }).id
  }
  await makesPages(first.sandbox, create(first.emulator.baseUrl))
  await first.emulator.close()
  edit(first.sandbox)
  const second = await lives()
  expect(recordsOf(second.sandbox).size).toBe(recordsOf(first.sandbox).size + 4)
  await makesPages(second.sandbox, create(second.emulator.baseUrl))
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

test('generated records skip the ids of given records', async () => {
  const pages = [1, 2, 4].map((n) => pageOf(objectId(SEED, n)))
  const fixtures = { collections: { ...baseCollections, pages }, generate: { pages: 3 } } as never
  const { sandbox } = await testEmulator({ fixtures } as never)
  const ids = sandbox.document().collections.pages?.map((page) => page.id)
  expect(ids).toEqual([1, 2, 4, 3, 5, 6].map((n) => objectId(SEED, n)))
  expect(sandbox.store.get('pages', objectId(SEED, 2))).toMatchObject({ name: 'Ahead' })
})
