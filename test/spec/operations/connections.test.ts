import { expect, test } from 'vitest'
import { testEmulator } from '../../support/emulator.ts'
import { pointersOf, refused } from '../../support/refusal.ts'
import { mountPath } from '../../support/transport.ts'

const BOTH = { connector_id: 'files', connection_provider_id: 'provider' }

test('the response is a redirect URL resource, and control shows the connection without its nonce', {
  tags: ['R006', 'R061', 'R176', 'R177', 'U030'],
}, async () => {
  const emulator = await testEmulator()
  const { status, body } = await emulator.post('/connections', BOTH)
  expect(status).toBe(200)
  expect(body).toEqual({ object: 'redirect_url', redirect_url: expect.any(String) })
  const consent = new RegExp(`^${mountPath()}/consent/connections/[\\w-]+$`)
  expect(new URL(body.redirect_url).pathname).toMatch(consent)
  const [connection] = emulator.state('connections')
  const facts = { teamspace_id: 'ts-a', user_id: 'user-owner', created_at: '2026-03-01T12:00:00.000Z' }
  expect(connection).toMatchObject({ ...BOTH, ...facts })
  const shown = (await emulator.control('GET', `/connections/${connection.id}`)).body
  expect([shown.status, Object.hasOwn(shown, 'nonce')]).toEqual(['pending', false])
  expect((await emulator.control('GET', '/connections/none')).status).toBe(404)
})

test('a setting changes the redirect URL, with the id in its place', { tags: ['R061', 'U030'] }, async () => {
  const settings = { 'connections.redirect_url': 'https://login.example/{id}?c={id}' }
  const emulator = await testEmulator({ settings })
  const { body } = await emulator.post('/connections', BOTH)
  const [{ id }] = emulator.state('connections')
  expect(body.redirect_url).toBe(`https://login.example/${id}?c=${id}`)
})

test.for(['login', '/login/{id}', ''])(
  'the template "%s" is refused',
  { tags: ['R061', 'U030'] },
  async (template) => {
    const settings = { 'connections.redirect_url': template }
    await expect(testEmulator({ settings })).rejects.toThrow(/connections.redirect_url.*absolute URL/)
  },
)

test.for([
  ['connector_id', 5],
  ['connector_id', null],
  ['connection_provider_id', true],
  ['connection_provider_id', ['x']],
] as const)('%s as %j is refused', { tags: ['R176'] }, async ([member, value]) => {
  const emulator = await testEmulator()
  const response = await refused(emulator, () => emulator.post('/connections', { ...BOTH, [member]: value }))
  expect(pointersOf(response)).toEqual([`/${member}`])
})

test('both fields are optional, and required by their settings', { tags: ['R176', 'U015'] }, async () => {
  const emulator = await testEmulator()
  expect((await emulator.post('/connections', {})).status).toBe(200)
  const settings = {
    'required.connections.create.connector_id': true,
    'required.connections.create.connection_provider_id': true,
  }
  const strict = await testEmulator({ settings })
  const response = await refused(strict, () => strict.post('/connections', {}))
  expect(pointersOf(response)).toEqual(['/connector_id', '/connection_provider_id'])
})
