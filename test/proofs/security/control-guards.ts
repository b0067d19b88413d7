import type { RunningEmulator } from '../../../src/emulator/emulator.ts'
import { KEYS } from '../../support/base-state.ts'
import { pipelined, type RawHead } from '../../support/pipeline.ts'
import { type Figure, none, type Proof, type Scale, tried } from '../proof.ts'
import { against, digestOf, isAlive, type Proving } from './emulator.ts'

const TOKEN = 'control-token-of-this-proof'

/** Values of Host that the emulator must refuse; PORT is its own port. */
const FOREIGN_HOSTS = [
  'example.com',
  'example.com:PORT',
  'localhost.example.com:PORT',
  '127.0.0.1.example.com:PORT',
  'localhost',
  '127.0.0.1',
  '[::1]',
  'localhost:1',
  'localhost:0PORT',
  'localhost:PORT0',
  'localhost.:PORT',
  '127.0.0.1.:PORT',
  '127.1:PORT',
  '127.0.0.2:PORT',
  '0:PORT',
  '0.0.0.0:PORT',
  '2130706433:PORT',
  '0x7f000001:PORT',
  '0177.0.0.1:PORT',
  '127.000.000.001:PORT',
  '[::]:PORT',
  '[::ffff:127.0.0.1]:PORT',
  '[0:0:0:0:0:0:0:1]:PORT',
  '[::1%25lo]:PORT',
  '::1:PORT',
  'user@localhost:PORT',
  'localhost:PORT@example.com',
  'localhost:PORT/',
  'localhost:PORT#',
  'localhost:PORT,example.com',
  'localhost :PORT',
  'http://localhost:PORT',
  'loc%61lhost:PORT',
  'l\u00f6calhost:PORT',
  '169.254.169.254',
  '',
] as const

const FOREIGN_ORIGINS = [
  'https://example.com',
  'null',
  '',
  'file://',
  'http://localhost:1',
  'https://127.0.0.1:PORT',
  'http://localhost.example.com:PORT',
  'http://example.com@127.0.0.1:PORT',
  'http://127.0.0.1:PORT.example.com',
  'http://127.0.0.1:PORT/',
] as const

/** The origin that --control-origin allows in a part of the proof, and origins that resemble it. */
const CONTROL_ORIGIN = 'https://control.example'
const ALMOST_CONTROL_ORIGIN = [
  'http://control.example',
  'https://control.example:443',
  'https://control.example:8443',
  'https://control.example/',
  'https://control.example.',
  'https://CONTROL.example',
  'https://a.control.example',
  'https://control.example.example.com',
  'https://control.example@example.com',
  'https://example.com#https://control.example',
  'https://control.example, https://example.com',
  ' https://control.example null',
  '*',
] as const

/** Content types that any page can send without a preflight, and types that resemble JSON; undefined for no type. */
const FOREIGN_TYPES = [
  'text/plain',
  'text/plain;charset=UTF-8',
  'text/plain; application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/vnd.x+json',
  'text/json',
  undefined,
] as const

/** Wrong values of Authorization, each with the query that belongs to it. */
const WRONG_TOKENS: readonly (readonly [lines: readonly string[], query?: string])[] = [
  [[]],
  [[], `?token=${TOKEN}&access_token=${TOKEN}&control_token=${TOKEN}`],
  [['Authorization: Bearer wrong']],
  [['Authorization: Bearer ']],
  [[`Authorization: ${TOKEN}`]],
  [[`Authorization: Basic ${TOKEN}`]],
  [[`Authorization: Bearer ${TOKEN}, Bearer ${TOKEN}`]],
  [[`Authorization: Bearer ${TOKEN}@there`]],
  [[`Authorization: Bearer ${KEYS.KU}`]],
  [[`Authorization: Bearer ${KEYS.KU}@there`]],
  [[`Cookie: token=${TOKEN}`, `X-Control-Token: ${TOKEN}`, `Proxy-Authorization: Bearer ${TOKEN}`]],
]

/** The places of the control interface: of the default sandbox, of another one, and of one that does not exist. */
const PLACES: readonly (readonly [prefix: string, header?: string])[] = [
  [''],
  ['/@absent'],
  ['/@there'],
  ['', 'X-Emulator-Sandbox: absent'],
  ['', 'X-Emulator-Sandbox: there'],
]

