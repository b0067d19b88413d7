import { EmulatorError } from './emulator-error.ts'

/** A request of the emulated API. */
export interface ApiRequestInit extends RequestInit {
  /** The body as a value: it is sent as JSON, and the method is POST unless another is named. */
  readonly json?: unknown
}

/** Where the API of a sandbox is, and who calls it. */
export interface ApiAddress {
  /** Origin. */
  readonly url: string
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly fetch?: typeof fetch | undefined
  /** Looked up when it is needed. */
  apiKey(): Promise<string>
}

/** Calls the emulated API. Rejects with {@link EmulatorError} for a URL that is not the emulator's. */
export async function fetchApi(
  { url, baseUrl, apiKey, fetch = globalThis.fetch }: ApiAddress,
  path: string,
  { json, ...init }: ApiRequestInit = {},
): Promise<Response> {
  const target = targetOf(path, url, baseUrl)
  const headers = new Headers(init.headers)
  if (!headers.has('authorization')) headers.set('authorization', `Bearer ${await apiKey()}`)
  if (json === undefined) return fetch(target, { ...init, headers })
  if (!headers.has('content-type')) headers.set('content-type', 'application/json')
  return fetch(target, { method: 'POST', ...init, headers, body: JSON.stringify(json) })
}

// What the API answers as a URL begins with its version, or the name of a sandbox; no path below the base URL does. One with
// the version alone is about this sandbox all the same: without its name it would lead to the default one.
function targetOf(path: string, url: string, baseUrl: string): string {
  if (path.startsWith('/@')) return url + path
  if (path.startsWith('/v1/')) return baseUrl + path.slice('/v1'.length)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(path)) return `${baseUrl}${path.startsWith('/') ? '' : '/'}${path}`
  if (URL.canParse(path) && new URL(path).origin === new URL(url).origin) return path
  throw new EmulatorError({
    status: 0,
    code: 'foreign_url',
    detail: `${path} is not at ${url}, and the key of this sandbox is nobody else's.`,
    mitigation: 'Give a path below the base URL, such as /pages, or call other addresses with fetch itself.',
  })
}
