import { expect, onTestFinished, test } from 'vitest'
import { plainKeys } from '../../src/adapters/fixtures.ts'
import { readyKeys } from '../../src/adapters/plain-keys.ts'
import { openEmulator } from '../../src/emulator.ts'

async function store(fixtures: string | object) {
  const emulator = await openEmulator({ port: 0, ephemeral: true, fixtures: fixtures as string })
  onTestFinished(() => emulator.close())
  return emulator.sandbox.store
}

test('the keys of the demo data are the documented ones', async () => {
  const keys = await plainKeys('demo', await store('demo'))
  expect(keys.map(({ token, kind }) => [token, kind])).toEqual([
    ['live_demo_owner', 'user'],
    ['live_demo_member', 'user'],
    ['live_demo_outsider', 'user'],
    ['service_demo', 'service'],
  ])
  expect(readyKeys(keys)).toEqual({
    user: 'live_demo_owner',
    member: 'live_demo_member',
    service: 'service_demo',
  })
})

test('keys that the sandbox does not accept are not shown', async () => {
  const keys = await plainKeys('demo', await store({}))
  expect([keys, readyKeys(keys)]).toEqual([[], { user: null, member: null, service: null }])
})
