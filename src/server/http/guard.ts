import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Refusal } from '../../core/errors.ts'
import { shellWord } from '../../core/shell-word.ts'
import { truncated } from '../../core/words.ts'
import { isOrigin } from '../origins.ts'

/** One header line to send: its name with the letter case to send, and its value. */
export type HeaderPair = readonly [name: string, value: string]

/** Returns the allowed values of a `Host` header for the local port of a connection; created by {@link allowHosts}. */
export type AllowedHosts = (port: number | undefined) => ReadonlySet<string>

/** The parts of a request that the checks read. */
export interface GuardedRequest extends Pick<IncomingMessage, 'rawHeaders'> {
  readonly socket: { readonly localPort?: number | undefined; readonly remoteAddress?: string | undefined }
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
const HOST = /^(?:\[[0-9a-z:.%_-]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/
const LOOPBACK_ORIGIN =
  /^https?:\/\/(?:localhost|(?:[a-z0-9_-]+\.)+localhost|127\.0\.0\.1|\[::1\])(?::([1-9][0-9]{0,4}))?$/

/** Clients omit these ports in `Host`: the defaults of http and https. A Unix socket has no port. */
const UNWRITTEN: readonly (number | undefined)[] = [80, 443, undefined]

/**
 * The hosts that requests may address: the loopback names and the bound host, with the port of the connection, and the
 * entries. The port is that of the connection, because the server may be one of the user's.
 * @param bound the host on which the server listens; an IPv6 address may lack its brackets
 * @param entries `--allow-host` entries: `name` allows `name` and `name:<port>`, `name:1234` allows only itself
 * @throws RangeError for a host that no `Host` header can equal, such as a URL
 */
export function allowHosts(bound: string, entries: readonly string[] = []): AllowedHosts {
  const own = [...LOOPBACK, normalized(bound)]
  const allowed = entries.map(normalized)
  const made = new Map<number | undefined, ReadonlySet<string>>()
  return (port) => {
    const known = made.get(port)
    if (known !== undefined) return known
    const at = (name: string) => `${name}:${port}`
    const hosts = new Set([
      ...(port === undefined ? [] : own.map(at)),
      ...(UNWRITTEN.includes(port) ? own : []),
      ...allowed.flatMap((entry) =>
        HAS_PORT.test(entry) || port === undefined ? [entry] : [entry, at(entry)],
      ),
    ])
    made.set(port, hosts)
    return hosts
  }
}

const HAS_PORT = /:[0-9]+$/

/**
 * Protects against DNS rebinding: any web page can point its own name at 127.0.0.1, but its requests then carry that name.
 * The raw text is compared, never parsed as a URL, since parsers turn odd spellings into loopback.
 * @returns a refusal: 403 for a foreign host, 400 for a missing, repeated or malformed header; undefined for an allowed host
 */
export function refuseHost({ rawHeaders, socket }: GuardedRequest, hosts: AllowedHosts): Refusal | undefined {
  const values = headerValues(rawHeaders, 'host')
  const allowed = hosts(socket.localPort)
  const host = values[0]?.toLowerCase() ?? ''
  if (values.length === 1 && allowed.has(host)) return undefined
  if (host === '') return malformed('The request has no Host header. Send exactly one.')
  if (values.length > 1) return malformed(`The request has ${values.length} Host headers. Send exactly one.`)
  if (!HOST.test(host)) {
    return malformed('The Host header is malformed. Send a host name or address, with a port if needed.')
  }
  const name = host.slice(0, 100)
  return new Refusal('forbidden', {
    detail: `The host \`${name}\` is not allowed. Allowed hosts are ${[...allowed].join(', ')}. Start the emulator with --allow-host ${name} (allowHosts in JavaScript) to allow it.`,
    status: 403,
  })
}

function malformed(detail: string): Refusal {
  return new Refusal('bad_request', { detail, status: 400 })
}

/** The pages that may use the control interface in addition to its own. */
export interface AllowedPages {
  /** Exact origins. */
  readonly origins?: readonly string[]
  /** Called with each refused page: the browser hides the refusal from it. */
  readonly onRefused?: (origin: string, refusal: Refusal) => void
}

/**
 * Refuses requests to the control interface that have a foreign `Host`, or that come from a page of another server. Such a page
 * sends an `Origin` that is not the scheme of the connection with one of our hosts; it may be `null`.
 */
export function refusePage(
  req: GuardedRequest,
  hosts: AllowedHosts,
  { origins = [], onRefused }: AllowedPages = {},
): Refusal | undefined {
  const allowed = hosts(req.socket.localPort)
  const scheme = 'encrypted' in req.socket ? 'https://' : 'http://'
  const mayUse = (origin: string) =>
    (origin.startsWith(scheme) && allowed.has(origin.slice(scheme.length))) || origins.includes(origin)
  const origin = headerValues(req.rawHeaders, 'origin').find((each) => !mayUse(each))
  const refusal = refuseHost(req, hosts)
  if (origin === undefined || refusal !== undefined) return refusal
  const foreign = new Refusal('forbidden', {
    detail: `Pages of ${truncated(origin)} may not use the control interface; only its own origin may.`,
    mitigation: isOrigin(origin)
      ? `Start the emulator with --control-origin ${shellWord(origin)} (controlOrigins in JavaScript) to allow them.`
      : 'Open the page at an origin of its own, such as http://localhost:5173, and start the emulator with --control-origin and that origin (controlOrigins in JavaScript).',
    status: 403,
  })
  onRefused?.(origin, foreign)
  return foreign
}

const LOOPBACK_PEER = /^(?:::ffff:)?127\.|^::1$/

/**
 * Refuses a client on another machine if there is no control token. Only a server of a user lets one in: the emulator's own
 * port needs a token for that. A connection without an address is a Unix socket, or inside this process.
 */
export function refuseRemote(
  { socket: { remoteAddress } }: GuardedRequest,
  token: string | undefined,
): Refusal | undefined {
  if (token !== undefined || remoteAddress === undefined || LOOPBACK_PEER.test(remoteAddress))
    return undefined
  return new Refusal('forbidden', {
    detail: `The control interface and the dashboard are closed to other machines (here ${remoteAddress}), because no control token is set.`,
    mitigation: 'Set one, and send it: startEmulator({ controlToken: ... }).',
    status: 403,
  })
}

/**
 * The CORS headers of a response of the control interface for the pages of the given origins. No other page gets any, and
 * without such origins no response has one. `isPreflight`: they are the response to the preflight of an allowed page.
 */
export function controlCors(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  { origins = [] }: AllowedPages,
) {
  if (origins.length === 0) return { headers: [], isPreflight: false }
  const { origin } = headers
  const decision = { origin, allowed: origin !== undefined && origins.includes(origin) }
  const asks = decision.allowed && method === 'OPTIONS' && isPreflight(headers)
  return {
    headers: asks
      ? preflightHeaders(decision, headers, CONTROL_METHODS)
      : corsHeaders(decision, 'ETag, X-Emulator-Version'),
    isPreflight: asks,
  }
}

/**
 * Whether a page of this origin may read the API's responses: pages of this machine (`http` or `https`; `localhost`
 * and its subdomains, 127.0.0.1, [::1]; any port) and those in `extra`.
 * @param extra exact origins; `*` allows every origin except the opaque one, which only the entry `null` allows
 */
export function originAllowed(origin: string | undefined, extra: readonly string[]): boolean {
  if (origin === undefined || origin === '') return false
  if (extra.includes(origin)) return true
  if (origin === 'null') return false
  if (extra.includes('*')) return true
  const match = LOOPBACK_ORIGIN.exec(origin)
  return match !== null && Number(match[1] ?? 0) <= 65535
}

function normalized(entry: string): string {
  const host = entry.trim().toLowerCase()
  const isBareIpv6 = !host.startsWith('[') && host.split(':').length > 2
  const entryHost = isBareIpv6 ? `[${host}]` : host
  if (!HOST.test(entryHost)) {
    throw new RangeError(
      `\`${entry}\` is not a host. Give a name or an address, with a port if needed, such as \`api:8080\`.`,
    )
  }
  return entryHost
}

/** The origin of a cross-origin request, undefined when there is none, and whether it may read the responses. */
export interface OriginDecision {
  readonly origin: string | undefined
  readonly allowed: boolean
}

/** The methods of the API. `OPTIONS` is not among them: browsers send it on their own. */
export const CORS_METHODS = 'GET, HEAD, POST, PATCH, DELETE'

const CONTROL_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

// By default, a page can read only a few headers. This list adds these: `Date` is the time of the virtual clock.
const EXPOSED = [
  'Date',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Emulator-Request-Id',
  'X-Emulator-Assumed',
  'X-Emulator-Fault',
].join(', ')

const PREFLIGHT_SECONDS = '600'
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * The CORS headers of every response of the API, errors included. The origin is reflected, credentials are never
 * allowed (API keys are sent in `Authorization`), and `Vary` is sent even without an origin, so that no cache gives one
 * origin's response to another.
 */
export function corsHeaders({ origin, allowed }: OriginDecision, exposed = EXPOSED): HeaderPair[] {
  const vary: HeaderPair = ['Vary', 'Origin']
  if (origin === undefined || !allowed) return [vary]
  return [vary, ['Access-Control-Allow-Origin', origin], ['Access-Control-Expose-Headers', exposed]]
}

/** Whether an `OPTIONS` is the preflight request of a browser, sent before the real one. It has no API key and uses no quota. */
export function isPreflight(headers: IncomingHttpHeaders): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/**
 * The headers of the response to a preflight. An origin that is not allowed is granted nothing, and the browser reports that
 * to its page. All requested headers are granted, except texts that are not valid header names.
 */
export function preflightHeaders(
  { origin, allowed }: OriginDecision,
  headers: IncomingHttpHeaders,
  methods = CORS_METHODS,
): HeaderPair[] {
  const vary: HeaderPair = [
    'Vary',
    'Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network',
  ]
  if (origin === undefined || !allowed) return [vary]
  const names = requestedNames(headers['access-control-request-headers'])
  const isPrivate = headers['access-control-request-private-network'] === 'true'
  return [
    vary,
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Methods', methods],
    ['Access-Control-Max-Age', PREFLIGHT_SECONDS],
    ...(names === '' ? [] : [['Access-Control-Allow-Headers', names] as const]),
    ...(isPrivate ? [['Access-Control-Allow-Private-Network', 'true'] as const] : []),
  ]
}

function requestedNames(header: string | undefined): string {
  const names = (header ?? '').split(',').map((name) => name.trim())
  return names.filter((name) => HEADER_NAME.test(name)).join(', ')
}

/**
 * Every value that a request gave for one header, in order, duplicates kept.
 * @param rawHeaders `IncomingMessage.rawHeaders`: names and values in turn. (`headers` hides duplicates.)
 * @param name case-insensitive
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase()
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === wanted) values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}
