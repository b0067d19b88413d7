import { refuseUnknownOptions } from '../control/client/ask.ts'
import { type EmulatorOf, emulatorClient } from '../control/client/emulator.ts'
import { overHttp } from '../control/client/over-http.ts'
import type { Extend, SandboxOf } from '../control/client/sandbox.ts'

/** How to get into an emulator that runs elsewhere. */
export interface ConnectOptions {
  /** Of its control interface, where it demands one. */
  readonly controlToken?: string | undefined
  /** The key for the API, where it is none that the shipped starting state shows. */
  readonly apiKey?: string | undefined
  /** Sends the requests instead of the platform's. */
  readonly fetch?: typeof fetch | undefined
}

/** A client over HTTP. @param extend adds what the service has of its own */
export function connectTo<Sandbox extends SandboxOf<never>>(
  extend: Extend<Sandbox>,
  url: string,
  options: ConnectOptions = {},
): EmulatorOf<Sandbox> {
  refuseUnknownOptions('connect()', options, ['controlToken', 'apiKey', 'fetch'])
  const { controlToken, apiKey, fetch } = options
  const [, origin = '', name] = EMULATOR_URL.exec(url) ?? refuseUrl(url)
  if (!URL.canParse(origin)) refuseUrl(url)
  const address = { url: new URL(origin).origin, controlToken, fetch }
  return emulatorClient({ address, transport: overHttp(address), extend, fixtures: 'demo', apiKey, name })
}

const EMULATOR_URL = /^(https?:\/\/[^/?#\s]+?)(?:\/@([a-z0-9-]+))?(?:\/v1|\/__emulator)?\/?$/i

function refuseUrl(url: string): never {
  throw new TypeError(
    `"${url}" is not the address of an emulator. Give the one that it printed when it started, such as http://127.0.0.1:4010.`,
  )
}
