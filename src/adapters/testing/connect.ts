import { emulatorClient } from '../control/client/client.ts'
import type { EmulatorClient } from '../control/client/emulator-client.ts'
import { refuseUnknownOptions } from '../control/client/known-options.ts'
import { overHttp } from '../control/client/over-http.ts'

/** How to get into an emulator that runs elsewhere. */
export interface ConnectOptions {
  /** Of its control interface, where it demands one. */
  readonly controlToken?: string | undefined
  /** The key for the API, where it is none that the shipped starting state shows. */
  readonly apiKey?: string | undefined
  /** Sends the requests instead of the platform's. */
  readonly fetch?: typeof fetch | undefined
}

/**
 * A client of an emulator that runs elsewhere: in another process, or in a container. Nothing is sent before it is used.
 * @param url of the emulator, as it prints it: its origin, its base URL or its control URL. One that names a sandbox
 *   (`http://127.0.0.1:4010/@w1`) makes that one the `sandbox` of the client.
 * @throws TypeError when it is no such URL, or an option is not one of these
 * @example
 * const emulator = connect('http://127.0.0.1:4010')
 * await emulator.ready()
 * await emulator.sandbox.clock.advance('24h')
 */
export function connect(url: string, options: ConnectOptions = {}): EmulatorClient {
  refuseUnknownOptions('connect()', options, ['controlToken', 'apiKey', 'fetch'])
  const { controlToken, apiKey, fetch } = options
  const [, origin = '', name] = EMULATOR_URL.exec(url) ?? refuseUrl(url)
  if (!URL.canParse(origin)) refuseUrl(url)
  const address = { url: new URL(origin).origin, controlToken, fetch }
  return emulatorClient({ address, transport: overHttp(address), fixtures: 'demo', apiKey, name })
}

const EMULATOR_URL = /^(https?:\/\/[^/?#\s]+?)(?:\/@([a-z0-9-]+))?(?:\/v1|\/__emulator)?\/?$/i

function refuseUrl(url: string): never {
  throw new TypeError(
    `"${url}" is not the address of an emulator. Give the one that it printed when it started, such as http://127.0.0.1:4010.`,
  )
}
