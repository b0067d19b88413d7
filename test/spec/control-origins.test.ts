import { expect, test } from 'vitest'
import { startEmulator } from '../../src/index.ts'
import { type TestEmulator, testEmulator } from '../support/emulator.ts'
import { keptLogger } from '../support/kept-logger.ts'
import { made, type Said, type Sent, send } from '../support/send.ts'

const PAGE = 'http://localhost:5173'
const TOKEN = 'token-of-this-test'

const call = (emulator: TestEmulator, method: string, path: string, said: Said = {}) =>
  send(emulator, method, `/__emulator${path}`, { authorization: undefined, ...said })

const ASKING = {
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization,content-type',
}
const preflight = (emulator: TestEmulator, origin: string) =>
  call(emulator, 'OPTIONS', '/clock', { headers: { origin, ...ASKING } })

const grantsOf = ({ headers }: Sent) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(access-control-|vary$)/.test(name)))

test('pages of a --control-origin may use the control interface, and read its responses', async () => {
  const emulator = await testEmulator({ controlOrigins: [PAGE] })
  const asked = await preflight(emulator, PAGE)
  expect([asked.status, asked.text]).toEqual([204, ''])
  const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
  const granted = { 'access-control-allow-origin': PAGE, 'access-control-allow-methods': methods }
  expect(grantsOf(asked)).toMatchObject(granted)
  const changed = await call(emulator, 'PATCH', '/clock', { headers: { origin: PAGE }, json: { rate: 5 } })
  expect([changed.status, changed.body.rate]).toEqual([200, 5])
  expect(grantsOf(changed)).toEqual({
    vary: 'Origin',
    'access-control-allow-origin': PAGE,
    'access-control-expose-headers': 'ETag, X-Emulator-Version',
  })
  for (const path of ['/nowhere', '/events']) {
    const { headers } = await call(emulator, 'GET', path, { headers: { origin: PAGE } })
    expect([path, headers['access-control-allow-origin']]).toEqual([path, PAGE])
  }
  const foreign = await call(emulator, 'GET', '/clock', { headers: { origin: PAGE, host: 'example.com' } })
  expect(foreign.status).toBe(403)
})

test('the control token is still required, but a preflight cannot have it', async () => {
  const emulator = await testEmulator({ controlOrigins: [PAGE], controlToken: TOKEN })
  expect((await preflight(emulator, PAGE)).status).toBe(204)
  const get = (headers: Said['headers'] = {}) =>
    call(emulator, 'GET', '/clock', { headers: { origin: PAGE, ...headers } })
  const refused = await get()
  expect([refused.status, grantsOf(refused)['access-control-allow-origin']]).toEqual([401, PAGE])
  expect((await get({ authorization: `Bearer ${TOKEN}` })).status).toBe(200)
})

test('an origin that is not exactly the allowed one is refused as without the option', async () => {
  const emulator = await testEmulator({ controlOrigins: [PAGE], controlToken: TOKEN })
  const before = emulator.digest()
  const json = { rate: 5 }
  // Two header lines.
  const repeated = [
    ['https://example.com', PAGE],
    [PAGE, 'https://example.com'],
  ]
  const near = ['https://localhost:5173', 'http://LOCALHOST:5173', `${PAGE}/`, `${PAGE}.example.com`]
  for (const origin of [
    ...near,
    'http://localhost',
    `${PAGE}, https://example.com`,
    'null',
    '*',
    '',
    ...repeated,
  ]) {
    const headers = { origin, authorization: `Bearer ${TOKEN}` }
    const response = await call(emulator, 'PATCH', '/clock', { headers, json })
    expect([origin, response.status, Object.keys(grantsOf(response))]).toEqual([origin, 403, ['vary']])
  }
  const asked = await preflight(emulator, 'http://localhost:51730')
  expect([asked.status, Object.keys(grantsOf(asked))]).toEqual([403, ['vary']])
  expect(emulator.digest()).toBe(before)
})

test('an allowed page may create a sandbox by naming it, but its images may not', async () => {
  const emulator = await testEmulator({ controlOrigins: [PAGE] })
  const named = async (headers: Said['headers']) => {
    const said = { headers: { 'sec-fetch-site': 'cross-site', ...headers }, json: { rate: 2 } }
    return (await send(emulator, 'PATCH', '/@made/__emulator/clock', { ...said, authorization: undefined }))
      .status
  }
  expect([await named({}), made(emulator)]).toEqual([403, []])
  expect([await named({ origin: PAGE }), made(emulator)]).toEqual([200, ['made']])
})

test('the option is about the control interface only: dashboard and consent pages stay closed', async () => {
  const emulator = await testEmulator({ controlOrigins: ['https://app.example'] })
  const headers = { origin: 'https://app.example' }
  for (const path of ['/__emulator/ui/', '/consent/oauth/x', '/v1/data-views']) {
    const { status, headers: got } = await send(emulator, 'GET', path, { headers })
    expect([path, status]).toEqual([path, path.startsWith('/v1') ? 200 : 403])
    expect(got).not.toHaveProperty('access-control-allow-origin')
  }
})

test('a refused page is reported once in the log, with the fix, because the browser hides the response from it', async () => {
  const { said: warned, logger } = keptLogger('warn')
  const emulator = await testEmulator({ logger })
  for (const origin of [PAGE, PAGE, 'null', 'null']) {
    const refused = await preflight(emulator, origin)
    expect([refused.status, grantsOf(refused)]).toEqual([403, {}])
    expect(refused.body.mitigation).toContain('--control-origin')
  }
  await call(emulator, 'GET', '/clock', { headers: { host: 'example.com' } })
  expect(warned).toEqual([
    `Pages of ${PAGE} may not use the control interface; only its own origin may. Start the emulator with --control-origin ${PAGE} (controlOrigins in JavaScript) to allow them.`,
    'Pages of null may not use the control interface; only its own origin may. Open the page at an origin of its own, such as http://localhost:5173, and start the emulator with --control-origin and that origin (controlOrigins in JavaScript).',
  ])
})

test('the value of the option has to be an origin', async () => {
  for (const value of ['*', 'null', 'http://localhost:5173/', ''])
    await expect(startEmulator({ port: 0, ephemeral: true, controlOrigins: [value] })).rejects.toThrow(
      /\/controlOrigins\/0: must be only scheme, host and port, such as http:\/\/localhost:5173/,
    )
})
