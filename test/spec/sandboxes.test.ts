import { expect, test } from 'vitest'
import { testEmulator } from '../support/emulator.ts'
import { mountPath } from '../support/transport.ts'

const JANUARY = '2026-01-01T00:00:00.000Z'
const file = (id: string) => ({ id, teamspace_id: 'ts-a', name: 'a.pdf', kind: 'pdf', pages: 10 })

test('a list shows every sandbox: name, clock, seed, size and paths', async () => {
  const { control, post } = await testEmulator()
  await control('POST', '/sandboxes', { name: 'w1', fixtures: 'empty', seed: 7 })
  await post('/pages', { name: 'Plan' })
  const { status, body } = await control('GET', '/sandboxes')
  expect([status, body.object]).toEqual([200, 'list'])
  expect(body.data).toEqual([
    {
      name: 'default',
      state: 'open',
      persist: false,
      now: '2026-03-01T12:00:00.000Z',
      rate: 0,
      seed: 1,
      revision: 1,
      records: expect.any(Number),
      requests: 1,
      failed_requests: 0,
      last_request: { id: 'default-000001', at: '2026-03-01T12:00:00.000Z' },
      base_url_path: `${mountPath()}/v1`,
      control_url_path: `${mountPath()}/__emulator`,
    },
    {
      name: 'w1',
      state: 'open',
      persist: false,
      now: '2026-03-01T12:00:00.000Z',
      rate: 0,
      seed: 7,
      revision: 0,
      records: expect.any(Number),
      requests: 0,
      failed_requests: 0,
      last_request: null,
      base_url_path: `${mountPath()}/@w1/v1`,
      control_url_path: `${mountPath()}/@w1/__emulator`,
    },
  ])
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

test('the number of records is the sum over all collections', async () => {
  const { control, sandbox } = await testEmulator()
  const { collections } = sandbox.document()
  const count = Object.values(collections).reduce((sum, rows) => sum + rows.length, 0)
  expect((await control('GET', '/sandboxes/default')).body.records).toBe(count)
})

test('a creation is a 201 with the fields of the list, and the paths in it lead to the sandbox', async () => {
  const { control, send } = await testEmulator()
  const clock = '2030-05-06T07:08:09.000Z'
  const made = await control('POST', '/sandboxes', { name: 'w1', clock })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ name: 'w1', now: clock, rate: 0, seed: 1, persist: false })
  expect((await control('GET', '/sandboxes/w1')).body).toEqual(made.body)
  const get = (path: string) => send(path, { method: 'GET', headers: { authorization: 'Bearer live_owner' } })
  expect(JSON.parse((await get(`${made.body.control_url_path}/clock`)).text).now).toBe(clock)
  const response = await get(`${made.body.base_url_path}/data-views`)
  expect(response.status).toBe(200)
  expect((await control('GET', '/sandboxes/w1')).body.requests).toBe(1)
  expect((await control('GET', '/sandboxes/default')).body.requests).toBe(0)
})

test('a sandbox starts from its own fixtures, seed, clock and settings, and resets to them', async () => {
  const { control, in: sandbox } = await testEmulator()
  const settings = { unknown_fields: 'reject' }
  const fixtures = { extends: 'empty', collections: { files: [] }, generate: {} }
  const clock = '2030-01-02T00:00:00.000Z'
  const made = await control('POST', '/sandboxes', { name: 'w1', fixtures, seed: 42, clock, settings })
  expect(made.body).toMatchObject({ seed: 42, now: clock })
  const w1 = sandbox('w1')
  const before = (await w1('GET', '/state')).body
  expect(before.settings).toEqual(settings)
  await w1('POST', '/clock/advance', { by: '1h' })
  await w1('PATCH', '/settings', { unknown_fields: null })
  expect((await w1('POST', '/reset')).status).toBe(200)
  expect((await w1('GET', '/state')).body).toEqual({ ...before, revision: expect.any(Number) })
})

