import { expect, test } from 'vitest'
import type { AuthFault } from '../../src/core/faults/auth.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { armRule } from '../support/faults.ts'
import { expectStandardError } from '../support/refusal.ts'
import { sampleRecords } from '../support/sample-calls.ts'

function auth(emulator: TestEmulator, fault: AuthFault, by?: 'api_key'): void {
  armRule(emulator.sandbox, { when: by === undefined ? {} : { by }, do: [{ auth: fault }] })
}

test('an expired key is refused with 401, and the challenge contains invalid_token', {
  tags: ['R121'],
}, async () => {
  const emulator = await testEmulator()
  auth(emulator, { expire_now: true })
  const response = await emulator.post('/pages', { name: 'Plan' })
  expectStandardError(response, 401, 'unauthorized')
  expect(response.body.message).toBe('The key has expired.')
  expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  expect(emulator.state('pages')).toEqual([])
  expect(emulator.sandbox.log.entries().at(-1)).toMatchObject({
    decided: 'authenticate',
    caller: { key_id: 'key-owner' },
  })
})

test('a key expires after the given number of calls, counted for each key', { tags: ['R121'] }, async () => {
  const emulator = await testEmulator()
  auth(emulator, { expire_after_calls: 2 }, 'api_key')
  const calls = ['KU', 'KU', 'KM', 'KU', 'KM', 'KM', 'KU'] as const
  const statuses: number[] = []
  for (const key of calls) statuses.push((await emulator.get('/agents', { key })).status)
  expect(statuses).toEqual([200, 200, 200, 401, 200, 401, 401])
})

test('a refused key uses no quota', { tags: ['T06'] }, async () => {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, { when: { nth: 1 }, do: [{ auth: { expire_now: true } }] })
  await emulator.get('/agents')
  expect((await emulator.get('/agents')).headers.get('x-ratelimit-remaining')).toBe('199')
})

test('a revoked key is refused for this and all later requests, until the sandbox is reset', {
  tags: ['U069'],
}, async () => {
  const emulator = await testEmulator()
  armRule(emulator.sandbox, { when: { nth: 1 }, do: [{ auth: { revoke: true } }] })
  const commits: string[][] = []
  emulator.sandbox.store.onCommit(({ changes }) =>
    commits.push(changes.map(({ table, id }) => `${table}/${id}`)),
  )
  const response = await emulator.get('/agents')
  expectStandardError(response, 401, 'unauthorized')
  expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  expect(commits).toContainEqual(['api_keys/key-owner'])
  expect((await emulator.get('/agents')).status).toBe(401)
  expect((await emulator.get('/agents', { key: 'KM' })).status).toBe(200)
  await emulator.control('POST', '/reset')
  expect((await emulator.get('/agents')).status).toBe(200)
})

test('a user key that acts as a service key is refused by operations for users only', {
  tags: ['R147'],
}, async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  auth(emulator, { kind: 'service' })
  const body = { code: 'c', state: 'state-of-flow', redirect_uri: 'https://app.example/callback' }
  const response = await emulator.post('/organization/mcp-servers/server-1/oauth-callback', body)
  expect([response.status, response.body.error]).toEqual([403, 'mcp_oauth_requires_user_principal'])
})

test('a service key that acts as a user key acts for a user of its teamspace', {
  tags: ['R147'],
}, async () => {
  const emulator = await testEmulator({ collections: sampleRecords })
  auth(emulator, { kind: 'user' })
  const body = { code: 'c', state: 'state-of-flow', redirect_uri: 'https://app.example/callback' }
  const response = await emulator.post('/organization/mcp-servers/server-1/oauth-callback', body, {
    key: 'KS',
  })
  expect(response.status).toBe(200)
  expect(emulator.sandbox.log.entries().at(-1)?.caller).toMatchObject({
    key_id: 'key-service',
    kind: 'user',
    user_id: 'user-owner',
    teamspace_id: 'ts-a',
  })
})

test('a service key that acts as a user key is refused if no user of its teamspace has a key', async () => {
  const emulator = await testEmulator()
  change(emulator.sandbox, ({ tx }) => {
    for (const key of ['key-owner', 'key-member', 'key-outsider', 'key-second']) tx.delete('api_keys', key)
  })
  auth(emulator, { kind: 'user' })
  expect((await emulator.get('/agents', { key: 'KS' })).status).toBe(403)
})

test('a key that already has the kind of the fault stays unchanged', async () => {
  const emulator = await testEmulator()
  auth(emulator, { kind: 'user' })
  await emulator.get('/agents', { key: 'KM' })
  expect(emulator.sandbox.log.entries().at(-1)?.caller).toMatchObject({ user_id: 'user-member' })
})

test('an unknown key is refused as without the fault', async () => {
  const emulator = await testEmulator()
  auth(emulator, { revoke: true })
  const response = await emulator.get('/agents', { token: 'nobody' })
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})
