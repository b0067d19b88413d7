import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { alive, dataFolder, killedData, organizations, putOrganization } from '../support/data-folder.ts'

/** A folder with these persisted sandboxes, each with an organization of its name. */
async function folderWith(names: readonly string[], rate = 0): Promise<string> {
  const data = dataFolder()
  const { control, in: sandbox, emulator } = await alive(data)
  for (const name of names) {
    await control('POST', '/sandboxes', { name, persist: true, fixtures: 'demo' })
    await putOrganization(sandbox(name), name)
    if (rate > 0) await sandbox(name)('PATCH', '/clock', { rate })
  }
  await emulator.close()
  return data
}

const openIn = ({ sandboxes }: RunningEmulator) => sandboxes.list().map(({ sandbox }) => sandbox.name)

/** Resolves with the name of the next sandbox to be opened. */
function nextOpened({ sandboxes }: RunningEmulator): Promise<string> {
  return new Promise((resolve) => {
    const stop = sandboxes.onMade(({ name }) => {
      stop()
      resolve(name)
    })
  })
}

/** The `wakes_at` of the state file of a sandbox, in epoch milliseconds; NaN without one. */
function wakesAt(data: string, name: string): number {
  const { wakes_at } = JSON.parse(readFileSync(join(data, 'sandboxes', `${name}.json`), 'utf8'))
  return Date.parse(wakes_at)
}

test('a start opens only the default sandbox; the first request opens each of the others', async () => {
  const data = await folderWith(['a', 'b'])
  const { emulator, control, in: sandbox } = await alive(data)
  expect(openIn(emulator)).toEqual(['default'])
  expect((await control('GET', '/sandboxes')).body.data).toMatchObject([
    { name: 'default', state: 'open' },
    { name: 'a', state: 'on_disk', persist: true, problem: null, base_url_path: '/@a/v1' },
    { name: 'b', state: 'on_disk', persist: true, problem: null, base_url_path: '/@b/v1' },
  ])
  for (const found of await Promise.all([organizations(sandbox('b')), organizations(sandbox('b'))]))
    expect(found).toContain('b')
  expect(openIn(emulator)).toEqual(['default', 'b'])
  expect((await control('GET', '/sandboxes/a')).body).toMatchObject({ name: 'a', state: 'open', rate: 0 })
  expect(openIn(emulator)).toEqual(['default', 'b', 'a'])
})

test('the name of a sandbox on the disk is taken, and can be deleted without opening it', async () => {
  const data = await folderWith(['a'])
  const { emulator, control, in: sandbox } = await alive(data)
  expect((await control('POST', '/sandboxes', { name: 'a' })).status).toBe(409)
  expect((await control('DELETE', '/sandboxes/a')).status).toBe(204)
  expect((await control('DELETE', '/sandboxes/a')).status).toBe(404)
  expect((await sandbox('a')('GET', '/state/organizations')).status).toBe(404)
  await emulator.close()
  expect(openIn((await alive(data)).emulator)).toEqual(['default'])
})

test('snapshots of a sandbox that is not open, requests?sandbox= and explain find sandboxes on the disk', async () => {
  const data = await folderWith(['a', 'b'])
  const before = await alive(data)
  await before.in('a')('POST', '/snapshots', { name: 'base' })
  await before.emulator.close()
  const { control, in: sandbox, emulator } = await alive(data)
  expect((await control('GET', '/requests?sandbox=b')).status).toBe(200)
  expect(openIn(emulator)).toEqual(['default', 'b'])
  const made = await sandbox('a')('POST', '/sandboxes', { name: 'copy', from_snapshot: 'base' })
  expect(made.status).toBe(201)
  expect(await organizations(sandbox('copy'))).toContain('a')
  const { status, body } = await control('GET', '/explain/bb-000001')
  expect([status, body.message]).toEqual([404, 'There is no sandbox "bb". Did you mean "b"?'])
})

