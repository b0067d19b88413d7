import { expect, test } from 'vitest'
import { type TestEmulator, type TestEmulatorOptions, testEmulator } from '../support/emulator.ts'
import { mountPath } from '../support/transport.ts'

const namesIn = async ({ control }: TestEmulator) =>
  (await control('GET', '/sandboxes')).body.data.map(({ name }: { name: string }) => name)

test('a list shows every sandbox: name, current instant, seed, size and paths, which lead to it', async () => {
  let host = Date.parse('2026-03-01T12:00:00.000Z')
  const { control, post, sandbox, send } = await testEmulator({ rate: 2, hostTime: () => host })
  const made = await control('POST', '/sandboxes', { name: 'w1', fixtures: 'empty', seed: 7 })
  expect([made.status, (await control('GET', '/sandboxes/w1')).body]).toEqual([201, made.body])
  await post('/pages', { name: 'Plan' })
  host += 60_000
  const rows = Object.values(sandbox.document().collections)
  const records = rows.reduce((sum, { length }) => sum + length, 0)
  const now = '2026-03-01T12:02:00.000Z'
  const common = { state: 'open', persist: false, now, rate: 2, failed_requests: 0 }
  const last_request = { id: 'default-000001', at: '2026-03-01T12:00:00.000Z' }
  const paths = (prefix: string) => ({
    base_url_path: `${mountPath()}${prefix}/v1`,
    control_url_path: `${mountPath()}${prefix}/__emulator`,
  })
  const { status, body } = await control('GET', '/sandboxes')
  expect([status, body.object]).toEqual([200, 'list'])
  expect(body.data).toMatchObject([
    { ...common, name: 'default', seed: 1, revision: 1, records, requests: 1, last_request, ...paths('') },
    { ...common, name: 'w1', seed: 7, revision: 0, requests: 0, last_request: null, ...paths('/@w1') },
  ])
  const get = (path: string) => send(path, { method: 'GET', headers: {} })
  expect(JSON.parse((await get(`${made.body.control_url_path}/state`)).text).sandbox).toBe('w1')
  expect((await get(`${made.body.base_url_path}/data-views`)).status).toBe(401)
  expect((await control('GET', '/sandboxes/w1')).body).toMatchObject({ requests: 1, failed_requests: 1 })
})

test('failed requests are those that were refused, and those that a fault made fail', async () => {
  const { control, post } = await testEmulator()
  await control('POST', '/faults', { preset: 'server-error', times: 1 })
  await post('/pages', { name: 'Plan' })
  await post('/pages', { title: 'Plan' })
  await post('/pages', { name: 'Plan' })
  const { body } = await control('GET', '/sandboxes/default')
  expect(body).toMatchObject({ requests: 3, failed_requests: 2, last_request: { id: 'default-000003' } })
})

const PACE = { rate: 60, skip_on_poll: true }

test.for<[what: string, options: TestEmulatorOptions, body: object]>([
  ['the emulator', { rate: 60, skipOnPoll: true }, {}],
  ['its creation', {}, PACE],
  ['its creation from a snapshot', {}, { ...PACE, from_snapshot: 'base' }],
])('a sandbox has the rate and skip_on_poll of %s, also after a reset', async ([, options, body]) => {
  const { control, in: sandbox } = await testEmulator(options)
  await control('POST', '/snapshots', { name: 'base' })
  const made = await control('POST', '/sandboxes', { name: 'w1', ...body })
  expect([made.status, made.body.rate]).toEqual([201, 60])
  for (const reset of [{}, { fixtures: 'empty' }]) {
    expect((await sandbox('w1')('GET', '/clock')).body).toMatchObject(PACE)
    await sandbox('w1')('POST', '/reset', reset)
  }
  expect((await sandbox('w1')('GET', '/clock')).body).toMatchObject(PACE)
})

test('a name that is taken is a conflict with a mitigation, and its sandbox stays unchanged', async () => {
  const { control, in: sandbox } = await testEmulator()
  await control('POST', '/sandboxes', { name: 'w1', seed: 5 })
  const before = (await sandbox('w1')('GET', '/state')).body
  const again = await control('POST', '/sandboxes', { name: 'w1', seed: 6 })
  expect([again.status, again.body.error]).toEqual([409, 'conflict'])
  expect(again.body.mitigation).toContain('"workspace-emulator sandbox delete w1"')
  expect((await sandbox('w1')('GET', '/state')).body).toEqual(before)
})

