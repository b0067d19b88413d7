import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { callControl, controlEmulator } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { made, send } from '../support/send.ts'

const TOKEN = 'control-token-of-this-test'
/** Valid bodies of writing routes: a guard that lets one through changes the state. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /clock': { rate: 5 },
  'POST /clock/advance': { by: '1h' },
  'POST /fixtures': { stubs: [{ method: 'GET', path: '/own', body: {} }] },
  'POST /faults': { match: 'everything', do: [{ respond: { status: 500 } }] },
  'PATCH /settings': { 'lists.default_limit': 5 },
  'POST /reset': { seed: 2 },
}

const targets = controlRoutes(workspaceService).map(({ method, path, probe }) => {
  const target = String(path).replaceAll(/\{\w+\}/g, 'x')
  return { method, path: target, probe: probe === true, json: BODIES[`${method} ${path}`] }
})

const authorized = { authorization: `Bearer ${TOKEN}` }

test.for<[name: string, status: number, headers: Record<string, string>]>([
  ['no token', 401, {}],
  ['a wrong token', 401, { authorization: 'Bearer wrong' }],
  ['an API key as the token', 401, { authorization: 'Bearer live_owner' }],
  ['a foreign Origin', 403, { ...authorized, origin: 'https://example.com' }],
  ['a foreign Host', 403, { ...authorized, host: 'example.com' }],
  ['a malformed Host', 400, { ...authorized, host: 'http://127.0.0.1/' }],
])('every route refuses %s, and nothing changes', async ([, status, headers]) => {
  const { emulator, digest } = await testEmulator({ controlToken: TOKEN })
  const before = digest()
  for (const { method, path, probe, json } of targets) {
    if (probe && status === 401) continue
    const response = await callControl(emulator.port, method, path, json, { headers })
    expect([method, path, response.status]).toEqual([method, path, status])
    expect(response.body).toMatchObject({ status_code: status, retryable: false })
  }
  expect(digest()).toBe(before)
})

test('probes need no token, because a supervisor of the process cannot know a token created for the run', async () => {
  const emulator = await controlEmulator({ token: TOKEN })
  const probes = targets.filter(({ probe }) => probe)
  expect(probes.map(({ path }) => path)).toEqual(['/health', '/ready'])
  for (const { method, path } of probes) expect((await emulator.call(method, path)).status).toBe(200)
})

test.for([
  ['text/plain', '{"clock":"2030-01-01T00:00:00Z"}'],
  ['application/x-www-form-urlencoded', 'clock=2030-01-01T00:00:00Z'],
  ['', '{}'],
] as const)('a body of the type "%s" is refused with 415 by every route that writes', async ([type, raw]) => {
  const { emulator, digest } = await testEmulator()
  const before = digest()
  const how = { raw, headers: { 'content-type': type } }
  for (const { method, path } of targets.filter(({ method }) => method !== 'GET')) {
    const { status } = await callControl(emulator.port, method, path, undefined, how)
    expect([method, path, status]).toEqual([method, path, 415])
  }
  expect(digest()).toBe(before)
})

test('unknown paths and wrong methods are guarded like routes, and no token is read from a query', async () => {
  const emulator = await controlEmulator({ token: TOKEN })
  expect((await emulator.call('GET', `/clock?token=${TOKEN}`)).status).toBe(401)
  expect((await emulator.call('GET', '/nowhere')).status).toBe(401)
  expect((await emulator.call('OPTIONS', '/clock')).status).toBe(401)
  const origin = { headers: { ...authorized, origin: 'https://example.com' } }
  expect((await emulator.call('GET', '/nowhere', undefined, origin)).status).toBe(403)
})

test('no response can be framed, cached, read as another type or read by other origins', async () => {
  const emulator = await controlEmulator({ token: TOKEN, forgiving: true })
  const headers = { ...authorized, origin: `http://127.0.0.1:${emulator.port}` }
  for (const [method, path, json, how, status] of [
    ['GET', '/clock', undefined, { headers }, 200],
    ['GET', '/events', undefined, { headers }, 200],
    ['DELETE', '/requests', undefined, { headers }, 204],
    ['GET', '/clock', undefined, {}, 401],
    ['GET', '/clock', undefined, { headers: { ...authorized, host: 'example.com' } }, 403],
    ['GET', '/state/%zz', undefined, { headers }, 400],
    ['OPTIONS', '/clock', undefined, { headers }, 405],
    ['POST', '/reset', undefined, { raw: '{}', headers: { ...headers, 'content-type': 'x/y' } }, 415],
    ['POST', '/break', undefined, { headers }, 500],
  ] as const) {
    const response = await emulator.call(method, path, json, how)
    expect([method, path, response.status]).toEqual([method, path, status])
    expect(response.headers).toMatchObject({
      'content-security-policy': "frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-emulator-version': expect.stringMatching(/\d/),
    })
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

test.for([
  ['cross-site', 403, 0],
  ['same-site', 403, 0],
  ['same-origin', 401, 1],
] as const)('X1 an image of a %s page gets a %i and %i sandboxes', async ([site, status, created]) => {
  const emulator = await testEmulator()
  const image = { headers: { 'sec-fetch-site': site }, authorization: undefined }
  expect((await send(emulator, 'GET', '/@image/v1/data-views', image)).status).toBe(status)
  expect(made(emulator)).toHaveLength(created)
})
