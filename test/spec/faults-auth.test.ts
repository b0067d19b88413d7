import { expect, test } from 'vitest'
import type { AuthFault } from '../../src/core/faults/auth.ts'
import type { When } from '../../src/core/faults/rule.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import type { KeyName } from '../support/base-state.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { expectStandardError } from '../support/refusal.ts'
import { sampleRecords } from '../support/sample-calls.ts'
import { underRule } from '../support/under-rule.ts'

const underAuth = (fault: AuthFault, when: When = {}, starting?: Promise<TestEmulator>) =>
  underRule({ when, do: [{ auth: fault }] }, starting)

const callerOf = ({ sandbox }: TestEmulator) => sandbox.log.entries().at(-1)?.caller

const CALLBACK = '/organization/mcp-servers/server-1/oauth-callback'
const FLOW = { code: 'c', state: 'state-of-flow', redirect_uri: 'https://app.example/callback' }

test.for<[fault: AuthFault, message: string]>([
  [{ expire_now: true }, 'The key has expired.'],
  [{ revoke: true }, 'The key has been revoked.'],
])('%j: a 401 with the challenge invalid_token', { tags: ['R121', 'U069'] }, async ([fault, message]) => {
  const emulator = await underAuth(fault)
  const response = await emulator.post('/pages', { name: 'Plan' })
  expectStandardError(response, 401, 'unauthorized')
  expect(response.body.message).toBe(message)
  expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  expect(emulator.state('pages')).toEqual([])
  expect(callerOf(emulator)).toMatchObject({ key_id: 'key-owner' })
})

test('a key expires after the given number of calls, counted for each key', { tags: ['R121'] }, async () => {
  const emulator = await underAuth({ expire_after_calls: 2 }, { by: 'api_key' })
  const calls = ['KU', 'KU', 'KM', 'KU', 'KM', 'KM', 'KU'] as const
  const statuses: number[] = []
  for (const key of calls) statuses.push((await emulator.get('/agents', { key })).status)
  expect(statuses).toEqual([200, 200, 200, 401, 200, 401, 401])
})

test('a refused key uses no quota', { tags: ['T06'] }, async () => {
  const emulator = await underAuth({ expire_now: true }, { nth: 1 })
  await emulator.get('/agents')
  expect((await emulator.get('/agents')).headers.get('x-ratelimit-remaining')).toBe('199')
})

test('a revoked key is refused until the sandbox is reset', { tags: ['U069'] }, async () => {
  const emulator = await underAuth({ revoke: true }, { nth: 1 })
  const statusOf = async (key: 'KU' | 'KM') => (await emulator.get('/agents', { key })).status
  expect([await statusOf('KU'), await statusOf('KU'), await statusOf('KM')]).toEqual([401, 401, 200])
  await emulator.control('POST', '/reset')
  expect(await statusOf('KU')).toBe(200)
})

const owner = { key_id: 'key-service', kind: 'user', user_id: 'user-owner', teamspace_id: 'ts-a' }

test.for<[kind: 'user' | 'service', key: KeyName, error: string | undefined, caller: object]>([
  ['service', 'KU', 'mcp_oauth_requires_user_principal', { kind: 'service', user_id: null }],
  ['user', 'KS', undefined, owner],
  ['user', 'KM', undefined, { kind: 'user', user_id: 'user-member' }],
])('as a %s key, %s gets %s', { tags: ['R147'] }, async ([kind, key, error, caller]) => {
  const emulator = await underAuth({ kind }, {}, testEmulator({ collections: sampleRecords }))
  const { body } = await emulator.post(CALLBACK, FLOW, { key })
  expect([body.error, callerOf(emulator)]).toMatchObject([error, caller])
})

test('a service key that acts as a user key is refused if no user of its teamspace has a key', async () => {
  const emulator = await underAuth({ kind: 'user' })
  change(emulator.sandbox, ({ tx }) => {
    for (const key of ['key-owner', 'key-member', 'key-outsider', 'key-second']) tx.delete('api_keys', key)
  })
  expect((await emulator.get('/agents', { key: 'KS' })).status).toBe(403)
})

test('an unknown key is refused as without the fault', async () => {
  const emulator = await underAuth({ revoke: true })
  const response = await emulator.get('/agents', { token: 'nobody' })
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})