test('the second of two creations in the same turn of the event loop is a conflict', async () => {
  const { sandboxes } = (await testEmulator()).emulator
  const creations = [sandboxes.create('w1', {}, false), sandboxes.create('w1', {}, false)]
  expect(await Promise.allSettled(creations)).toMatchObject([
    { status: 'fulfilled' },
    { reason: { code: 'conflict' } },
  ])
})

test('deleting a sandbox, also by a request in it, deletes its snapshots, and its name can be used again', async () => {
  const emulator = await testEmulator()
  const { control, in: sandbox } = emulator
  await control('POST', '/sandboxes', { name: 'w1', seed: 5 })
  await sandbox('w1')('POST', '/snapshots', { name: 'base' })
  for (const method of ['GET', 'DELETE']) {
    const message = expect.stringContaining('Did you mean "w1"?')
    expect(await control(method, '/sandboxes/w11')).toMatchObject({ status: 404, body: { message } })
  }
  expect(await control('DELETE', '/sandboxes/w1')).toMatchObject({ status: 204, text: '' })
  expect((await control('GET', '/sandboxes/w1')).status).toBe(404)
  expect(await namesIn(emulator)).toEqual(['default'])
  expect((await control('POST', '/sandboxes', { name: 'w1' })).body.seed).toBe(1)
  expect((await sandbox('w1')('GET', '/snapshots')).body.data).toEqual([])
  expect((await sandbox('w1')('DELETE', '/sandboxes/w1')).status).toBe(204)
  expect(await namesIn(emulator)).toEqual(['default'])
})

test('creating and deleting the default sandbox are refused alike, with a mitigation that works', async () => {
  const { control } = await testEmulator()
  const made = await control('POST', '/sandboxes', { name: 'default' })
  const deleted = await control('DELETE', '/sandboxes/default')
  expect([made.status, made.body.error]).toEqual([409, 'conflict'])
  expect([deleted.status, deleted.body]).toEqual([made.status, made.body])
  expect(made.body.mitigation).toContain('"workspace-emulator call POST /reset JSON" with "fixtures"')
  expect((await control('POST', '/reset', { fixtures: 'empty' })).status).toBe(200)
})

const wrong = { files: [{ id: 'f', teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: -1 }] }
const both = {
  from_snapshot: 'base',
  fixtures: 'empty',
  seed: 1,
  clock: '2026-01-01T00:00:00Z',
  settings: {},
}

test.for<[what: string, body: object, pointers: string[], detail: string]>([
  ['no name', { name: undefined }, ['/name'], ''],
  ['a name in capitals', { name: 'W1' }, ['/name'], 'lower-case'],
  ['a name of 64 characters', { name: 'a'.repeat(64) }, ['/name'], '1 to 63'],
  ['an unknown member', { fixture: 'empty' }, ['/fixture'], 'Did you mean "fixtures"?'],
  ['a file as fixtures', { fixtures: '/etc/passwd' }, ['/fixtures'], ''],
  ['a wrong record', { fixtures: { collections: wrong } }, ['/fixtures/collections/files/0/pages'], ''],
  ['a seed that is no integer', { seed: 0.5 }, ['/seed'], ''],
  ['a clock without a zone', { clock: '2030-01-02T00:00:00' }, ['/clock'], ''],
  ['a rate below 0', { rate: -1 }, ['/rate'], ''],
  ['an unknown setting', { settings: { unknown_field: 'reject' } }, ['/settings/unknown_field'], ''],
  ['settings that are no object', { settings: [] }, ['/settings'], ''],
  ['persist that is no boolean', { persist: 'yes' }, ['/persist'], ''],
  ['a snapshot and more', both, ['/fixtures', '/seed', '/clock', '/settings'], 'a snapshot has its own'],
])(
  'a sandbox with %s is refused, and none is created',
  { tags: ['R284'] },
  async ([, body, pointers, detail]) => {
    const emulator = await testEmulator()
    await emulator.control('POST', '/snapshots', { name: 'base' })
    const response = await emulator.control('POST', '/sandboxes', { name: 'w1', ...body })
    expect(response.status).toBe(400)
    const issue = (pointer: string) => ({ pointer, detail: expect.stringContaining(detail) })
    expect(response.body.details.errors).toEqual(pointers.map(issue))
    expect(response.text).not.toContain('root:')
    expect(await namesIn(emulator)).toEqual(['default'])
  },
)

test('persist is refused in an ephemeral emulator, with a mitigation', async () => {
  const emulator = await testEmulator()
  const response = await emulator.control('POST', '/sandboxes', { name: 'w1', persist: true })
  expect([response.status, response.body.error]).toEqual([409, 'conflict'])
  expect(response.body.mitigation).toContain('without --ephemeral')
  expect(await namesIn(emulator)).toEqual(['default'])
})
