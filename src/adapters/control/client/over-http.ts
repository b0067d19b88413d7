import { EmulatorError } from './emulator-error.ts'
import { type ControlCall, controlPath, jsonText, type Transport } from './transport.ts'

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
  return async (call) => {
    const { locked, ...response } = await send({ ...requestOf(address, call), fetch }, address)
    if (locked) throw lockedOut(address)
    return response
  }
}

async function send(request: HttpRequest, { url }: EmulatorAddress) {
  try {
    return await sendJson(request)
  } catch (error) {
    request.signal?.throwIfAborted()
    throw error instanceof NoResponse ? noResponse(url, error.message, error) : error
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

function requestOf({ url, controlToken }: EmulatorAddress, call: ControlCall): HttpRequest {
  const [method, path] = methodAndPath(call)
  const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query)}`
  return {
    method,
    url: `${url}${controlPath(call.sandbox)}${path}${query}`,
    controlToken,
    body: call.body,
    ifMatch: call.ifMatch,
    signal: call.signal,
  }
}

/** The error when no emulator responds at an address. @param reason the code or the name of the error: `ECONNREFUSED` */
export function noResponse(url: string, reason: string, cause?: unknown): EmulatorError {
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

/** One request to a control interface. */
interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly controlToken?: string | undefined
  /** JSON. Absent: the request has no body. */
  readonly body?: unknown
  readonly ifMatch?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined
}

/** A response with its whole body. */
interface HttpResponse {
  readonly status: number
  /** Undefined if there was no body, or if it was not JSON. */
  readonly body: unknown
  readonly etag?: string | undefined
  /** Whether a control token is missing or wrong. */
  readonly locked: boolean
}

/** Why there is no response, as the code or the name of the error: `ECONNREFUSED`, `TimeoutError`. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse'
}

/**
 * Sends one request and reads the response. Throws {@link NoResponse}, or an `EmulatorError` for a body that cannot be written
 * as JSON.
 */
async function sendJson(request: HttpRequest): Promise<HttpResponse> {
  const { method, url, controlToken, ifMatch, signal, fetch = globalThis.fetch } = request
  const body = jsonText(request.body)
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...controlHeaders({ controlToken, body }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    })
    const received = parsed(await response.text())
    const etag = response.headers.get('etag') ?? undefined
    return { status: response.status, body: received, etag, locked: isLocked(response) }
  } catch (error) {
    throw new NoResponse(networkReason(error), { cause: error })
  }
}

/** The headers with the control token and the type of the body. */
export function controlHeaders({
  controlToken,
  body,
}: Pick<HttpRequest, 'controlToken' | 'body'>): Record<string, string> {
  return {
    ...(controlToken === undefined ? {} : { authorization: `Bearer ${controlToken}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}

/** Whether a response was refused because the control token is missing or wrong. */
export function isLocked({ headers }: { readonly headers: Pick<Headers, 'get'> }): boolean {
  return headers.get('www-authenticate')?.includes('realm="control"') === true
}

// The cause of an error of `fetch` is that of the operating system; for hosts with several addresses it is an AggregateError.
export function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause
  if (inner instanceof Error) return 'code' in inner ? String(inner.code) : inner.message
  return error.name
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