test('a sandbox with a running clock is opened before its next event is due, one with a stopped clock is not', async () => {
  const data = await folderWith(['running'], 1)
  const still = await alive(data)
  await still.control('POST', '/sandboxes', { name: 'still', persist: true, fixtures: 'demo' })
  await still.emulator.close()
  const due = wakesAt(data, 'running')
  expect(wakesAt(data, 'still')).toBeNaN()
  const { emulator } = await alive(data, { hostTime: () => due - 30_000 })
  expect(await nextOpened(emulator)).toBe('running')
  expect(emulator.sandboxes.saved()).toEqual([{ name: 'still', problem: null }])
})

test('a sandbox is opened after a kill, because wakes_at in its file can be wrong', async () => {
  const data = dataFolder()
  const { control, in: sandbox } = await alive(data)
  await control('POST', '/sandboxes', { name: 'a', persist: true })
  await putOrganization(sandbox('a'), 'late')
  const { emulator } = await alive(killedData(data))
  expect(await nextOpened(emulator)).toBe('a')
})

test('a directory or FIFO in place of a sandbox file affects only that sandbox', async () => {
  const data = await folderWith(['fine'])
  const placeOf = (name: string) => join(data, 'sandboxes', `${name}.json`)
  mkdirSync(placeOf('directory'))
  execFileSync('mkfifo', [placeOf('fifo')])
  const { control, in: sandbox, emulator, said } = await alive(data)
  expect(await organizations(sandbox('fine'))).toContain('fine')
  for (const [name, kind] of [
    ['directory', 'a directory'],
    ['fifo', 'a FIFO'],
  ] as const) {
    const path = placeOf(name)
    const problem = `${path} is ${kind}, and the emulator needs a file there. Move it away`
    const message = expect.stringContaining(`The sandbox "${name}" cannot be opened: ${problem}`)
    const refused = await sandbox(name)('GET', '/state')
    const mitigation = expect.stringMatching(/^Repair the file or move it away/)
    const error = 'storage_unavailable'
    expect(refused).toMatchObject({ status: 507, body: { error, message, mitigation } })
    const api = await fetch(`${emulator.url}/@${name}/v1/pages`, { headers: { authorization: 'Bearer x' } })
    expect([api.status, await api.text()]).toEqual([507, expect.stringContaining(path)])
    expect((await control('POST', '/sandboxes', { name })).status).toBe(409)
    expect((await control('DELETE', `/sandboxes/${name}`)).status).toBe(507)
    const broken = { name, state: 'broken', problem: expect.stringContaining(path) }
    expect((await control('GET', '/sandboxes')).body.data).toContainEqual(expect.objectContaining(broken))
    expect(said.filter((line) => line.includes(path))).toHaveLength(1)
  }
  // After a fix no restart is needed.
  rmSync(placeOf('fifo'))
  expect((await sandbox('fifo')('GET', '/state')).status).toBe(200)
  expect((await control('GET', '/health')).body.storage).toMatchObject([{ sandbox: 'directory' }])
})

test('more sandboxes on the disk than --max-open-sandboxes are refused with the fix', async () => {
  const data = await folderWith(['a', 'b', 'c'])
  const { control, in: sandbox, emulator } = await alive(data, { maxOpenSandboxes: 3 })
  for (const name of ['a', 'b']) expect(await organizations(sandbox(name))).toContain(name)
  for (const refused of [
    await sandbox('c')('GET', '/state'),
    await control('POST', '/sandboxes', { name: 'd', persist: true }),
  ]) {
    const message = '3 sandboxes on the disk are open, the maximum.'
    expect([refused.status, refused.body.message]).toEqual([409, message])
    expect(refused.body.mitigation).toContain('--max-open-sandboxes')
    // A sandbox that is deleted is lost.
    expect(refused.body.mitigation).not.toMatch(/delete|remove/i)
  }
  expect((await control('POST', '/sandboxes', { name: 'in-memory' })).status).toBe(201)
  expect((await control('GET', '/health')).body.storage).toEqual([])
  expect((await control('DELETE', '/sandboxes/a')).status).toBe(204)
  expect(await organizations(sandbox('c'))).toContain('c')
  expect(openIn(emulator)).toEqual(['default', 'b', 'in-memory', 'c'])
})