/** A request that every route must refuse. */
interface Attempt {
  readonly what: string
  /** Headers in addition to those of the place. */
  readonly lines: readonly string[]
  /** The statuses that count as a refusal. */
  readonly expected: readonly number[]
  readonly query?: string
  /** The content type of the body; default: JSON. */
  readonly type?: string | undefined
  /** The routes that it is for; default: all. */
  readonly about?: (route: Route) => boolean
}

interface Route {
  readonly method: string
  readonly path: string
  readonly isProbe: boolean
}

/** All wrong hosts, origins and types; wrong tokens too if a token is set. */
function attempts(port: number, token: string | undefined): readonly Attempt[] {
  const here = (text: string) => text.replace('PORT', String(port))
  const own = `Host: 127.0.0.1:${port}`
  const ours = `Origin: http://127.0.0.1:${port}`
  const authorized = token === undefined ? [] : [`Authorization: Bearer ${token}`]
  const hosts = FOREIGN_HOSTS.map((host) => [`Host: ${here(host)}`])
  const many = [[], [own, own], [own, 'Host: example.com'], ['Host: example.com', own]]
  const origins = [...FOREIGN_ORIGINS, ...ALMOST_CONTROL_ORIGIN].map((origin) => [`Origin: ${here(origin)}`])
  const mixed = [
    [ours, 'Origin: https://example.com'],
    ['Origin: https://example.com', ours],
    [`Origin: ${CONTROL_ORIGIN}`, 'Origin: https://example.com'],
    ['Origin: null', `Origin: ${CONTROL_ORIGIN}`],
  ]
  return [
    ...hosts.map((lines) => ({ what: lines.join(), lines: [...lines, ...authorized], expected: [400, 403] })),
    ...many.map((lines) => ({ what: `Hosts ${lines}`, lines: [...lines, ...authorized], expected: [400] })),
    ...[...origins, ...mixed].map((lines) => ({
      what: lines.join(),
      lines: [own, ...lines, ...authorized],
      expected: [403],
    })),
    ...FOREIGN_TYPES.map((type) => ({
      what: `type ${type}`,
      lines: [own, ...authorized],
      expected: [415],
      type: type ?? '',
      about: ({ method }: Route) => method !== 'GET' && method !== 'HEAD',
    })),
    ...(token === undefined ? [] : WRONG_TOKENS).map(([lines, query = '']) => ({
      what: `token ${lines} ${query}`,
      lines: [own, ...lines],
      query,
      expected: [401],
      about: ({ isProbe }: Route) => !isProbe,
    })),
  ]
}

/** All routes that the emulator itself lists, and the one that is not in the list; new routes are covered automatically. */
async function routesOf(
  { controlUrl }: RunningEmulator,
  token: string | undefined,
): Promise<readonly Route[]> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`${controlUrl}/`, { headers })
  const { routes } = (await response.json()) as { routes: { method: string; path: string }[] }
  const listed = routes.map(({ method, path }) => ({
    method,
    path: path.replaceAll(/\{\w+\}/g, 'x'),
    isProbe: /\/(health|ready)$/.test(path),
  }))
  const heads = listed.filter(({ method }) => method === 'GET').map((each) => ({ ...each, method: 'HEAD' }))
  const unknown = { method: 'POST', path: '/__emulator/nowhere', isProbe: false }
  const wrong = { method: 'PATCH', path: '/__emulator/reset', isProbe: false }
  return [...listed, ...heads, unknown, wrong]
}

function requestTo(route: Route, attempt: Attempt, [prefix, header]: (typeof PLACES)[number]): RawHead {
  const { lines, query = '', type = 'application/json' } = attempt
  const body = route.method === 'GET' || route.method === 'HEAD' ? '' : '{}'
  const about = [...(type === '' ? [] : [`Content-Type: ${type}`]), `Content-Length: ${body.length}`]
  const head = `${route.method} ${prefix}${route.path}${query} HTTP/1.1`
  return { lines: [head, ...lines, ...(header ? [header] : []), ...(body === '' ? [] : about)], body }
}