test('options of a reset apply once, and the options of the creation stay', async () => {
  const { control, in: sandbox } = await testEmulator()
  const clock = '2030-01-02T00:00:00.000Z'
  await control('POST', '/sandboxes', { name: 'w1', fixtures: 'empty', seed: 42, clock })
  const w1 = sandbox('w1')
  expect((await w1('POST', '/reset', { seed: 9 })).body).toMatchObject({ seed: 9, now: clock })
  expect((await w1('POST', '/reset')).body).toMatchObject({ seed: 42, now: clock })
})

test('a new sandbox has the rate and skip_on_poll of the emulator', async () => {
  const { control, in: sandbox } = await testEmulator({ rate: 60, skipOnPoll: true })
  await control('POST', '/sandboxes', { name: 'w1', fixtures: 'empty' })
  expect((await sandbox('w1')('GET', '/clock')).body).toMatchObject({ rate: 60, skip_on_poll: true })
})

test('the list shows the current instant of a running clock, also of an unused sandbox', async () => {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const { control } = await testEmulator({ rate: 2, hostTime: () => now })
  await control('POST', '/sandboxes', { name: 'w1', fixtures: 'empty' })
  now += 60_000
  expect((await control('GET', '/sandboxes/w1')).body.now).toBe('2026-03-01T12:02:00.000Z')
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

test('the second of two simultaneous creations of a sandbox is a conflict', async () => {
  const { control } = await testEmulator()
  const both = await Promise.all([1, 2].map((seed) => control('POST', '/sandboxes', { name: 'w1', seed })))
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
})

test('the second of two creations in the same turn of the event loop is a conflict', async () => {
  const { sandboxes } = (await testEmulator()).emulator
  const both = await Promise.allSettled([
    sandboxes.create('w1', {}, false),
    sandboxes.create('w1', {}, false),
  ])
  expect(both).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'conflict' } }])
})

test('deleting a sandbox deletes its snapshots, and its name can be used again', async () => {
  const { control, in: sandbox } = await testEmulator()
  await control('POST', '/sandboxes', { name: 'w1', seed: 5 })
  await sandbox('w1')('POST', '/snapshots', { name: 'base' })
  expect(await control('DELETE', '/sandboxes/w1')).toMatchObject({ status: 204, text: '' })
  expect((await control('GET', '/sandboxes/w1')).status).toBe(404)
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(1)
  expect((await control('POST', '/sandboxes', { name: 'w1' })).body.seed).toBe(1)
  expect((await sandbox('w1')('GET', '/snapshots')).body.data).toEqual([])
})

test('a sandbox can be deleted by a request in it', async () => {
  const { control, in: sandbox } = await testEmulator()
  await control('POST', '/sandboxes', { name: 'w1' })
  expect((await sandbox('w1')('DELETE', '/sandboxes/w1')).status).toBe(204)
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(1)
})

test('creating and deleting the default sandbox are refused alike, with a mitigation that works', async () => {
  const { control } = await testEmulator()
  const made = await control('POST', '/sandboxes', { name: 'default' })
  const deleted = await control('DELETE', '/sandboxes/default')
  expect([made.status, made.body.error]).toEqual([409, 'conflict'])
  expect([deleted.status, deleted.body]).toEqual([made.status, made.body])
  const [, method = '', path = ''] = /([A-Z]+) \/__emulator(\/\w+)/.exec(made.body.mitigation) ?? []
  expect((await control(method, path, { fixtures: 'empty' })).status).toBe(200)
})

test('the 404 of an unknown sandbox names the nearest', async () => {
  const { control } = await testEmulator()
  await control('POST', '/sandboxes', { name: 'parser-tests' })
  for (const method of ['GET', 'DELETE']) {
    const unknown = await control(method, '/sandboxes/parser-test')
    expect([unknown.status, unknown.body.error]).toEqual([404, 'not_found'])
    expect(unknown.body.message).toContain('Did you mean "parser-tests"?')
  }
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(2)
})

