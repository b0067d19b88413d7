import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openEmulator } from '../../src/emulator/emulator.ts'
import { START } from '../support/base-state.ts'
import { aBatch, batchEmulator, createBatch, retrieve } from '../support/batches.ts'
import { alive, dataFolder, organizations, putOrganization, quiet } from '../support/data-folder.ts'
import { keptLogger } from '../support/kept-logger.ts'
import { contests } from '../support/lock-contenders.ts'

/** Every file below a folder but the lock, with its content and modification time. */
function snapshotOf(data: string): Record<string, string> {
  const all = readdirSync(data, { recursive: true, withFileTypes: true })
  const files = all.filter((each) => each.isFile() && each.name !== 'lock')
  const paths = files.map(({ parentPath, name }) => join(parentPath, name))
  const contentOf = (path: string) => `${statSync(path).mtimeMs} ${readFileSync(path, 'utf8')}`
  return Object.fromEntries(paths.map((path) => [path, contentOf(path)]))
}

/** The emulator on the folder loses its lock, and another one starts there. */
async function takeOver(data: string, said: readonly string[]) {
  rmSync(join(data, 'lock'))
  await vi.waitFor(() => expect(said).toEqual([expect.stringContaining('has lost its data folder')]), 10_000)
  return alive(data)
}

test('an emulator that has lost its folder to another refuses all writes, and still serves reads', async () => {
  const data = dataFolder()
  const old = await alive(data)
  await old.control('POST', '/sandboxes', { name: 'kept', persist: true })
  for (const control of [old.control, old.in('kept')]) await putOrganization(control, 'before')
  await quiet(data, ['default.json', 'sandboxes/kept.json'], 'before')
  const next = await takeOver(data, old.said)
  expect(await organizations(next.control)).toEqual(['before'])
  await putOrganization(next.control, 'after')
  await quiet(data, ['default.json'], 'after')
  const before = snapshotOf(data)
  for (const [method, path, body] of [
    ['PUT', '/state/organizations/late', { name: 'late' }],
    ['POST', '/snapshots', { name: 'late' }],
    ['POST', '/sandboxes', { name: 'late', persist: true }],
    ['POST', '/reset', {}],
  ] as const) {
    const response = await old.control(method, path, body)
    expect([path, response.status]).toEqual([path, 507])
    const reason = `This emulator has lost its data folder: ${data}/lock now belongs to no process.`
    expect(JSON.stringify(response.body)).toContain(reason)
  }
  expect((await old.in('kept')('PUT', '/state/organizations/late', { name: 'late' })).status).toBe(507)
  for (const control of [old.control, old.in('kept')])
    expect(await organizations(control)).toEqual(['before'])
  const problem = expect.stringContaining('has lost its data folder')
  expect((await old.control('GET', '/health')).body).toMatchObject({ status: 'read_only', problem })
  expect((await next.control('GET', '/health')).body).toMatchObject({ status: 'ok', problem: null })
  await old.emulator.close()
  expect(snapshotOf(data)).toEqual(before)
  expect(old.said).toHaveLength(1)
  await putOrganization(next.control, 'last')
  await next.emulator.close()
  expect(await organizations((await alive(data)).control)).toEqual(['before', 'after', 'last'])
})

test('due events of an emulator that has lost its folder wait, and do not prevent reads', async () => {
  const data = dataFolder()
  let now = Date.parse(START)
  const { said, logger } = keptLogger('warn', 'error')
  const emulator = await batchEmulator({}, { ephemeral: false, data, rate: 1, hostTime: () => now, logger })
  const { id } = await createBatch(emulator)
  await quiet(data, ['default.json'], id)
  await takeOver(data, said)
  now += 3_600_000
  expect((await emulator.post('/batch-predictions', aBatch())).status).toBe(507)
  expect(await retrieve(emulator, id)).toMatchObject({ id, status: 'validating' })
  expect((await emulator.control('GET', '/state/batch_predictions')).body.data).toMatchObject([{ id }])
  expect((await emulator.control('POST', '/snapshots', { name: 'late' })).status).toBe(507)
  expect((await emulator.post('/pages', { name: 'late' })).status).toBe(507)
  expect(said).toEqual([expect.stringContaining('has lost its data folder')])
})

test('a start that fails releases the folder', async () => {
  const data = dataFolder()
  const options = { port: 0, data, fixtures: { collections: { nonsense: [] } } }
  await expect(openEmulator(options)).rejects.toThrow()
  expect(readdirSync(data)).toEqual([])
  await alive(data)
})

test('D8 of eight processes that start at once on the lock of a dead one exactly one gets it, in each of ten folders', async () => {
  expect(await contests('same namespace', { starts: 8, rounds: 10, batch: 5 })).toEqual([])
}, 120_000)