/** The results of all attempts against one emulator. */
interface Tally {
  routes: number
  requests: number
  accepted: number
  unanswered: number
  changed: number
}

// The guards let a wrong method or an unknown path pass, and the router refuses them.
const REFUSED_ANYHOW = [404, 405]

async function tryAll({ emulator }: Proving, token: string | undefined, scale: Scale, tally: Tally) {
  await emulator.sandboxes.open('there')
  const routes = await routesOf(emulator, token)
  tally.routes = routes.length
  for (const [n, attempt] of attempts(emulator.port, token).entries()) {
    const isOfType = attempt.expected.includes(415)
    // The long scale tries each attempt on each route at each place, the short one on an eighth of the routes at one place.
    const about = routes.filter(
      (route, at) => (scale === 'long' || (at + n) % 8 === 0) && (attempt.about?.(route) ?? true),
    )
    const places = scale === 'long' ? PLACES : PLACES.filter((_, at) => at === n % PLACES.length)
    const requests = places.flatMap((place) => about.map((route) => requestTo(route, attempt, place)))
    const before = digestOf(emulator)
    const statuses = await pipelined(emulator.port, requests)
    const allowed = isOfType ? [...attempt.expected, ...REFUSED_ANYHOW] : attempt.expected
    tally.requests += requests.length
    tally.unanswered += requests.length - statuses.length
    tally.accepted += statuses.filter((status) => !allowed.includes(status)).length
    tally.changed += digestOf(emulator) === before ? 0 : 1
    // Without guards, some routes respond late or never, so stop at the first failure.
    if (tally.accepted + tally.unanswered > 0) return
  }
}

/** Requests that another site can send with images or links, which have no Origin: they must read and change nothing. */
async function byImages({ emulator }: Proving, tally: Tally): Promise<void> {
  const routes = (await routesOf(emulator, undefined)).filter(({ method }) => method === 'GET')
  // The response of this route never ends.
  const ending = routes.filter(({ path }) => !path.endsWith('/events'))
  for (const site of ['cross-site', 'same-site']) {
    const lines = [`Host: 127.0.0.1:${emulator.port}`, `Sec-Fetch-Site: ${site}`]
    for (const [prefix, header] of PLACES) {
      const attempt = { what: 'image', lines, expected: [] }
      const requests = ending.map((route) => requestTo(route, attempt, header ? [prefix, header] : [prefix]))
      const before = digestOf(emulator)
      const statuses = await pipelined(emulator.port, requests)
      tally.requests += requests.length
      tally.unanswered += requests.length - statuses.length
      tally.changed += digestOf(emulator) === before ? 0 : 1
    }
  }
}

async function run(scale: Scale, say: (line: string) => void): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const [token, controlOrigins] of [[TOKEN], [undefined], [undefined, [CONTROL_ORIGIN]]] as const) {
    const allowing = controlOrigins === undefined ? '' : ` and ${CONTROL_ORIGIN} allowed`
    const under = `${token === undefined ? 'without a token' : 'with a token'}${allowing}`
    const options = { ...(token && { controlToken: token }), ...(controlOrigins && { controlOrigins }) }
    await against(options, async (proving) => {
      const tally = { routes: 0, requests: 0, accepted: 0, unanswered: 0, changed: 0 }
      await tryAll(proving, token, scale, tally)
      if (token === undefined) await byImages(proving, tally)
      say(`${tally.requests} requests ${under}`)
      figures.push(
        tried(`routes ${under}`, tally.routes),
        tried(`requests ${under}`, tally.requests),
        none(`not refused ${under}`, tally.accepted),
        none(`without a response ${under}`, tally.unanswered),
        none(`attempts after which the state differed ${under}`, tally.changed),
        none(`sandboxes created ${under}`, proving.emulator.sandboxes.list().length - 2),
        none(`defects ${under}`, proving.defects.length),
        none(`without a response afterwards ${under}`, (await isAlive(proving.emulator, KEYS.KU)) ? 0 : 1),
      )
    })
  }
  return figures
}

export const x1: Proof = {
  id: 'X1',
  promise:
    'Every control route refuses foreign Hosts, foreign origins, simple content types and wrong tokens, and refused requests change nothing.',
  run,
}
