import { expect, test } from 'vitest'
import { connect, startEmulator } from '../../src/index.ts'
import { bothWays } from './both-ways.ts'

const { ways } = bothWays()

const OUTAGE = { match: { operation: 'teamspace-users.list' }, do: [{ respond: { status: 503 } }] } as const
const USERS = '/organization/teamspaces/teamspace-harbor/users'

test.for(ways)('%s: an armed fault works until its block ends', async ([, client]) => {
  await using sandbox = await client().sandbox()
  {
    await using fault = await sandbox.faults.arm(OUTAGE)
    expect((await sandbox.fetch(USERS)).status).toBe(503)
    expect(await fault.show()).toMatchObject({ id: fault.id, fired: 1, status: 'armed' })
  }
  expect((await sandbox.fetch(USERS)).status).toBe(200)
  expect(await sandbox.faults.list()).toEqual([])
})

test('disposing a fault after its emulator has closed does not throw', async () => {
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  const fault = await emulator.defaultSandbox.faults.arm(OUTAGE)
  const same = await connect(emulator.url).defaultSandbox.faults.get(fault.id)
  await emulator.close()
  await fault[Symbol.asyncDispose]()
  await same[Symbol.asyncDispose]()
  await expect(fault.remove()).rejects.toMatchObject({ code: 'closed' })
})

test.for(ways)('%s: a rule can be changed, reset, found by its id, and removed twice', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const fault = await sandbox.faults.arm({ ...OUTAGE, id: 'outage', times: 5 })
  expect(fault.rule).toMatchObject({ id: 'outage', source: 'control', times: 5, fired: 0 })
  await sandbox.fetch(USERS)
  const change = { times: null, description: 'down' }
  expect(await fault.change(change)).toMatchObject({ ...change, fired: 1 })
  expect(await fault.reset()).toMatchObject({ fired: 0, matched: 0 })
  const found = await sandbox.faults.get('outage')
  expect(found.rule.description).toBe('down')
  await found.remove()
  await fault.remove()
  await fault[Symbol.asyncDispose]()
  expect(await sandbox.faults.list()).toEqual([])
})

test.for(ways)('%s: several rules are armed together or not at all', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const [second, third] = [
    { ...OUTAGE, id: 'second' },
    { ...OUTAGE, id: 'third' },
  ]
  const both = await sandbox.faults.armAll([OUTAGE, second])
  expect(both.map(({ id }) => id)).toEqual(['fault', 'second'])
  const more = sandbox.faults.armAll([third, second])
  await expect(more).rejects.toMatchObject({ status: 409, code: 'conflict' })
  const removed = ['fault', 'second']
  expect(await sandbox.faults.clear()).toEqual({ removed, never_fired: removed })
})

test.for(ways)('%s: presets can be listed, shown, and armed with overrides', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const name = 'rate-limited'
  expect((await sandbox.faults.presets()).map((each) => each.name)).toContain(name)
  expect((await sandbox.faults.magicValues()).map(({ place }) => place)).toContain('metadata.emu_script')
  expect(await sandbox.faults.showPreset(name)).toMatchObject({ name, example: { preset: name } })
  const overrides = { match: { operation: 'pages.create' } }
  const { rule } = await sandbox.faults.preset(name, overrides)
  expect(rule).toMatchObject({ preset: name, ...overrides })
})

test.for(ways)('%s: stubs respond on endpoints without a contract', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const stub = await sandbox.stubs.create({ method: 'GET', path: '/search', body: { found: 1 } })
  expect(await (await sandbox.fetch('/search')).json()).toEqual({ found: 1 })
  const more = await sandbox.stubs.createAll([{ id: 'other', method: 'GET', path: '/agents', status: 204 }])
  expect(more).toMatchObject([{ id: 'other', source: 'control', status: 204 }])
  expect(await sandbox.stubs.show('other')).toEqual(more[0])
  expect((await sandbox.stubs.list()).map(({ id }) => id)).toEqual([stub.id, 'other'])
  expect(await sandbox.stubs.remove('other')).toEqual(more[0])
  expect(await sandbox.stubs.clear()).toEqual({ removed: [stub.id] })
})
