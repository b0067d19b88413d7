import { expect, test } from 'vitest'
import {
  allowHosts,
  corsHeaders,
  type GuardedRequest,
  headerValues,
  isPreflight,
  originAllowed,
  preflightHeaders,
  refuseHost,
  refusePage,
} from './guard.ts'

const local = allowHosts('127.0.0.1')

function requestTo(localPort: number | undefined, ...rawHeaders: string[]): GuardedRequest {
  return { rawHeaders, socket: { localPort } }
}

/** The status with which a Host header is refused; 200 when it is not. */
function statusOf(host: string | readonly string[], allowed = local, port = 4010): number {
  const values = typeof host === 'string' ? [host] : host
  const refusal = refuseHost(requestTo(port, ...values.flatMap((value) => ['Host', value])), allowed)
  return refusal?.options.status ?? 200
}

const words = (text: string) => text.trim().split(/\s+/)

const FOREIGN_HOSTS = `
  evil.example:4010 localhost localhost:4011 localhost:04010 localhost.:4010 a.localhost:4010
  localhost.evil.example:4010 127.1:4010 0177.0.0.1:4010 2130706433:4010 0x7f000001:4010 0.0.0.0:4010
  [::]:4010 [::ffff:127.0.0.1]:4010 [0:0:0:0:0:0:0:1]:4010 __proto__:4010 constructor`

const MALFORMED_HOSTS = `
  localhost:4010/ http://localhost:4010 user@localhost:4010 localhost: localhost:port localhost:401000
  ::1:4010 :4010 localhost:4010?x münchen:4010`

const ODD_HOSTS = ['', 'local host:4010', '127.0.0.1:4010, evil', [], ['localhost:4010', 'localhost:4010']]

test.for<[what: string, status: number, hosts: readonly (string | string[])[]]>([
  ['own name, in any letter case', 200, words('localhost:4010 LOCALHOST:4010 127.0.0.1:4010 [::1]:4010')],
  ['foreign name, even an odd spelling of loopback', 403, words(FOREIGN_HOSTS)],
  ['missing, repeated or malformed host', 400, [...words(MALFORMED_HOSTS), ...ODD_HOSTS]],
])('each %s has the status %i', ([, status, hosts]) => {
  for (const host of hosts) expect([host, statusOf(host)]).toEqual([host, status])
})

test('the port may be omitted on ports 80 and 443', () => {
  const statuses = (port: number, hosts: string) =>
    words(hosts).map((host) => statusOf(host, allowHosts('0.0.0.0'), port))
  expect(statuses(80, 'localhost localhost:80 [::1] 0.0.0.0')).toEqual([200, 200, 200, 200])
  expect(statuses(443, 'localhost localhost:443')).toEqual([200, 200])
  expect(statuses(80, 'localhost:4010')).toEqual([403])
})

test('an allowed name is accepted with and without the own port, a name with a port only as given', () => {
  const allowed = allowHosts('::', ['Emulator', 'api.test:8080', '::1', 'fe80::1'])
  const pass = words('emulator EMULATOR:4010 api.test:8080 [::1] [fe80::1] [fe80::1]:4010 [::]:4010')
  expect(pass.map((host) => statusOf(host, allowed))).toEqual(pass.map(() => 200))
  const fail = ['emulator:80', 'api.test', 'api.test:4010']
  expect(fail.map((host) => statusOf(host, allowed))).toEqual(fail.map(() => 403))
})

test('an entry that is not a valid host throws at once', () => {
  for (const entry of ['http://api', 'api:port', '', 'a b', '*']) {
    expect(() => allowHosts('::1', [entry]), entry).toThrow(/is not a host.*such as `api:8080`/)
  }
})

test('the allowed port is that of the connection, so that a server of the user can have another one', () => {
  expect(statusOf('localhost:5000', local, 5000)).toBe(200)
  expect(statusOf('localhost:4010', local, 5000)).toBe(403)
  const named = allowHosts('127.0.0.1', ['api.test'])
  expect(['api.test', 'api.test:5000'].map((host) => statusOf(host, named, 5000))).toEqual([200, 200])
  const overUnixSocket = (host: string) => refuseHost(requestTo(undefined, 'Host', host), named) === undefined
  expect(['localhost', 'api.test', 'localhost:5000'].map(overUnixSocket)).toEqual([true, true, false])
})

test('the refusal of a foreign host names the fix', () => {
  const refusal = refuseHost(requestTo(4010, 'Host', 'api:8080'), local)
  expect([refusal?.code, refusal?.options.status]).toEqual(['forbidden', 403])
  expect(refusal?.options.detail).toBe(
    'The host `api:8080` is not allowed. Allowed hosts are localhost:4010, 127.0.0.1:4010, [::1]:4010. ' +
      'Start the emulator with --allow-host api:8080 (allowHosts in JavaScript) to allow it.',
  )
})

const LOCAL_PAGES = `
  http://localhost http://localhost:3000 https://localhost:65535 http://app.localhost:5173
  https://a.b-c.localhost http://127.0.0.1:1 http://[::1]:3000`