test('a request in an unknown sandbox about other sandboxes creates none', async () => {
  const { control, in: sandbox } = await testEmulator()
  expect((await sandbox('nobody')('GET', '/sandboxes')).status).toBe(200)
  expect((await sandbox('w1')('POST', '/sandboxes', { name: 'w1', seed: 3 })).body.seed).toBe(3)
  expect((await control('GET', '/sandboxes')).body.data.map(({ name }: { name: string }) => name)).toEqual([
    'default',
    'w1',
  ])
})

test.for<[what: string, body: object, pointers: string[]]>([
  ['no name', {}, ['/name']],
  ['a name in capitals', { name: 'W1' }, ['/name']],
  ['a name with a slash', { name: 'a/b' }, ['/name']],
  ['a name of 64 characters', { name: 'a'.repeat(64) }, ['/name']],
  ['an unknown member', { name: 'w1', fixture: 'empty' }, ['/fixture']],
  ['a file as fixtures', { name: 'w1', fixtures: '/etc/passwd' }, ['/fixtures']],
  ['a file to extend', { name: 'w1', fixtures: { extends: '../x.json' } }, ['/fixtures/extends']],
  [
    'an unknown collection',
    { name: 'w1', fixtures: { collections: { page: [] } } },
    ['/fixtures/collections/page'],
  ],
  [
    'records that break a rule',
    { name: 'w1', fixtures: { collections: { files: [{ ...file('f1'), pages: -1 }] } } },
    ['/fixtures/collections/files/0/pages'],
  ],
  [
    'a reference to nothing',
    {
      name: 'w1',
      fixtures: {
        collections: {
          memberships: [
            { id: 'm', teamspace_id: 'no', user_id: 'no', role: 'owner', agent_ids: [], created_at: JANUARY },
          ],
        },
      },
    },
    ['/fixtures/collections/memberships/0/teamspace_id', '/fixtures/collections/memberships/0/user_id'],
  ],
  ['a seed that is no integer', { name: 'w1', seed: 0.5 }, ['/seed']],
  ['a clock without a zone', { name: 'w1', clock: '2030-01-02T00:00:00' }, ['/clock']],
  ['an unknown setting', { name: 'w1', settings: { unknown_field: 'reject' } }, ['/settings/unknown_field']],
  ['a wrong setting', { name: 'w1', settings: { unknown_fields: 'no' } }, ['/settings/unknown_fields']],
  ['settings that are no object', { name: 'w1', settings: [] }, ['/settings']],
  ['persist that is no boolean', { name: 'w1', persist: 'yes' }, ['/persist']],
  [
    'a snapshot and what it brings along',
    { name: 'w1', from_snapshot: 'base', fixtures: 'empty', seed: 1, clock: JANUARY, settings: {} },
    ['/fixtures', '/seed', '/clock', '/settings'],
  ],
])('a sandbox with %s is refused, and none is created', { tags: ['R284'] }, async ([, body, pointers]) => {
  const { control } = await testEmulator()
  await control('POST', '/snapshots', { name: 'base' })
  const response = await control('POST', '/sandboxes', body)
  expect(response.status).toBe(400)
  expect(response.body.details.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
  expect(JSON.stringify(response.body)).not.toContain('root:')
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(1)
})

test('the refusal of an unknown field names the nearest, and with a snapshot gives the reason for excluded fields', async () => {
  const { control } = await testEmulator()
  const near = await control('POST', '/sandboxes', { name: 'w1', fixture: 'empty' })
  expect(near.body.details.errors[0].detail).toContain('Did you mean "fixtures"?')
  const both = await control('POST', '/sandboxes', { name: 'w1', from_snapshot: 'x', seed: 1 })
  expect(both.body.details.errors[0].detail).toContain('a snapshot has its own')
})

test('persist is refused in an ephemeral emulator, with a mitigation', async () => {
  const { control } = await testEmulator()
  const response = await control('POST', '/sandboxes', { name: 'w1', persist: true })
  expect([response.status, response.body.error]).toEqual([409, 'conflict'])
  expect(response.body.mitigation).toContain('without --ephemeral')
  expect((await control('GET', '/sandboxes')).body.data).toHaveLength(1)
})
