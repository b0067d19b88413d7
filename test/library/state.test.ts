import { expect, test } from 'vitest'
import type { StateRecord } from '../../src/index.ts'
import { bothWays } from './both-ways.ts'

const { ways } = bothWays()

const PAGE = {
  name: 'Minutes',
  teamspace_id: 'teamspace-harbor',
  scope: 'teamspace',
  created_at: '2026-01-01T00:00:00.000Z',
}

test.for(ways)('%s: records can be written, read, changed and deleted', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const { state } = sandbox
  const put = await state.put('pages', { id: 'page/ü 1', ...PAGE })
  expect(put).toMatchObject({ id: 'page/ü 1', ...PAGE })
  expect(await state.get('pages', 'page/ü 1')).toEqual(put)
  interface Page extends StateRecord {
    readonly name: string
  }
  const page = await state.patch<Page>('pages', 'page/ü 1', { name: 'Notes' })
  expect(page.name).toBe('Notes')
  expect(await state.list<Page>('pages')).toContainEqual(page)
  await state.delete('pages', 'page/ü 1')
  await expect(state.get('pages', 'page/ü 1')).rejects.toMatchObject({ status: 404, code: 'not_found' })
})

test.for(ways)('%s: a whole state can be exported, extended and restored', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const { state } = sandbox
  const before = await state.document()
  expect(before).toMatchObject({ sandbox: sandbox.name, clock: { rate: 0 } })
  const merged = await state.merge({ collections: { pages: [{ id: 'page-new', ...PAGE }] } })
  expect(merged.written).toMatchObject({ pages: 1 })
  expect(await state.get('pages', 'page-new')).toMatchObject(PAGE)
  const summary = await state.load(before)
  expect(summary).toMatchObject({ sandbox: sandbox.name, records: { pages: 45 } })
  expect((await state.document()).collections).toEqual(before.collections)
})

test.for(ways)(
  '%s: ids that cannot be in a path are refused before any request is sent',
  async ([, client]) => {
    await using sandbox = await client().sandbox()
    for (const id of ['', '.', '..']) {
      await expect(sandbox.state.delete('pages', id)).rejects.toMatchObject({
        status: 400,
        code: 'validation_failed',
        issues: [{ pointer: '/path/id' }],
      })
    }
  },
)

test.for(ways)(
  '%s: snapshots can be saved, listed, restored, exported, imported and deleted',
  async ([, client]) => {
    await using sandbox = await client().sandbox()
    const { snapshots, clock } = sandbox
    const { now } = await clock.show()
    expect(await snapshots.save('before')).toMatchObject({ name: 'before', saved_at: now, replaced: false })
    expect(await snapshots.save('before')).toMatchObject({ replaced: true })
    await clock.advance('24h')
    await sandbox.state.delete('pages', 'page-handbook')
    expect(await snapshots.restore('before')).toMatchObject({
      restored: 'before',
      now,
      records: { pages: 45 },
    })
    expect((await clock.show()).now).toBe(now)
    const document = await snapshots.export('before')
    expect(document.clock.now).toBe(now)
    expect(await snapshots.import('copy', document)).toMatchObject({ name: 'copy', replaced: false })
    expect((await snapshots.list()).map(({ name }) => name)).toEqual(['before', 'copy'])
    await snapshots.delete('copy')
    expect(await snapshots.list()).toHaveLength(1)
  },
)

test.for(ways)('%s: reset restores the start of a sandbox or uses new options', async ([, client]) => {
  await using sandbox = await client().sandbox()
  await sandbox.state.delete('pages', 'page-handbook')
  expect(await sandbox.reset()).toMatchObject({ records: { pages: 45 } })
  const clock = '2030-01-01T00:00:00.000Z'
  expect(await sandbox.reset({ fixtures: 'empty', seed: 7, clock })).toMatchObject({
    seed: 7,
    now: clock,
    records: { pages: 0 },
  })
})
