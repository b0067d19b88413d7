import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { workspaceService } from '../../../src/emulator/service.ts'
import { KEYS } from '../../support/base-state.ts'
import { type Said, type Sent, send } from '../../support/send.ts'
import { type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { against, digestOf } from './emulator.ts'

/** Origins that may read responses wherever the emulator runs. */
const LOOPBACK_ORIGINS = [
  'http://localhost',
  'http://localhost:5173',
  'https://localhost:5173',
  'http://127.0.0.1:3000',
  'http://[::1]:3000',
  'http://app.localhost:5173',
  'http://a.b-c.localhost',
  'http://localhost:65535',
] as const

const FOREIGN_ORIGINS = [
  'https://example.com',
  'null',
  'file://',
  'http://localhost.example.com',
  'http://127.0.0.1.example.com',
  'http://example.com@localhost',
  'http://localhost@example.com',
  'http://localhost:5173@example.com',
  'http://notlocalhost:5173',
  'http://.localhost',
  'http://127.0.0.2:3000',
  'http://127.1:3000',
  'http://2130706433:3000',
  'http://0.0.0.0:3000',
  'http://[::]:3000',
  'http://[::ffff:127.0.0.1]:3000',
  'http://192.168.0.1:3000',
  'http://localhost:0',
  'http://localhost:99999',
  'http://localhost:5173/',
  'http://localhost:5173/x',
  'http://LOCALHOST:5173',
  'http://localhost.:5173',
  'http://localhost, http://example.com',
  'ftp://localhost',
  'ws://localhost:5173',
  'chrome-extension://localhost',
] as const

/** A request of the API, and its expected status. */
interface Case {
  readonly method: string
  readonly path: string
  readonly said?: Said
  readonly status: number
}

const OVERSIZED = '"'.padEnd(1_100_000, 'x')

/** One response of each kind of the API, except errors of the wire, which have no origin. */
const CASES: readonly Case[] = [
  { method: 'GET', path: '/v1/data-views', status: 200 },
  { method: 'HEAD', path: '/v1/data-views', status: 200 },
  { method: 'GET', path: '/@absent/v1/data-views', status: 200 },
  { method: 'GET', path: '/v1/data-views', said: { authorization: undefined }, status: 401 },
  { method: 'GET', path: '/v1/data-views', said: { authorization: 'Bearer live_nobody' }, status: 401 },
  { method: 'GET', path: '/v1/nowhere', status: 404 },
  { method: 'GET', path: '/nowhere', status: 404 },
  { method: 'GET', path: '/v1/batch-predictions/none', status: 404 },
  { method: 'PUT', path: '/v1/pages', status: 405 },
  { method: 'GET', path: '/v1/data-views?nonsense=1', status: 200 },
  { method: 'GET', path: '/v1/data-views', said: { headers: { 'x-emulator-sandbox': 'No' } }, status: 400 },
  { method: 'GET', path: '/v1/data-views', said: { headers: { host: 'example.com' } }, status: 403 },
  { method: 'POST', path: '/v1/pages', said: { raw: '{' }, status: 400 },
  { method: 'POST', path: '/v1/pages', said: { raw: OVERSIZED }, status: 413 },
  {
    method: 'POST',
    path: '/v1/pages',
    said: { raw: 'x', headers: { 'content-type': 'text/plain' } },
    status: 415,
  },
  { method: 'GET', path: '/v1/data-views', said: { headers: { expect: 'nonsense' } }, status: 417 },
  { method: 'GET', path: '/v1/organization/mcp-servers', status: 429 },
  { method: 'POST', path: '/v1/batch-predictions', said: { json: {} }, status: 400 },
  { method: 'GET', path: '/v1/search', status: 501 },
]

/** The headers of a response that a page may want to read. */
const TOLD = /^(x-ratelimit-|ratelimit|retry-after$|x-emulator-)/
const GRANTS = /^access-control-/

const grantsOf = ({ headers }: Sent) => Object.keys(headers).filter((name) => GRANTS.test(name))

/** The parts of a response that a page of an allowed origin needs and that are missing. */
function lacking({ headers }: Sent, origin: string): string[] {
  const exposed = String(headers['access-control-expose-headers'] ?? '')
    .toLowerCase()
    .split(', ')
  const hidden = Object.keys(headers).filter((name) => TOLD.test(name) && !exposed.includes(name))
  return [
    ...(headers['access-control-allow-origin'] === origin ? [] : ['its origin is not allowed']),
    ...(headers['access-control-allow-credentials'] === undefined ? [] : ['credentials are allowed']),
    ...hidden.map((name) => `${name} cannot be read`),
    ...variesBy(headers),
  ]
}

// Otherwise a cache could return the response for one origin to another.
function variesBy(headers: Sent['headers']): string[] {
  return /\borigin\b/i.test(String(headers.vary ?? '')) ? [] : ['it does not vary by origin']
}

/** The failures for a table of origins. */
async function judge(
  emulator: RunningEmulator,
  origins: Readonly<Record<'allowed' | 'foreign', readonly string[]>>,
  found: string[],
  scale: Scale,
): Promise<number> {
  let responses = 0
  for (const [n, { method, path, said = {}, status }] of CASES.entries()) {
    for (const origin of [...origins.allowed, ...some(origins.foreign, n, scale)]) {
      const isAllowed = origins.allowed.includes(origin)
      const headers = { ...said.headers, origin }
      const response = await send({ emulator }, method, path, { ...said, headers })
      const wrong = isAllowed
        ? lacking(response, origin)
        : [...grantsOf(response).map((name) => `has ${name}`), ...variesBy(response.headers)]
      // A page that may not read responses may not create sandboxes either.
      const expected = !isAllowed && path.startsWith('/@absent') && status === 200 ? [200, 403] : [status]
      if (!expected.includes(response.status)) wrong.push(`got ${response.status}`)
      found.push(...wrong.map((each) => `${method} ${path} from ${origin}: ${each}`))
      responses += 1
    }
  }
  return responses
}

/** Preflights of all operations: allowed origins are granted, others are not, and no preflight uses quota. */
async function preflights(emulator: RunningEmulator, found: string[], scale: Scale): Promise<number> {
  const operations = [...workspaceService.operations.values()]
  const targets = [...operations.map(({ method, path }) => ({ method, path: `/v1${path}` }))]
  targets.push({ method: 'POST', path: '/@never-made/v1/pages' }, { method: 'GET', path: '/v1/nowhere' })
  // Refused preflights are logged, and have numbers; nothing else may change.
  const before = digestOf(emulator, { withRequests: false })
  const log = emulator.sandbox.log
  const logged = log.requests
  let [count, refused] = [0, 0]
  for (const [n, { method, path }] of targets.entries()) {
    for (const origin of [
      LOOPBACK_ORIGINS[count % LOOPBACK_ORIGINS.length] ?? '',
      ...some(FOREIGN_ORIGINS, n, scale),
    ]) {
      const headers = {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type,idempotency-key,x-any-of-ours',
      }
      const response = await send({ emulator }, 'OPTIONS', path.replaceAll(/\{\w+\}/g, 'x'), {
        headers,
        authorization: undefined,
      })
      const isAllowed = (LOOPBACK_ORIGINS as readonly string[]).includes(origin)
      refused += isAllowed ? 0 : 1
      const wrong = isAllowed ? ungranted(response, method, headers) : grantsOf(response)
      if (response.status !== 204 || response.text !== '') wrong.push(`got ${response.status}`)
      found.push(...wrong.map((each) => `preflight of ${method} ${path} from ${origin}: ${each}`))
      count += 1
    }
  }
  if (digestOf(emulator, { withRequests: false }) !== before) found.push('preflights have changed the state')
  if (log.requests - logged !== refused) found.push('not exactly the refused preflights are in the log')
  return count
}

// In the long scale all origins, in the short one an eighth of them in each turn.
function some(origins: readonly string[], turn: number, scale: Scale): readonly string[] {
  return origins.filter((_, at) => scale === 'long' || (at + turn) % 8 === 0)
}

function ungranted({ headers }: Sent, method: string, asked: Readonly<Record<string, string>>): string[] {
  const granted = (name: string) => String(headers[name] ?? '').split(/, ?/)
  const names = granted('access-control-allow-headers')
  const wanted = String(asked['access-control-request-headers']).split(',')
  return [
    ...(headers['access-control-allow-origin'] === asked.origin ? [] : ['origin']),
    ...(granted('access-control-allow-methods').includes(method) ? [] : ['method']),
    ...wanted.filter((name) => !names.includes(name)),
    ...(headers['access-control-allow-credentials'] === undefined ? [] : ['credentials are allowed']),
  ]
}

/**
 * No page of another origin may read a response of the control interface, not even the origin of an API client.
 * @param allowed the only origins that --control-origin allows
 */
async function control(
  emulator: RunningEmulator,
  found: string[],
  allowed: readonly string[] = [],
): Promise<number> {
  const { body } = await send({ emulator }, 'GET', '/__emulator/', { authorization: undefined })
  const routes = body.routes as { method: string; path: string }[]
  const origins = [
    `http://127.0.0.1:${emulator.port}`,
    'http://localhost:5173',
    'https://example.com',
    'http://control.example',
    'https://control.example:8443',
    'null',
    ...allowed,
  ]
  let count = 0
  for (const { method, path } of [...routes, { method: 'GET', path: '/__emulator/nowhere' }]) {
    // Routes that change something are only tested with a preflight, so that they change nothing.
    for (const verb of method === 'GET' ? ['GET', 'OPTIONS'] : ['OPTIONS']) {
      for (const origin of origins) {
        const headers = { origin, 'access-control-request-method': method }
        const target = path.replaceAll(/\{\w+\}/g, 'x')
        const response = await send({ emulator }, verb, target, { headers, authorization: undefined })
        const wrong = allowed.includes(origin)
          ? [response.headers['access-control-allow-origin'] === origin ? [] : ['no grant']].flat()
          : grantsOf(response)
        found.push(...wrong.map((name) => `${verb} ${target} from ${origin} has ${name}`))
        count += 1
      }
    }
  }
  return count
}

/** Uses up the quota of one operation only. */
async function exhaust({ emulator }: { readonly emulator: RunningEmulator }): Promise<void> {
  const put = (name: string, limit: number) =>
    send({ emulator }, 'PUT', `/__emulator/limits/${name}`, { json: { limit }, authorization: undefined })
  for (const name of workspaceService.operations.keys()) await put(name, 100_000)
  await put('mcp-servers.list', 1)
  await send({ emulator }, 'GET', '/v1/organization/mcp-servers', { authorization: `Bearer ${KEYS.KU}` })
}

async function run(scale: Scale): Promise<readonly Figure[]> {
  const found: string[] = []
  let [responses, asked, controlled] = [0, 0, 0]
  await against({}, async ({ emulator }) => {
    await exhaust({ emulator })
    const origins = { allowed: LOOPBACK_ORIGINS, foreign: FOREIGN_ORIGINS }
    responses += await judge(emulator, origins, found, scale)
    asked = await preflights(emulator, found, scale)
    controlled = await control(emulator, found)
  })
  const own = ['https://control.example']
  await against({ controlOrigins: own }, async ({ emulator }) => {
    controlled += await control(emulator, found, own)
  })
  const all = FOREIGN_ORIGINS.filter((origin) => origin !== 'null')
  for (const [given, allowed, foreign] of [
    [
      'https://app.example',
      ['https://app.example'],
      ['http://app.example', 'https://app.example:8443', 'null'],
    ],
    ['*', all, ['null']],
    ['null', ['null', 'http://localhost:5173'], ['https://example.com']],
  ] as const) {
    await against({ corsOrigins: [given] }, async ({ emulator }) => {
      await exhaust({ emulator })
      responses += await judge(emulator, { allowed, foreign }, found, scale)
    })
  }
  return [
    tried('origins', LOOPBACK_ORIGINS.length + FOREIGN_ORIGINS.length),
    tried('responses checked', responses),
    tried('preflights', asked),
    tried('control responses', controlled),
    none(`wrong${found.length === 0 ? '' : `, first ${found[0]}`}`, found.length),
  ]
}

export const x2: Proof = {
  id: 'X2',
  promise:
    'Pages of this machine can read every response of the API with its quota headers, pages of other origins can read none, and no page can read the control interface unless its origin is allowed.',
  run,
}
