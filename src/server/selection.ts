import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Refusal, refuse } from '../core/errors.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import type { ChosenBy } from '../core/log/request-log.ts'
import { DEFAULT_SANDBOX, NAME_PATTERN, NAME_RULE } from '../core/sandboxes/name.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import type { Sandboxes } from '../core/sandboxes/sandboxes.ts'

/** The sandbox that a request chooses, and how. */
export interface Selection {
  readonly name: string
  readonly chosenBy: ChosenBy
  /** The prefix of the path that chooses the sandbox: `/@name`, or empty. */
  readonly pathPrefix: string
  /** The `Authorization` header, without the sandbox name after an API key. */
  readonly authorization: string | undefined
}

/**
 * The path at which a user's Express server has mounted the emulator; empty on the emulator's own port.
 * @param below the path of the router inside the emulator that serves the request
 */
export function mountOf(req: IncomingMessage, below = ''): string {
  const { baseUrl = '' } = req as { readonly baseUrl?: string }
  return below === '' ? baseUrl : baseUrl.slice(0, -below.length)
}

/** The parts of a request, other than its path, that can choose a sandbox. */
export type Signs = Pick<IncomingMessage, 'headers' | 'headersDistinct'>

const HEADER = 'x-emulator-sandbox'
const AT = 64

/** The `/@name` at the beginning of a request target, well-formed or not; empty when there is none. */
export function pathPrefixOf(target: string): string {
  // Called for every request. For nearly all of them one character is enough to decide.
  if (target.charCodeAt(1) !== AT) return ''
  return /^\/@[^/?]*/.exec(target)?.[0] ?? ''
}

/**
 * The sandbox of a request to the API: from its path, else from its header, else from its API key, else the default one.
 * Refuses with `bad_request` when any of these names is malformed, even if another one is used.
 */
export function chooseForApi(target: string, signs: Signs): Selection {
  const { authorization } = signs.headers
  if (authorization?.includes('@') !== true) return choose(target, signs, authorization)
  const [, key, suffix] = /^(bearer +[^\s,]*)@([^\s,@]*) *$/i.exec(authorization) ?? []
  if (suffix === undefined) return choose(target, signs, authorization)
  return choose(target, signs, key, parseName(suffix, 'API key (after its last "@")'))
}

/** Splits a request target into its path and its query, both still percent-encoded. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/**
 * The path of a request target. Clients with a proxy send whole URLs, which every server must accept (RFC 9112, section 3.2.2). A
 * URL whose host differs from the Host header stays unchanged, and is refused as a target that is not a path.
 */
export function originForm(target: string, host: string): string {
  const [, authority, path] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  if (authority === undefined || path === undefined || authority.toLowerCase() !== host.toLowerCase())
    return target
  return path.startsWith('/') ? path : `/${path}`
}

/** The parts of a request's address: path and query as sent, the path of the mount, the chosen sandbox, and the origin. */
export function addressOf(req: IncomingMessage) {
  const { path, query } = splitTarget(req.url ?? '')
  const { name, chosenBy, pathPrefix, authorization } = chooseForApi(path, req)
  const [mount, { origin }] = [mountOf(req), originOfRequest(req)]
  return { path, query, mount, origin, name, chosenBy, pathPrefix, authorization }
}

/** The sandbox of a request to the control interface: from its path, else from its header. API keys are not used there. */
export function chooseForControl(target: string, signs: Signs): Selection {
  return choose(target, signs, signs.headers.authorization)
}

function choose(target: string, signs: Signs, authorization: string | undefined, inKey?: string): Selection {
  const pathPrefix = pathPrefixOf(target)
  const inPath = pathPrefix === '' ? undefined : parseName(pathPrefix.slice(2), 'path')
  const inHeader = signs.headers[HEADER] === undefined ? undefined : headerName(signs)
  if (inPath !== undefined) return { name: inPath, chosenBy: 'path', pathPrefix, authorization }
  if (inHeader !== undefined) return { name: inHeader, chosenBy: 'header', pathPrefix, authorization }
  if (inKey !== undefined) return { name: inKey, chosenBy: 'token', pathPrefix, authorization }
  return { name: DEFAULT_SANDBOX, chosenBy: 'default', pathPrefix, authorization }
}

function headerName({ headersDistinct }: Signs): string {
  const [value = '', ...others] = new Set(headersDistinct[HEADER])
  if (others.length > 0) {
    refuse('bad_request', {
      detail: `The header X-Emulator-Sandbox has ${others.length + 1} different values.`,
      mitigation: 'Send it once.',
    })
  }
  return parseName(value, 'header X-Emulator-Sandbox')
}

