import { DEFAULT_SANDBOX } from '../../../core/sandboxes/sandboxes.ts'
import { askOver } from './ask.ts'
import type { EmulatorClient, SandboxStart } from './emulator-client.ts'
import { type FixturesSource, KnownKeys } from './known-keys.ts'
import { refuseUnknownOptions } from './known-options.ts'
import { freshName, makeSandbox, makeUnlessThere, saysAnything } from './make-sandbox.ts'
import { openSandboxClient } from './open-sandbox.ts'
import type { EmulatorAddress } from './over-http.ts'
import { untilReady } from './ready.ts'
import type { Transport } from './transport.ts'

/** What a client is made of. */
export interface ClientParts {
  readonly address: EmulatorAddress
  readonly transport: Transport
  /** Shows the keys of sandboxes that nobody gave other fixtures. */
  readonly fixtures: FixturesSource
  /** The key that calls of the API are to be made with. */
  readonly apiKey?: string | undefined
  /** The sandbox that is its `sandbox`. */
  readonly name?: string | undefined
  /** Those of `sandbox`, where somebody knows them already. */
  readonly keys?: KnownKeys | undefined
}

/** A client of the control interface, however its calls travel. */
export function emulatorClient(parts: ClientParts): EmulatorClient {
  const { address, transport, fixtures, apiKey, name: own = DEFAULT_SANDBOX } = parts
  const ask = askOver(transport, own)
  const keys = parts.keys ?? new KnownKeys(apiKey, fixtures)
  const sandbox = openSandboxClient({ name: own, address, transport, keys, isOwn: false })
  const open = async (name: string, isOwn: boolean, start: SandboxStart = {}) => {
    const known = new KnownKeys(apiKey, (start.fixtures as FixturesSource | undefined) ?? fixtures)
    if (start.fromSnapshot !== undefined) known.expectThoseOf(keys)
    const opened = openSandboxClient({ name, address, transport, keys: known, isOwn })
    await opened.lookUpKeys()
    return opened
  }
  return {
    url: address.url,
    baseUrl: sandbox.baseUrl,
    controlUrl: sandbox.controlUrl,
    defaultSandbox: sandbox,
    sandbox: async (name = freshName(), start) => {
      if (!saysAnything(start)) return open(name, await makeUnlessThere(transport, ask, name))
      await makeSandbox(transport, ask, name, start)
      return open(name, true, start)
    },
    sandboxes: {
      list: () => ask('GET /sandboxes'),
      show: (name) => ask('GET /sandboxes/{name}', { params: { name } }),
      delete: async (name) => void (await ask('DELETE /sandboxes/{name}', { params: { name } })),
    },
    operations: () => ask('GET /operations'),
    problems: () => ask('GET /problems'),
    problem: (code) => ask('GET /problems/{code}', { params: { code } }),
    openapi: (api = 'control') => ask('GET /openapi.json', { query: { api } }),
    routes: () => ask('GET /'),
    health: () => ask('GET /health'),
    ready: async (options = {}) => {
      refuseUnknownOptions('ready()', options, ['timeoutMs'])
      await untilReady(transport, options.timeoutMs)
      await sandbox.lookUpKeys()
    },
  }
}
