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

test('a sandbox with persist exists after a restart, and one without does not', async () => {
  const data = dataFolder()
  const first = await alive(data)
  expect((await first.control('POST', '/sandboxes', { name: 'kept', persist: true })).body.persist).toBe(true)
  await first.control('POST', '/sandboxes', { name: 'lost' })
  for (const name of ['kept', 'lost']) await putOrganization(first.in(name), 'one')
  await first.in('kept')('POST', '/snapshots', { name: 'base' })
  const then = (await first.in('kept')('GET', '/state')).body
  await first.emulator.close()
  expect(filesIn(data)).toEqual(['default.json', 'sandboxes/kept.json', 'snapshots/kept/base.json'])
  const second = await alive(data)
  const { data: listed } = (await second.control('GET', '/sandboxes')).body
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(['default', 'kept'])
  expect((await second.in('kept')('GET', '/state')).body).toEqual(then)
  expect((await second.in('kept')('GET', '/snapshots')).body.data).toMatchObject([{ name: 'base' }])
})

test('a sandbox is on the disk before its creation responds', async () => {
  const data = dataFolder()
  const first = await alive(data)
  await first.control('POST', '/sandboxes', { name: 'kept', persist: true, ...OWN })
  const second = await alive(killedData(data))
  expect((await second.control('GET', '/sandboxes/kept')).body).toMatchObject({ seed: 42, now: OWN.clock })
})

test('a sandbox with its own start resets to that start, also after a restart and a kill', async () => {
  const data = dataFolder()
  const first = await alive(data)
  const kept = first.in('kept')
  await first.control('POST', '/sandboxes', { name: 'kept', persist: true, ...OWN })
  const start = contentOf((await kept('GET', '/state')).body)
  await putOrganization(kept, 'one')
  await kept('POST', '/reset')
  expect(contentOf((await kept('GET', '/state')).body)).toBe(start)
  await putOrganization(kept, 'two')
  await kept('POST', '/clock/advance', { by: '24h' })
  await kept('PATCH', '/settings', { unknown_fields: null })
  const killed = killedData(data)
  await first.emulator.close()
  for (const folder of [killed, data]) {
    const again = (await alive(folder, { seed: 7, fixtures: { collections: {} } })).in('kept')
    expect(await organizations(again)).toEqual(['org-own', 'two'])
    expect((await again('GET', '/snapshots')).body.data).toEqual([])
    for (let n = 0; n < 2; n++) {
      await again('POST', '/reset')
      expect(contentOf((await again('GET', '/state')).body)).toBe(start)
    }
  }
})

test('after a restart a reset accepts other fixtures, and keeps seed, instant and settings of the start', async () => {
  const data = dataFolder()
  const first = await alive(data)
  await first.control('POST', '/sandboxes', { name: 'kept', persist: true, ...OWN })
  const reset = async (control: CallControl) => {
    const { seed, now } = (await control('POST', '/reset', { fixtures: { collections: {} } })).body
    return [seed, now, (await control('GET', '/settings')).body.overrides, await organizations(control)]
  }
  const before = await reset(first.in('kept'))
  await first.emulator.close()
  const second = await alive(data)
  expect(await reset(second.in('kept'))).toEqual(before)
  expect(before).toEqual([42, OWN.clock, OWN.settings, []])
})

test('a sandbox created from a snapshot resets to it after a restart, also if the snapshot is deleted', async () => {
  const data = dataFolder()
  const first = await alive(data)
  await putOrganization(first.control, 'one')
  await first.control('POST', '/clock/advance', { by: '3h' })
  await first.control('POST', '/snapshots', { name: 'base' })
  const then = contentOf((await first.control('GET', '/snapshots/base')).body)
  await first.control('POST', '/sandboxes', { name: 'fork', from_snapshot: 'base', persist: true })
  await first.control('DELETE', '/snapshots/base')
  await putOrganization(first.in('fork'), 'two')
  await first.emulator.close()
  const second = await alive(data)
  const fork = second.in('fork')
  expect(await organizations(fork)).toEqual(['one', 'two'])
  await fork('POST', '/reset')
  expect(contentOf((await fork('GET', '/state')).body)).toBe(then)
})

