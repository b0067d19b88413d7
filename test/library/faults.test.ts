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

test.for(ways)('%s: rules can be armed together, found by id, and removed twice', async ([, client]) => {
  await using sandbox = await client().sandbox()
  const [fault, second] = await sandbox.faults.armAll([{ ...OUTAGE, id: 'outage', times: 5 }, OUTAGE])
  expect([fault?.rule, second?.id]).toMatchObject([{ id: 'outage', source: 'control', times: 5 }, 'fault'])
  expect(await fault?.change({ times: null })).toMatchObject({ times: null })
  const found = await sandbox.faults.get('outage')
  expect(found.rule.times).toBeNull()
  await found.remove()
  await fault?.remove()
  expect(await sandbox.faults.clear()).toMatchObject({ removed: ['fault'] })
})