const OTHER_PAGES = String.raw`
  null * localhost:3000 http://localhost/ http://localhost:3000/ http://localhost: http://localhost:0
  http://localhost:65536 http://localhost:03000 http://LOCALHOST:3000 http://.localhost http://evillocalhost
  http://localhost.evil.example http://127.0.0.1.evil.example http://127.0.0.2 http://user@localhost
  ftp://localhost file://localhost http://a\.localhost`

test.for<[what: string, allowed: boolean, origins: readonly (string | undefined)[]]>([
  ['this machine', true, words(LOCAL_PAGES)],
  ['others', false, [undefined, '', 'http://localhost\n', ...words(OTHER_PAGES)]],
])('X2 pages of %s may read the responses: %s', ([, allowed, origins]) => {
  for (const origin of origins) expect([origin, originAllowed(origin, [])]).toEqual([origin, allowed])
})

test('a very long origin is checked quickly', () => {
  expect(originAllowed(`http://${'a.'.repeat(50_000)}example`, [])).toBe(false)
})

test.for<[entry: string, origin: string | undefined, allowed: boolean]>([
  ['https://app.example', 'https://app.example', true],
  ['https://app.example', 'http://app.example', false],
  ['*', 'https://any.example', true],
  ['*', 'null', false],
  ['*', undefined, false],
  ['*', '', false],
  ['null', 'null', true],
])('the entry %s allows the origin %j: %s', ([entry, origin, allowed]) => {
  expect(originAllowed(origin, [entry])).toBe(allowed)
})

function isForeignPage(origin: string | undefined): boolean {
  const own = ['Host', 'localhost:4010', ...(origin === undefined ? [] : ['Origin', origin])]
  return refusePage(requestTo(4010, ...own), local) !== undefined
}

test('X1 only its own pages and clients without an origin may use the control API', () => {
  for (const origin of [undefined, 'http://localhost:4010', 'http://127.0.0.1:4010', 'http://[::1]:4010'])
    expect(isForeignPage(origin), String(origin)).toBe(false)
  const foreign = `null http://localhost http://localhost:3000 https://localhost:4010 http://localhost:4010/
    http://evil.example:4010 localhost:4010`
  for (const origin of ['', ...words(foreign)]) expect(isForeignPage(origin), origin).toBe(true)
})

const ORIGIN = 'http://localhost:3000'
const allowed = { origin: ORIGIN, allowed: true }
const ask = { origin: ORIGIN, 'access-control-request-method': 'POST' }

test('X2 an allowed origin is reflected, can read the quota headers, and gets no credentials', () => {
  const headers = new Map(corsHeaders(allowed))
  expect(headers.get('Access-Control-Allow-Origin')).toBe(ORIGIN)
  expect(headers.get('Vary')).toBe('Origin')
  const exposed = `Date X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset Retry-After RateLimit
    RateLimit-Policy X-Emulator-Request-Id X-Emulator-Assumed X-Emulator-Fault`
  expect(headers.get('Access-Control-Expose-Headers')?.split(', ')).toEqual(words(exposed))
  expect(headers.has('Access-Control-Allow-Credentials')).toBe(false)
})

test('X2 a foreign or missing origin is granted nothing', () => {
  for (const origin of ['http://evil.example', undefined])
    expect(corsHeaders({ origin, allowed: false })).toEqual([['Vary', 'Origin']])
})

test('only an OPTIONS request with origin and requested method is a preflight', () => {
  expect(isPreflight(ask)).toBe(true)
  expect(isPreflight({ origin: ORIGIN })).toBe(false)
  expect(isPreflight({ 'access-control-request-method': 'POST' })).toBe(false)
})

test('X2 a preflight of an allowed origin is granted all methods and the requested headers', () => {
  const headers = preflightHeaders(allowed, {
    ...ask,
    'access-control-request-headers': 'authorization, idempotency-key,X-Custom-Lang',
  })
  expect(Object.fromEntries(headers)).toEqual({
    Vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network',
    'Access-Control-Allow-Origin': ORIGIN,
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PATCH, DELETE',
    'Access-Control-Allow-Headers': 'authorization, idempotency-key, X-Custom-Lang',
    'Access-Control-Max-Age': '600',
  })
})

test.for([
  ['headers', 'a, b c, d\u00e9, , e:f, "g", x-ok', 'a, x-ok'],
  ['headers', ' , ', undefined],
  ['private-network', 'true', 'true'],
  ['private-network', 'false', undefined],
])('a preflight that requests the %s %j is granted %j', ([what, value, granted]) => {
  const headers = preflightHeaders(allowed, { ...ask, [`access-control-request-${what}`]: value })
  const found = headers.find(([name]) => name.toLowerCase() === `access-control-allow-${what}`)
  expect(found?.[1]).toBe(granted)
})

test('all values of a header are found, in any letter case and in order', () => {
  const raw = ['Host', 'a', 'X-Other', 'host', 'HOST', 'b', 'host', '']
  expect(headerValues(raw, 'Host')).toEqual(['a', 'b', ''])
  expect(headerValues(raw, 'constructor')).toEqual([])
})
