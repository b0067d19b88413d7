import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { nodeFiles } from '../../src/adapters/storage/files.ts'
import type { CallControl } from '../support/control.ts'
import {
  alive,
  contentOf,
  dataFolder,
  filesIn,
  killedData,
  organizations,
  putOrganization,
} from '../support/data-folder.ts'

const OWN = {
  fixtures: { collections: { organizations: [{ id: 'org-own', name: 'Own' }] } },
  seed: 42,
  clock: '2030-01-02T00:00:00.000Z',
  settings: { unknown_fields: 'reject' },
}

async function begun() {
  const data = dataFolder()
  return { data, ...(await alive(data)) }
}

/** An emulator on a new data folder, with a persisted sandbox named kept. */
async function keeping(start: object = {}) {
  const life = await begun()
  await life.control('POST', '/sandboxes', { name: 'kept', persist: true, ...start })
  return { ...life, kept: life.in('kept') }
}

const contentIn = async (control: CallControl) => contentOf((await control('GET', '/state')).body)

test('a sandbox with persist exists after a restart, and resets to the start of the emulator; one without does not', async () => {
  const { data, control, in: sandbox, kept, emulator } = await keeping()
  await control('POST', '/sandboxes', { name: 'lost' })
  for (const name of ['kept', 'lost']) await putOrganization(sandbox(name), 'one')
  await kept('POST', '/snapshots', { name: 'base' })
  const then = (await kept('GET', '/state')).body
  await emulator.close()
  expect(filesIn(data)).toEqual(['default.json', 'sandboxes/kept.json', 'snapshots/kept/base.json'])
  const second = await alive(data, { fixtures: OWN.fixtures, seed: 8 })
  const again = second.in('kept')
  expect((await second.control('GET', '/sandboxes')).body.data).toMatchObject([
    { name: 'default', persist: true },
    { name: 'kept', persist: true },
  ])
  expect((await again('GET', '/state')).body).toEqual(then)
  expect((await again('GET', '/snapshots')).body.data).toMatchObject([{ name: 'base' }])
  expect((await again('POST', '/reset')).body.seed).toBe(8)
  expect(await organizations(again)).toEqual(['org-own'])
})

test('a sandbox with its own start is on the disk at once, and resets to that start, also after a restart and a kill', async () => {
  const { data, kept, emulator } = await keeping(OWN)
  const killedAtOnce = await alive(killedData(data))
  const start = await contentIn(kept)
  expect(await contentIn(killedAtOnce.in('kept'))).toBe(start)
  await putOrganization(kept, 'one')
  await kept('POST', '/reset')
  expect(await contentIn(kept)).toBe(start)
  await putOrganization(kept, 'two')
  await kept('POST', '/clock/advance', { by: '24h' })
  await kept('PATCH', '/settings', { unknown_fields: null })
  const killed = killedData(data)
  await emulator.close()
  for (const folder of [killed, data]) {
    const again = (await alive(folder, { seed: 7, fixtures: { collections: {} } })).in('kept')
    expect(await organizations(again)).toEqual(['org-own', 'two'])
    expect((await again('GET', '/snapshots')).body.data).toEqual([])
    // Other fixtures for one reset keep the seed, the instant and the settings of the start.
    const other = (await again('POST', '/reset', { fixtures: { collections: {} } })).body
    expect([other.seed, other.now, await organizations(again)]).toEqual([42, OWN.clock, []])
    expect((await again('GET', '/settings')).body.overrides).toEqual(OWN.settings)
    for (let n = 0; n < 2; n++) {
      await again('POST', '/reset')
      expect(await contentIn(again)).toBe(start)
    }
  }
})

test('a deleted sandbox leaves no file', async () => {
  const { data, control, kept, said } = await keeping({ seed: 5 })
  await kept('POST', '/snapshots', { name: 'base' })
  expect(filesIn(data)).toHaveLength(4)
  expect((await control('DELETE', '/sandboxes/kept')).status).toBe(204)
  expect(filesIn(data)).toEqual(['default.json'])
  expect([readdirSync(join(data, 'sandboxes')), said]).toEqual([[], []])
})

test('a sandbox that is refused leaves no file', async () => {
  const { data, control } = await begun()
  for (const refused of [
    { fixtures: { collections: { organizations: [{ id: 7 }] } } },
    { settings: { nothing: 1 } },
    { from_snapshot: 'nothing' },
  ]) {
    const { status } = await control('POST', '/sandboxes', { name: 'kept', persist: true, ...refused })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(filesIn(data)).toEqual(['default.json'])
  }
  expect((await control('POST', '/sandboxes', { name: 'kept', persist: true })).status).toBe(201)
})

test('a disk error is reported as a 507, and leaves no partial sandbox', async () => {
  const { data, control } = await begun()
  const rename = nodeFiles.rename
  const failing = vi.spyOn(nodeFiles, 'rename').mockImplementation((from, to) => {
    if (to.endsWith('kept.json')) throw new Error('ENOSPC: no space left')
    rename(from, to)
  })
  onTestFinished(() => failing.mockRestore())
  const { status, body } = await control('POST', '/sandboxes', { name: 'kept', persist: true, seed: 5 })
  expect([status, body]).toMatchObject([507, { error: 'storage_unavailable' }])
  expect(body.message).toContain('ENOSPC')
  expect(filesIn(data)).toEqual(['default.json'])
})

test('a sandbox file that was added to the folder after the start is not overwritten', async () => {
  const { data, control } = await begun()
  mkdirSync(join(data, 'sandboxes'))
  const document = JSON.stringify((await control('GET', '/state')).body)
  writeFileSync(join(data, 'sandboxes/found.json'), document)
  const { status, body } = await control('POST', '/sandboxes', { name: 'found', persist: true })
  expect([status, body.mitigation]).toEqual([409, expect.stringContaining('Start the emulator again')])
  expect(filesIn(data)).toEqual(['default.json', 'sandboxes/found.json'])
})