/** Returns a well-formed name of a sandbox. Refuses with `bad_request` otherwise. @param place where it was found */
export function parseName(name: string, place: string): string {
  if (NAME_PATTERN.test(name)) return name
  return refuse('bad_request', {
    detail: `The name of the sandbox in the ${place} ${faultOf(name)}.`,
    mitigation: `The name of a sandbox is ${NAME_RULE}. Without a name, the request uses the sandbox "${DEFAULT_SANDBOX}".`,
  })
}

// The message does not repeat the name: after an API key, or in the wrong header, it may be part of a secret.
function faultOf(name: string): string {
  if (name === '') return 'is empty'
  if (/[^a-z0-9-]/.test(name)) return 'contains a character that is not allowed'
  return name.startsWith('-') ? 'begins with a hyphen' : `has ${name.length} characters`
}

/** The headers of a request for a log. A malformed sandbox name is removed, because it may be an API key in the wrong header. */
export function redactName(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { [HEADER]: name, ...others } = headers
  return name === undefined || NAME_PATTERN.test(String(name)) ? headers : others
}

/**
 * Whether a request without an `Origin` may come from a page of another site: images and links send none. Browsers report
 * that in `Sec-Fetch-Site`. An older browser is recognised by its other headers. It is trusted when it sends something that
 * an image cannot: a key, a header of the emulator, or another method. Clients that are not browsers have none of these signs.
 */
export function isForeignFetch({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const { 'sec-fetch-site': site, authorization = '', accept = '', referer } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (method !== 'GET' && method !== 'HEAD') return false
  // Basic credentials do not count: an image can send them with an address such as http://a:b@127.0.0.1/.
  if (/^bearer /i.test(authorization) || headers[HEADER] !== undefined) return false
  const isBrowser = /^(?:Mozilla|Opera)\//.test(headers['user-agent'] ?? '')
  return isBrowser || referer !== undefined || accept.startsWith('image/')
}

/** The chosen sandbox if it exists, otherwise the default one. For responses that must not create a sandbox. */
export function existingOrDefault(sandboxes: Sandboxes, choice: () => Selection): [Sandbox, ChosenBy] {
  try {
    const { name, chosenBy } = choice()
    const there = sandboxes.get(name)
    if (there !== undefined) return [there, chosenBy]
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  return [sandboxes.default, 'default']
}

/** How a request may use a sandbox that is not open. */
interface Opening {
  /** An unknown name is refused with `not_found`, so that a request with a mistyped name creates no sandbox. */
  readonly onlyReads?: boolean
  /** The page of another site that sends the request; its origin is absent when the browser sends none. */
  readonly foreignPage?: { readonly origin?: string | undefined } | undefined
}

/**
 * The sandbox with a name, created when it is missing. Any web page can send requests that name a sandbox: it may use existing
 * ones, but could fill the memory with new ones, and is refused with `forbidden`. Refuses with `conflict` when the starting
 * state is not valid.
 */
export async function openSandbox(
  sandboxes: Sandboxes,
  name: string,
  { onlyReads = false, foreignPage }: Opening = {},
): Promise<Sandbox> {
  if (foreignPage !== undefined && !sandboxes.has(name)) refuseForeignPage(name, foreignPage.origin)
  if (onlyReads) return (await sandboxes.find(name)).sandbox
  try {
    return await sandboxes.open(name)
  } catch (error) {
    // A generator reports missing records with a plain Error.
    const isBroken = error instanceof FixturesError || (error instanceof Error && error.constructor === Error)
    if (!isBroken) throw error
    return refuse('conflict', {
      detail: `The sandbox "${name}" cannot be created, because its starting state is not valid: ${error.message}`,
      mitigation: 'Fix the fixtures; the next request tries again.',
    })
  }
}

function refuseForeignPage(name: string, origin: string | undefined): never {
  const allow =
    origin === undefined
      ? 'C'
      : `Start the emulator with --cors-origin ${origin} (corsOrigins in JavaScript), or c`
  return refuse('forbidden', {
    detail: `There is no sandbox "${name}", and pages of ${origin ?? 'another site'} may not create one.`,
    mitigation: `${allow}reate the sandbox first: "workspace-emulator sandbox create ${name}".`,
    status: 403,
  })
}

/** The origin that a request was sent to, `http://host:port`, from its `Host` header. Empty without that header. */
export function originOfRequest({ headers, socket }: IncomingMessage): { readonly origin?: string } {
  const { host } = headers
  return host === undefined ? {} : { origin: `${'encrypted' in socket ? 'https' : 'http'}://${host}` }
}
