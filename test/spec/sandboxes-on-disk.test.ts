import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { alive, dataFolder, organizations, putOrganization } from '../support/data-folder.ts'

/** A folder with these persisted sandboxes, each with an organization of its name. */
async function folderWith(names: readonly string[]): Promise<string> {
  const data = dataFolder()
  const { control, in: sandbox, emulator } = await alive(data)
  for (const name of names) {
    await control('POST', '/sandboxes', { name, persist: true, fixtures: 'demo' })
    await putOrganization(sandbox(name), name)
  }
  await emulator.close()
  return data
}

const openIn = ({ sandboxes }: RunningEmulator) => sandboxes.list().map(({ sandbox }) => sandbox.name)

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
  const data = await folderWith(['running', 'still'])
  const before = await alive(data)
  await before.in('running')('PATCH', '/clock', { rate: 1 })
  await before.emulator.close()
  const wakesAt = (name: string) =>
    JSON.parse(readFileSync(join(data, `sandboxes/${name}.json`), 'utf8')).wakes_at
  expect(wakesAt('still')).toBe(null)
  const due = wakesAt('running')
  const { emulator } = await alive(data, { hostTime: () => Date.parse(due) - 30_000 })
  await expect.poll(() => openIn(emulator)).toEqual(['default', 'running'])
})

test('a FIFO or half a document in place of a sandbox file affects only that sandbox', async () => {
  const data = await folderWith(['fine', 'half'])
  const placeOf = (name: string) => join(data, 'sandboxes', `${name}.json`)
  const whole = readFileSync(placeOf('half'))
  writeFileSync(placeOf('half'), whole.subarray(0, 200))
  execFileSync('mkfifo', [placeOf('fifo')])
  const { control, in: sandbox, emulator, said } = await alive(data)
  const health = async () => (await control('GET', '/health')).body
  expect(await organizations(sandbox('fine'))).toContain('fine')
  for (const [name, problem] of [
    ['fifo', /fifo\.json is a FIFO, and the emulator needs a file there\. Move it away/],
    ['half', /half\.json:\d+:\d+: .* Nothing has been changed\./],
  ] as const) {
    const path = placeOf(name)
    const { status, body } = await sandbox(name)('GET', '/state')
    expect([status, body.error]).toEqual([507, 'storage_unavailable'])
    expect(body.message).toContain(`The sandbox "${name}" cannot be opened: ${path}`)
    expect(body.message).toMatch(problem)
    expect(body.mitigation).toMatch(/^Repair the file or move it away/)
    const api = await fetch(`${emulator.url}/@${name}/v1/pages`, { headers: { authorization: 'Bearer x' } })
    expect([api.status, await api.text()]).toEqual([507, expect.stringContaining(path)])
    expect((await control('POST', '/sandboxes', { name })).status).toBe(409)
    const broken = { name, state: 'broken', problem: body.message }
    expect((await control('GET', '/sandboxes')).body.data).toContainEqual(expect.objectContaining(broken))
    expect((await health()).storage).toContainEqual({ sandbox: name, problem: body.message })
    if (name === 'half') continue
    expect(said.filter((line) => line.includes(path))).toHaveLength(1)
    expect((await control('DELETE', `/sandboxes/${name}`)).status).toBe(507)
  }
  // After a fix no restart is needed.
  rmSync(placeOf('fifo'))
  writeFileSync(placeOf('half'), whole)
  for (const name of ['fifo', 'half']) expect((await sandbox(name)('GET', '/state')).status).toBe(200)
  expect(await health()).toMatchObject({ status: 'ok', storage: [] })
})

test('a damaged journal refuses its sandbox until a start with --discard-journal', async () => {
  const data = await folderWith(['a'])
  writeFileSync(join(data, 'sandboxes/a.json.journal'), '')
  const { in: sandbox, emulator } = await alive(data)
  const { status, body } = await sandbox('a')('GET', '/state')
  expect([status, body.message]).toEqual([507, expect.stringContaining('start with --discard-journal')])
  await emulator.close()
  const again = await alive(data, { discardJournal: true })
  expect(await organizations(again.in('a'))).toContain('a')
})

test('more sandboxes on the disk than --max-open-sandboxes are refused with the fix', async () => {
  const data = await folderWith(['a', 'b', 'c'])
  const { control, in: sandbox, emulator } = await alive(data, { maxOpenSandboxes: 3 })
  for (const name of ['a', 'b']) expect(await organizations(sandbox(name))).toContain(name)
  const opened = await sandbox('c')('GET', '/state')
  const made = await control('POST', '/sandboxes', { name: 'd', persist: true })
  expect(made).toMatchObject({ status: 409, body: opened.body })
  expect(opened.body.message).toBe('3 sandboxes on the disk are open, the maximum.')
  expect(opened.body.mitigation).toContain('--max-open-sandboxes')
  // A sandbox that is deleted is lost.
  expect(opened.body.mitigation).not.toMatch(/delete|remove/i)
  expect((await control('POST', '/sandboxes', { name: 'in-memory' })).status).toBe(201)
  expect((await control('GET', '/health')).body.storage).toEqual([])
  expect((await control('DELETE', '/sandboxes/a')).status).toBe(204)
  expect(await organizations(sandbox('c'))).toContain('c')
  expect(openIn(emulator)).toEqual(['default', 'b', 'in-memory', 'c'])
})
