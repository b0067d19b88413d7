import { EmulatorError } from './emulator-error.ts'
import { type HttpRequest, NoAnswer, sendJson } from './http.ts'
import { controlPath } from './paths.ts'
import type { ControlCall, Transport } from './transport.ts'

/** Where an emulator is, and how to get in. */
export interface EmulatorAddress {
  /** Origin: `http://127.0.0.1:4010`. */
  readonly url: string
  readonly controlToken?: string | undefined
  readonly fetch?: typeof fetch | undefined
}

/** Carries calls to the control interface of an emulator over HTTP. */
export function overHttp(address: EmulatorAddress): Transport {
  return async (call) => {
    const { status, body, locked } = await send(requestOf(address, call), address)
    if (locked) throw lockedOut(address)
    return { status, body }
  }
}

async function send(request: HttpRequest, { url }: EmulatorAddress) {
  try {
    return await sendJson(request)
  } catch (error) {
    request.signal?.throwIfAborted()
    throw error instanceof NoAnswer ? silence(url, error.message, error) : error
  }
}

function requestOf({ url, controlToken, fetch }: EmulatorAddress, call: ControlCall): HttpRequest {
  const [method = '', template = ''] = call.route.split(' ')
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(call.params?.[name] ?? ''),
  )
  const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query)}`
  return {
    method,
    url: `${url}${controlPath(call.sandbox)}${path}${query}`,
    controlToken,
    body: call.body,
    signal: call.signal,
    fetch,
  }
}

/** That no emulator answers at an address, and what to do. @param reason in the words of the operating system */
export function silence(url: string, reason: string, cause?: unknown): EmulatorError {
  const detail =
    reason === 'ECONNREFUSED' ? `Nothing listens at ${url}.` : `There is no answer from ${url} (${reason}).`
  const mitigation =
    'Start an emulator there with "workspace-emulator start", or give connect() the address of one that runs.'
  return new EmulatorError({ status: 0, code: 'no_answer', detail, mitigation }, { cause })
}

/** That the control interface is closed to who asks, and what to do. */
export function lockedOut({ url, controlToken }: EmulatorAddress): EmulatorError {
  const what = controlToken === undefined ? 'demands a control token' : 'does not know this control token'
  return new EmulatorError({
    status: 401,
    code: 'unauthorized',
    detail: `The emulator at ${url} ${what}.`,
    mitigation: 'Give the one that it was started with or printed: connect(url, { controlToken }).',
  })
}
