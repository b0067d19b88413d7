import { parsedJson } from '../core/json.ts'
import { VERSION_HEADER } from '../server/control/route.ts'
import { EmulatorError, notAnEmulator } from './emulator-error.ts'
import { type ControlCall, controlPath, jsonText, realFetch, type Transport } from './transport.ts'

/** The address of an emulator, and its control token. */
export interface EmulatorAddress {
  /** Origin, and the path of a mounted router: `http://127.0.0.1:4010`. */
  readonly url: string
  readonly controlToken?: string | undefined
  readonly fetch?: typeof fetch | undefined
}

/** The part of `fetch` that the client needs. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
    readonly signal?: AbortSignal
  },
) => Promise<Pick<Response, 'status' | 'text'> & { readonly headers: Pick<Headers, 'get'> }>

/** Sends calls to the control interface of an emulator over HTTP. */
export function overHttp(address: EmulatorAddress, fetch: Fetch | undefined = address.fetch): Transport {
  const { url, controlToken } = address
  return async (call) => {
    const { sandbox, ifMatch, signal } = call
    const [method, path] = methodAndPath(call)
    const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query)}`
    const body = jsonText(call.body)
    const init = {
      method,
      headers: {
        ...controlHeaders(controlToken),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    }
    const send = fetch ?? realFetch
    let [response, text]: [Awaited<ReturnType<Fetch>>?, string?] = []
    try {
      response = await send(`${url}${controlPath(sandbox)}${path}${query}`, init)
      text = await response.text()
    } catch (error) {
      signal?.throwIfAborted()
      throw noResponse(url, error)
    }
    if (isLocked(response)) throw lockedOut(address)
    const { status, headers } = response
    // Any server may respond with 200, and with any body.
    if (status < 300 && headers.get(VERSION_HEADER) === null) throw notAnEmulator(status, call.route)
    return { status, body: parsedJson(text), etag: headers.get('etag') ?? undefined }
  }
}

/** The method of a call, and its path below `/__emulator`. */
export function methodAndPath({ route, params }: Pick<ControlCall, 'route' | 'params'>): [string, string] {
  const [method = '', template = ''] = route.split(' ')
  return [
    method,
    template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? '')),
  ]
}

/** The error when no emulator responds at an address. */
export function noResponse(url: string, cause: unknown): EmulatorError {
  const reason = networkReason(cause)
  const detail =
    reason === 'ECONNREFUSED' ? `Nothing listens at ${url}.` : `There is no response from ${url} (${reason}).`
  const mitigation =
    'Start an emulator there with "workspace-emulator start", or give connect() the address of a running one.'
  return new EmulatorError({ status: 0, code: 'no_answer', detail, mitigation }, { cause })
}

/** The error when the control token is missing or wrong. */
export function lockedOut({ url, controlToken }: EmulatorAddress): EmulatorError {
  const what = controlToken === undefined ? 'requires a control token' : 'does not accept this control token'
  return new EmulatorError({
    status: 401,
    code: 'unauthorized',
    detail: `The emulator at ${url} ${what}.`,
    mitigation: 'Give the token that it was started with or printed: connect(url, { controlToken }).',
  })
}

/** The header with the control token. */
export function controlHeaders(controlToken: string | undefined): Record<string, string> {
  return controlToken === undefined ? {} : { authorization: `Bearer ${controlToken}` }
}

/** Whether a response was refused because the control token is missing or wrong. */
export function isLocked({ headers }: { readonly headers: Pick<Headers, 'get'> }): boolean {
  return headers.get('www-authenticate')?.includes('realm="control"') === true
}

/**
 * Why there is no response, as the code or the name of the error: `ECONNREFUSED`, `TimeoutError`. The cause of an error of `fetch`
 * is that of the operating system; for hosts with several addresses it is an AggregateError.
 */
export function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause
  if (inner instanceof Error) return 'code' in inner ? String(inner.code) : inner.message
  return error.name
}
