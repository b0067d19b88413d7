import { refuseUnknownOptions } from './ask.ts'
import { directFetch } from './direct.ts'
import { type EmulatorOf, emulatorClient } from './emulator.ts'
import { nodeFetch } from './node-fetch.ts'
import { overHttp } from './over-http.ts'
import type { Extend, SandboxOf } from './sandbox.ts'

/** Options of `connect`, for an emulator that runs elsewhere. */
export interface ConnectOptions {
  /** The token of the control interface, if the emulator requires one. */
  readonly controlToken?: string | undefined
  /** The key for the API; needed if the sandbox has no key of the shipped fixtures. */
  readonly apiKey?: string | undefined
  /** Sends all requests. Default: the global `fetch` of when the library was imported for the API, `node:http` for the control interface. */
  readonly fetch?: typeof fetch | undefined
}

/** Creates a client over HTTP. @param extend adds the methods of this service */
export function connectTo<Sandbox extends SandboxOf<never>>(
  extend: Extend<Sandbox>,
  url: string,
  options: ConnectOptions = {},
): EmulatorOf<Sandbox> {
  refuseUnknownOptions('connect()', options, ['controlToken', 'apiKey', 'fetch'])
  const { controlToken, apiKey, fetch } = options
  const [, root = '', name] = EMULATOR_URL.exec(url) ?? refuseUrl(url)
  if (!URL.canParse(root)) refuseUrl(url)
  const address = { url: new URL(root).href.replace(/\/$/, ''), controlToken, fetch: fetch ?? directFetch }
  const transport = overHttp(address, fetch ?? nodeFetch)
  return emulatorClient({ address, transport, extend, fixtures: 'demo', apiKey, name })
}

// The path of a mounted router may come first.
const EMULATOR_URL = /^(https?:\/\/[^?#\s]+?)(?:\/@([a-z0-9-]+))?(?:\/v1|\/__emulator)?\/?$/i

function refuseUrl(url: string): never {
  throw new TypeError(
    `"${url}" is not the address of an emulator. Give the address that it printed at its start, such as http://127.0.0.1:4010.`,
  )
}
