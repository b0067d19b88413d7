import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Refusal, refuse } from '../core/errors.ts'
import type { ChosenBy } from '../core/request/exchange.ts'
import { DEFAULT_SANDBOX, NAME_PATTERN, NAME_RULE } from '../core/sandboxes/name.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import type { Sandboxes } from '../core/sandboxes/sandboxes.ts'
import { FixturesError } from './fixtures.ts'

/** The sandbox that a request chooses, and how. */
export interface Selection {
  readonly name: string
  readonly chosenBy: ChosenBy
  /** What stands before the path that is served: `/@name` where the path chooses, otherwise nothing. */
  readonly pathPrefix: string
  /** The `Authorization` header, without the name behind an API key. */
  readonly authorization: string | undefined
}

/** The parts of a request that can choose. */
export type Signs = Pick<IncomingMessage, 'headers' | 'headersDistinct'>

const HEADER = 'x-emulator-sandbox'
const AT = 64

/** The `/@name` at the beginning of a request target, well-formed or not; empty when there is none. */
export function pathPrefixOf(target: string): string {
  // Asked of every request, and nearly always answered by one character.
  if (target.charCodeAt(1) !== AT) return ''
  return /^\/@[^/?]*/.exec(target)?.[0] ?? ''
}

/**
 * The sandbox of a request of the API: that of its path, else of its header, else of its API key. Refuses with
 * `bad_request` when any of them is malformed, also one that is outdone by another.
 */
export function chooseForApi(target: string, signs: Signs): Selection {
  const { authorization } = signs.headers
  if (authorization?.includes('@') !== true) return choose(target, signs, authorization)
  const [, key, suffix] = /^(bearer +[^\s,]*)@([^\s,@]*) *$/i.exec(authorization) ?? []
  if (suffix === undefined) return choose(target, signs, authorization)
  return choose(target, signs, key, wellFormed(suffix, 'API key, after its last "@",'))
}

/** The sandbox of a request of the control interface, which knows no API keys: that of its path, else of its header. */
export function chooseForControl(target: string, signs: Signs): Selection {
  return choose(target, signs, signs.headers.authorization)
}

function choose(target: string, signs: Signs, authorization: string | undefined, inKey?: string): Selection {
  const pathPrefix = pathPrefixOf(target)
  const inPath = pathPrefix === '' ? undefined : wellFormed(pathPrefix.slice(2), 'path')
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
  return wellFormed(value, 'header X-Emulator-Sandbox')
}

/** A name of a sandbox that is one; refused otherwise. @param place where it stands */
export function wellFormed(name: string, place: string): string {
  if (NAME_PATTERN.test(name)) return name
  return refuse('bad_request', {
    detail: `The ${place} names a sandbox, and the name ${faultOf(name)}.`,
    mitigation: `The name of a sandbox is ${NAME_RULE}. Without one, the request is about the sandbox "${DEFAULT_SANDBOX}".`,
  })
}

// The name itself is not repeated: behind an API key, or in the wrong header, it may be part of a secret.
function faultOf(name: string): string {
  if (name === '') return 'is empty'
  if (/[^a-z0-9-]/.test(name)) return 'has a character that names cannot have'
  return name.startsWith('-') ? 'begins with a hyphen' : `has ${name.length} characters`
}

/** The headers of a request as a log may keep them: what is no name of a sandbox may be a key in the wrong place. */
export function withoutBadName(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { [HEADER]: name, ...others } = headers
  return name === undefined || NAME_PATTERN.test(String(name)) ? headers : others
}

/**
 * Whether a page of another site may be behind a request without an `Origin`: an image or a link of it sends none. Browsers
 * say so in `Sec-Fetch-Site`. One that is too old for that is known by its other headers, and trusted when it sends what no
 * image can: a key, a header of ours, or another method. Clients that are no browsers have none of these signs.
 */
export function isForeignFetch({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const { 'sec-fetch-site': site, authorization = '', accept = '', referer } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (method !== 'GET' && method !== 'HEAD') return false
  // An address such as http://a:b@127.0.0.1/ sends a name and a password of its own.
  if (/^bearer /i.test(authorization) || headers[HEADER] !== undefined) return false
  const isBrowser = /^(?:Mozilla|Opera)\//.test(headers['user-agent'] ?? '')
  return isBrowser || referer !== undefined || accept.startsWith('image/')
}

/** Where a response is given that makes no sandbox: the chosen one if it is there, otherwise the default one. */
export function presentSandbox(sandboxes: Sandboxes, choice: () => Selection): [Sandbox, ChosenBy] {
  try {
    const { name, chosenBy } = choice()
    const there = sandboxes.get(name)
    if (there !== undefined) return [there, chosenBy]
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
  return [sandboxes.default, 'default']
}

/**
 * The sandbox with a name, made when it is not there. Refuses when it cannot be made, and where `onlyReads` is true an unknown
 * name: looking at a sandbox must not make one that a mistake has named.
 */
export async function openSandbox(sandboxes: Sandboxes, name: string, onlyReads = false): Promise<Sandbox> {
  if (onlyReads) return (await sandboxes.find(name)).sandbox
  try {
    return await sandboxes.open(name)
  } catch (error) {
    // A generator that lacks the records it refers to says so in a plain Error, too.
    const isBroken = error instanceof FixturesError || (error instanceof Error && error.constructor === Error)
    if (!isBroken) throw error
    return refuse('conflict', {
      detail: `There is no sandbox "${name}", and none can be made, since its starting state is not valid: ${error.message}`,
      mitigation: 'Mend the fixtures; the next request tries again.',
    })
  }
}

/** `http://host:port` that a request came to, as its Host header has it; nothing without one. */
export function originOfRequest({ headers, socket }: IncomingMessage): { readonly origin?: string } {
  const { host } = headers
  return host === undefined ? {} : { origin: `${'encrypted' in socket ? 'https' : 'http'}://${host}` }
}
