import { expect, test } from 'vitest'
import { service } from '../../src/core/service.ts'
import { serviceFacts, workspaceService } from '../../src/emulator/service.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { type ControlRequestOptions, callControl, controlEmulator } from '../support/control-emulator.ts'
import { testEmulator } from '../support/emulator.ts'
import { library } from '../support/library.ts'
import { pipelined } from '../support/pipeline.ts'

const TOKEN = 'control-token-of-this-test'
const routes = controlRoutes(service([library], serviceFacts))

/** Valid bodies of the writing routes: a guard that lets one through changes the state. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /clock': { rate: 5 },
  'POST /clock/advance': { by: '1h' },
  'PUT /state/shelves/s1': { name: 'Changed', note: null, created_at: '2026-01-01T00:00:00.000Z' },
  'PATCH /state/shelves/s1': { name: 'Changed' },
  'POST /fixtures': { collections: { shelves: [] } },
  'PUT /limits/books.list': { limit: 1 },
  'POST /limits/books.list/fill': { remaining: 0 },
  'POST /faults': { match: 'everything', do: [{ respond: { status: 500 } }] },
  'PATCH /settings': { 'shelves.name_bound': 30 },
  'POST /shelves/s1/close': { after: '1h' },
}

const PARAMS: Readonly<Record<string, string>> = {
  collection: 'shelves',
  id: 's1',
  operation: 'books.list',
  code: 'not_found',
}

const targets = routes.map(({ method, path, probe }) => ({
  probe: probe === true,
  method,
  path: String(path).replaceAll(/\{(\w+)\}/g, (_, name: string) => PARAMS[name] ?? name),
}))

const authorized = { authorization: `Bearer ${TOKEN}` }

const guards: readonly [name: string, status: number, options: (port: number) => ControlRequestOptions][] = [
  ['no token', 401, () => ({})],
  ['a wrong token', 401, () => ({ headers: { authorization: 'Bearer wrong' } })],
  ['an API key as the token', 401, () => ({ headers: { authorization: 'Bearer live_a' } })],
  ['a foreign Origin', 403, () => ({ headers: { ...authorized, origin: 'https://example.com' } })],
  ['the opaque Origin', 403, () => ({ headers: { ...authorized, origin: 'null' } })],
  ['the Origin of another port', 403, () => ({ headers: { ...authorized, origin: 'http://localhost:1' } })],
  [
    'our Origin over https',
    403,
    (port) => ({ headers: { ...authorized, origin: `https://127.0.0.1:${port}` } }),
  ],
  ['a foreign Host', 403, () => ({ headers: { ...authorized, host: 'example.com' } })],
  ['a Host with another port', 403, () => ({ headers: { ...authorized, host: '127.0.0.1:1' } })],
  ['a malformed Host', 400, () => ({ headers: { ...authorized, host: 'http://127.0.0.1/' } })],
]

test('the list of targets covers every route, and the bodies belong to routes', () => {
  expect(targets.length).toBe(routes.length)
  expect(targets.length).toBeGreaterThan(25)
  const known = targets.map(({ method, path }) => `${method} ${path}`)
  expect(Object.keys(BODIES).filter((name) => !known.includes(name))).toEqual([])
})

test.for(guards)('every route refuses %s, and nothing changes', async ([, status, options]) => {
  const emulator = await controlEmulator({ token: TOKEN })
  const [state, limits] = [emulator.digest(), JSON.stringify(emulator.sandbox.limits.windows.save())]
  for (const { method, path, probe } of targets) {
    if (probe && status === 401) continue
    const response = await emulator.call(method, path, BODIES[`${method} ${path}`], options(emulator.port))
    expect([method, path, response.status]).toEqual([method, path, status])
    expect(response.body).toMatchObject({ status_code: status, retryable: false })
  }
  expect(emulator.digest()).toBe(state)
  expect(JSON.stringify(emulator.sandbox.limits.windows.save())).toBe(limits)
})

test.for(guards)(
  'every route of the emulator itself refuses %s, and nothing changes',
  async ([, status, options]) => {
    const emulator = await testEmulator({ controlToken: TOKEN })
    const { port } = emulator.emulator
    const before = emulator.digest()
    for (const { method, path, probe } of controlRoutes(workspaceService)) {
      if (probe === true && status === 401) continue
      const target = String(path).replaceAll(/\{\w+\}/g, 'x')
      const response = await callControl(port, method, target, undefined, options(port))
      expect([method, path, response.status]).toEqual([method, path, status])
    }
    expect(emulator.digest()).toBe(before)
  },
)

test('probes need no token, because a supervisor of the process cannot know a token created for the run', async () => {
  const emulator = await controlEmulator({ token: TOKEN })
  const probes = targets.filter(({ probe }) => probe)
  expect(probes.map(({ path }) => path)).toEqual(['/health', '/ready'])
  for (const { method, path } of probes) expect((await emulator.call(method, path)).status).toBe(200)
})

test.for([
  ['text/plain', '{"clock":"2030-01-01T00:00:00Z"}'],
  ['application/x-www-form-urlencoded', 'clock=2030-01-01T00:00:00Z'],
  ['multipart/form-data; boundary=x', '--x--'],
  ['application/jsonp', '{}'],
  ['text/json', '{}'],
  ['application/vnd.x+json', '{}'],
])('a body of the type %s is refused with 415 by every route that writes', async ([type, raw]) => {
  const emulator = await controlEmulator()
  const before = emulator.digest()
  for (const { method, path } of targets.filter(({ method }) => method !== 'GET')) {
    const response = await emulator.call(method, path, undefined, {
      raw: raw ?? '',
      headers: { 'content-type': type ?? '' },
    })
    expect([method, path, response.status]).toEqual([method, path, 415])
  }
  expect(emulator.digest()).toBe(before)
})

test('a body without a type is refused as well', async () => {
  const emulator = await controlEmulator()
  const response = await emulator.call('POST', '/reset', undefined, {
    raw: '{}',
    headers: { 'content-type': '' },
  })
  expect(response.status).toBe(415)
})

test('unknown paths and wrong methods are guarded like routes', async () => {
  const emulator = await controlEmulator({ token: TOKEN })
  expect((await emulator.call('GET', '/nowhere')).status).toBe(401)
  expect((await emulator.call('OPTIONS', '/clock')).status).toBe(401)
  const origin = { headers: { ...authorized, origin: 'https://example.com' } }
  expect((await emulator.call('GET', '/nowhere', undefined, origin)).status).toBe(403)
})

test('a preflight gets no CORS header, and neither does a response to a page of the emulator', async () => {
  const emulator = await controlEmulator({ token: TOKEN })
  const origin = `http://127.0.0.1:${emulator.port}`
  const headers = { ...authorized, origin }
  for (const [method, path] of [
    ['OPTIONS', '/clock'],
    ['GET', '/clock'],
    ['GET', '/nowhere'],
  ] as const) {
    const response = await emulator.call(method, path, undefined, { headers })
    const cors = Object.keys(response.headers).filter((name) => name.startsWith('access-control-'))
    expect(cors).toEqual([])
    expect(response.headers['cross-origin-resource-policy']).toBe('same-origin')
    expect(response.headers['x-content-type-options']).toBe('nosniff')
  }
})

test('no response can be framed, cached or read as another type', async () => {
  const emulator = await controlEmulator({ token: TOKEN, forgiving: true })
  const post = (raw: string, type = 'application/json') => ({
    raw,
    headers: { ...authorized, 'content-type': type },
  })
  const responses = [
    ['GET', '/clock', undefined, { headers: authorized }, 200],
    ['HEAD', '/clock', undefined, { headers: authorized }, 200],
    ['GET', '/health', undefined, {}, 200],
    ['GET', '/events', undefined, { headers: authorized }, 200],
    ['DELETE', '/requests', undefined, { headers: authorized }, 204],
    ['POST', '/clock/advance', undefined, post('{'), 400],
    ['GET', '/clock', undefined, {}, 401],
    ['GET', '/clock', undefined, { headers: { ...authorized, host: 'example.com' } }, 403],
    ['GET', '/%zz', undefined, { headers: authorized }, 404],
    ['GET', '/state/%zz', undefined, { headers: authorized }, 400],
    ['GET', '/nowhere', undefined, { headers: authorized }, 404],
    ['PUT', '/clock', undefined, { headers: authorized }, 405],
    ['POST', '/requests/verify', { match: { method: 'PUT' } }, { headers: authorized }, 409],
    ['POST', '/reset', undefined, post('{}', 'text/plain'), 415],
    ['POST', '/break', undefined, { headers: authorized }, 500],
  ] as const
  for (const [method, path, json, how, status] of responses) {
    const response = await emulator.call(method, path, json, how)
    expect([method, path, response.status]).toEqual([method, path, status])
    expect(response.headers).toMatchObject({
      'content-security-policy': "frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-emulator-version': expect.stringMatching(/\d/),
    })
  }
})

test('a request with the token reaches every route', async () => {
  const emulator = await controlEmulator({ token: TOKEN, forgiving: true })
  for (const { method, path } of targets.filter(({ path }) => path !== '/break')) {
    const response = await emulator.call(method, path, BODIES[`${method} ${path}`], { headers: authorized })
    expect([method, path, [401, 403, 405, 415].includes(response.status)]).toEqual([method, path, false])
    expect([method, path, response.body?.error]).not.toEqual([method, path, 'route_not_found'])
  }
})

test('the token is not read from the query, and is not an API key', async () => {
  const emulator = await controlEmulator({ token: TOKEN })
  expect((await emulator.call('GET', `/clock?token=${TOKEN}`)).status).toBe(401)
  expect(emulator.perform('books.list', {}, undefined, TOKEN)).toBe(401)
})

test('without a token set, local clients need none', async () => {
  const emulator = await controlEmulator()
  expect((await emulator.call('GET', '/clock')).status).toBe(200)
  expect(
    (await emulator.call('GET', '/clock', undefined, { headers: { host: `localhost:${emulator.port}` } }))
      .status,
  ).toBe(200)
})

test('X1 an image or a link on a page of another site, which send no Origin, create no sandbox', async () => {
  const { emulator } = await testEmulator()
  const own = `Host: 127.0.0.1:${emulator.port}`
  const get = (path: string, site: string) =>
    pipelined(emulator.port, [{ lines: [`GET ${path} HTTP/1.1`, own, `Sec-Fetch-Site: ${site}`] }])
  for (const site of ['cross-site', 'same-site']) {
    expect(await get('/@image/__emulator/clock', site)).toEqual([403])
    expect(await get('/@image/v1/teamspaces/users', site)).toEqual([403])
    expect(await get('/__emulator/clock', site)).toEqual([200])
  }
  expect(emulator.sandboxes.list()).toHaveLength(1)
  expect(await get('/@typed/v1/data-views', 'none')).toEqual([401])
  expect(await get('/@own/v1/data-views', 'same-origin')).toEqual([401])
  expect(emulator.sandboxes.list()).toHaveLength(3)
})

test('X2 a preflight below the path of a sandbox creates no sandbox, needs no key and uses no quota', async () => {
  const { emulator } = await testEmulator()
  const { sandboxes, port } = emulator
  const preflight = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' },
    })
  for (let n = 0; n < 200; n++) {
    const response = await preflight(n % 2 === 0 ? '/@absent/v1/pages' : '/v1/pages')
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'http://localhost:5173',
    ])
  }
  expect(sandboxes.list()).toHaveLength(1)
  expect(sandboxes.default.limits.windows.save()).toEqual([])
  const response = await fetch(`http://127.0.0.1:${port}/@absent/v1/pages`, {
    method: 'POST',
    headers: { origin: 'http://localhost:5173' },
  })
  expect(response.headers.get('access-control-expose-headers')).toContain('X-RateLimit-Remaining')
  expect(response.headers.get('x-ratelimit-remaining')).not.toBeNull()
})
