import { EmulatorError } from './emulator-error.ts'
import type { EmulatorAddress } from './over-http.ts'
import { realFetch } from './transport.ts'

/** A request of the emulated API. */
export interface ApiRequestInit extends RequestInit {
  /** The body as a value. It is sent as JSON, with the method POST unless `method` is set. */
  readonly json?: unknown
}

/** The address of the API of a sandbox, and the key for it. */
interface ApiAddress extends EmulatorAddress {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  /** Looks up the key when it is needed. */
  apiKey(): Promise<string>
}

/** Calls the emulated API. Rejects with {@link EmulatorError} (`foreign_url`) for a URL of another server. */
export async function fetchApi(
  { url, baseUrl, apiKey, fetch = realFetch }: ApiAddress,
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

// URLs in responses of the API begin with `/v1` or `/@name`; paths below the base URL do not. A URL that begins with `/v1` is
// about this sandbox, but without its name it would lead to the default one.
function targetOf(path: string, url: string, baseUrl: string): string {
  if (path.startsWith('/@')) return url + path
  if (path.startsWith('/v1/')) return baseUrl + path.slice('/v1'.length)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(path)) return `${baseUrl}${path.startsWith('/') ? '' : '/'}${path}`
  if (URL.canParse(path) && new URL(path).origin === new URL(url).origin) return path
  throw new EmulatorError({
    status: 0,
    code: 'foreign_url',
    detail: `${path} is not at ${url}, so the key of this sandbox is not sent to it.`,
    mitigation:
      'Give a path below the base URL, such as /pages, or use the global fetch for other addresses.',
  })
}
