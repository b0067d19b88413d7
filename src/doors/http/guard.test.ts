import { expect, test } from 'vitest'
import { allowHosts, checkHost, isCrossSiteOrigin, originAllowed } from './guard.ts'

const local = allowHosts({ port: 4010, bound: '127.0.0.1', hosts: [] })

/** The status with which a Host header is refused; 200 when it is not. */
function statusOf(host: string | readonly string[], allowed = local): number {
  const verdict = checkHost(typeof host === 'string' ? [host] : host, allowed)
  return verdict.ok ? 200 : verdict.status
}

test('the loopback names with the own port pass, in any case', () => {
  for (const host of ['localhost:4010', 'LOCALHOST:4010', '127.0.0.1:4010', '[::1]:4010']) {
    expect(statusOf(host), host).toBe(200)
  }
})

test('every other host is foreign, also odd spellings of loopback', () => {
  for (const host of [
    'evil.example:4010',
    'localhost',
    'localhost:4011',
    'localhost:04010',
    'localhost.:4010',
    'a.localhost:4010',
    'localhost.evil.example:4010',
    '127.1:4010',
    '0177.0.0.1:4010',
    '2130706433:4010',
    '0x7f000001:4010',
    '0.0.0.0:4010',
    '[::]:4010',
    '[::ffff:127.0.0.1]:4010',
    '[0:0:0:0:0:0:0:1]:4010',
    '__proto__:4010',
    'constructor',
  ]) {
    expect(statusOf(host), host).toBe(403)
  }
})

test('a missing, empty, doubled or malformed host is a bad request', () => {
  expect(statusOf([])).toBe(400)
  expect(statusOf('')).toBe(400)
  expect(statusOf(['localhost:4010', 'localhost:4010'])).toBe(400)
  for (const host of [
    '127.0.0.1:4010, evil',
    'localhost:4010/',
    'http://localhost:4010',
    'user@localhost:4010',
    'localhost:',
    'localhost:port',
    'localhost:401000',
    '::1:4010',
    ':4010',
    'local host:4010',
    'localhost:4010?x',
    'münchen:4010',
  ]) {
    expect(statusOf(host), host).toBe(400)
  }
})

test('on port 80 the port may be left out', () => {
  const web = allowHosts({ port: 80, bound: '0.0.0.0', hosts: [] })
  expect(['localhost', 'localhost:80', '[::1]', '0.0.0.0'].map((host) => statusOf(host, web))).toEqual([
    200, 200, 200, 200,
  ])
  expect(statusOf('localhost:4010', web)).toBe(403)
})

test('an allowed name goes with and without the own port, a name with a port as it is', () => {
  const allowed = allowHosts({
    port: 4010,
    bound: '::',
    hosts: ['Emulator', 'api.test:8080', '::1', 'fe80::1'],
  })
  const pass = [
    'emulator',
    'EMULATOR:4010',
    'api.test:8080',
    '[::1]',
    '[fe80::1]',
    '[fe80::1]:4010',
    '[::]:4010',
  ]
  expect(pass.map((host) => statusOf(host, allowed))).toEqual(pass.map(() => 200))
  const fail = ['emulator:80', 'api.test', 'api.test:4010']
  expect(fail.map((host) => statusOf(host, allowed))).toEqual(fail.map(() => 403))
})

test('an entry that no host can equal is refused when it is made', () => {
  for (const entry of ['http://api', 'api:port', '', 'a b', '*']) {
    expect(() => allowHosts({ port: 4010, bound: '::1', hosts: [entry] }), entry).toThrow(
      /is not a host.*such as `api:8080`/,
    )
  }
})

test('the refusal of a foreign host tells the way out', () => {
  const verdict = checkHost(['api:8080'], local)
  expect(verdict).toEqual({
    ok: false,
    status: 403,
    detail:
      'This server is not addressed as `api:8080`, only as localhost:4010, 127.0.0.1:4010, [::1]:4010. ' +
      'Start it with --allow-host api:8080 to accept it.',
  })
})

test('X2 pages of this machine may read the answers', () => {
  for (const origin of [
    'http://localhost',
    'http://localhost:3000',
    'https://localhost:65535',
    'http://app.localhost:5173',
    'https://a.b-c.localhost',
    'http://127.0.0.1:1',
    'http://[::1]:3000',
  ]) {
    expect(originAllowed(origin, { extra: [] }), origin).toBe(true)
  }
})

test('X2 pages of anyone else may not', () => {
  for (const origin of [
    undefined,
    '',
    'null',
    '*',
    'localhost:3000',
    'http://localhost/',
    'http://localhost:3000/',
    'http://localhost:',
    'http://localhost:0',
    'http://localhost:65536',
    'http://localhost:03000',
    'http://LOCALHOST:3000',
    'http://.localhost',
    'http://evillocalhost',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://127.0.0.2',
    'http://user@localhost',
    'ftp://localhost',
    'file://localhost',
    'http://localhost\n',
    'http://a\\.localhost',
  ]) {
    expect(originAllowed(origin, { extra: [] }), String(origin)).toBe(false)
  }
})

test('an endless origin is judged at once', () => {
  const origin = `http://${'a.'.repeat(50_000)}example`
  expect(originAllowed(origin, { extra: [] })).toBe(false)
})

test('further origins, every origin and the opaque one are allowed only when given', () => {
  const given = { extra: ['https://app.example'] }
  expect(originAllowed('https://app.example', given)).toBe(true)
  expect(originAllowed('http://app.example', given)).toBe(false)
  expect(originAllowed('https://any.example', { extra: ['*'] })).toBe(true)
  expect(originAllowed('null', { extra: ['*'] })).toBe(false)
  expect(originAllowed('null', { extra: ['null'] })).toBe(true)
  expect(originAllowed(undefined, { extra: ['*'] })).toBe(false)
})

test('X1 the control API answers its own pages and clients without an origin, nobody else', () => {
  for (const origin of [undefined, 'http://localhost:4010', 'http://127.0.0.1:4010', 'http://[::1]:4010']) {
    expect(isCrossSiteOrigin(origin, local), String(origin)).toBe(false)
  }
  for (const origin of [
    '',
    'null',
    'http://localhost',
    'http://localhost:3000',
    'https://localhost:4010',
    'http://localhost:4010/',
    'http://evil.example:4010',
    'localhost:4010',
  ]) {
    expect(isCrossSiteOrigin(origin, local), origin).toBe(true)
  }
})