test('a sandbox with persist but without its own start resets to the start of the emulator', async () => {
  const data = dataFolder()
  const first = await alive(data)
  await first.control('POST', '/sandboxes', { name: 'plain', persist: true })
  await first.emulator.close()
  expect(filesIn(data)).toEqual(['default.json', 'sandboxes/plain.json'])
  const { in: sandbox } = await alive(data, { fixtures: OWN.fixtures, seed: 8 })
  expect(await organizations(sandbox('plain'))).toEqual([])
  expect((await sandbox('plain')('POST', '/reset')).body.seed).toBe(8)
  expect(await organizations(sandbox('plain'))).toEqual(['org-own'])
})

test('a deleted sandbox leaves no file, and does not exist after a restart', async () => {
  const data = dataFolder()
  const first = await alive(data)
  await first.control('POST', '/sandboxes', { name: 'kept', persist: true, seed: 5 })
  await first.in('kept')('POST', '/snapshots', { name: 'base' })
  expect(filesIn(data)).toHaveLength(4)
  expect((await first.control('DELETE', '/sandboxes/kept')).status).toBe(204)
  expect(filesIn(data)).toEqual(['default.json'])
  expect(readdirSync(join(data, 'sandboxes'))).toEqual([])
  await first.emulator.close()
  const second = await alive(data)
  expect((await second.control('GET', '/sandboxes')).body.data).toHaveLength(1)
  expect(second.said).toEqual([])
})

test('a sandbox that is refused leaves no file', async () => {
  const data = dataFolder()
  const { control } = await alive(data)
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
  const data = dataFolder()
  const { control } = await alive(data)
  // With a file in place of the snapshots folder, the first step works and a later one fails.
  writeFileSync(join(data, 'snapshots'), '')
  const response = await control('POST', '/sandboxes', { name: 'kept', persist: true, seed: 5 })
  expect([response.status, response.body.error]).toEqual([507, 'storage_unavailable'])
  expect(response.body.message).toContain('snapshots')
  expect(filesIn(data)).toEqual(['default.json', 'snapshots'])
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(1)
})

test('a checkpoint that fails during the creation of a sandbox leaves none of its files', async () => {
  const data = dataFolder()
  const { control, emulator } = await alive(data)
  const rename = nodeFiles.rename
  const failing = vi.spyOn(nodeFiles, 'rename').mockImplementation((from, to) => {
    if (to.endsWith('kept.json')) throw new Error('ENOSPC: no space left')
    rename(from, to)
  })
  onTestFinished(() => failing.mockRestore())
  const response = await control('POST', '/sandboxes', { name: 'kept', persist: true, seed: 5 })
  expect([response.status, response.body.message]).toEqual([507, expect.stringContaining('ENOSPC')])
  failing.mockRestore()
  expect(filesIn(data)).toEqual(['default.json'])
  await emulator.close()
  expect((await (await alive(data)).control('GET', '/sandboxes')).body.data).toHaveLength(1)
})

test('a save in progress when its sandbox is deleted leaves no file', async () => {
  const data = dataFolder()
  const { emulator, control } = await alive(data)
  await control('POST', '/sandboxes', { name: 'kept', persist: true })
  const { sandboxes } = emulator
  const snapshots = sandboxes.snapshots(sandboxes.show('kept').sandbox)
  const outcomes = await Promise.allSettled([
    snapshots.save('base'),
    sandboxes.delete('kept'),
    snapshots.save('late'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(filesIn(data)).toEqual(['default.json'])
})

test('a sandbox file that was added to the folder after the start is not overwritten', async () => {
  const data = dataFolder()
  const { control } = await alive(data)
  mkdirSync(join(data, 'sandboxes'))
  const document = JSON.stringify((await control('GET', '/state')).body)
  writeFileSync(join(data, 'sandboxes/found.json'), document)
  const response = await control('POST', '/sandboxes', { name: 'found', persist: true })
  expect([response.status, response.body.error]).toEqual([409, 'conflict'])
  expect(response.body.mitigation).toContain('Start the emulator again')
  expect(filesIn(data)).toEqual(['default.json', 'sandboxes/found.json'])
})

test('snapshots of an earlier sandbox with the same name are moved aside and reported', async () => {
  const data = dataFolder()
  const { control, in: sandbox, said } = await alive(data)
  mkdirSync(join(data, 'snapshots/kept'), { recursive: true })
  writeFileSync(join(data, 'snapshots/kept/base.json'), JSON.stringify((await control('GET', '/state')).body))
  await control('POST', '/sandboxes', { name: 'kept', persist: true })
  expect((await sandbox('kept')('GET', '/snapshots')).body.data).toEqual([])
  expect(filesIn(data)).toContain('snapshots/kept.orphaned-1/base.json')
  expect(said).toEqual([expect.stringContaining('kept.orphaned-1')])
})
