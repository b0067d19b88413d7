import { agentsOver } from './agents.ts'
import { type Ask, askOver } from './ask.ts'
import { batchesOver } from './batches.ts'
import { clockOver } from './clock.ts'
import { EmulatorError, notAnEmulator } from './emulator-error.ts'
import { follow } from './events.ts'
import { faultsOver } from './faults.ts'
import { fetchApi } from './fetch.ts'
import { keyKeepers } from './key-keepers.ts'
import type { KnownKeys } from './known-keys.ts'
import { limitsOver } from './limits.ts'
import type { EmulatorAddress } from './over-http.ts'
import { apiPath, controlPath } from './paths.ts'
import { requestsOver } from './requests.ts'
import { connectionsOver, mcpServersOver, teamspacesOver } from './resources.ts'
import type { SandboxClient } from './sandbox.ts'
import { settingsOver } from './settings.ts'
import { stubsOver } from './stubs.ts'
import type { Transport } from './transport.ts'
import { webhooksOver } from './webhooks.ts'

/** What a sandbox is opened with. */
export interface SandboxAdapter {
  readonly name: string
  readonly address: EmulatorAddress
  readonly transport: Transport
  readonly keys: KnownKeys
  /** Whether this client has made the sandbox, and so removes it. */
  readonly isOwn: boolean
}

/** A sandbox that knows its keys, once {@link OpenWorld.lookUpKeys} has asked for them. */
export interface OpenSandboxClient extends SandboxClient {
  lookUpKeys(): Promise<void>
}

export function openSandboxClient({
  name,
  address,
  transport,
  keys,
  isOwn,
}: SandboxAdapter): OpenSandboxClient {
  let isRemoved = false
  const refuseRemoved = (): void => {
    if (isRemoved) throw removed(name)
  }
  const present: Transport = async (call) => {
    refuseRemoved()
    return transport(call)
  }
  const ask = askOver(present, name)
  const lookUpKeys = async (): Promise<void> => keys.look(await tokensOf(ask))
  const baseUrl = address.url + apiPath(name)
  const api = {
    ...address,
    baseUrl,
    apiKey: async () => {
      if (!keys.haveBeenLookedUp) await lookUpKeys()
      return keys.apiKey
    },
  }
  const remove = async () => {
    await ask('DELETE /sandboxes/{name}', { params: { name } })
    isRemoved = true
  }
  return {
    name,
    baseUrl,
    controlUrl: address.url + controlPath(name),
    get apiKey() {
      return keys.apiKey
    },
    get keys() {
      return keys.keys
    },
    lookUpKeys,
    clock: clockOver(ask),
    faults: faultsOver(ask),
    stubs: stubsOver(ask),
    requests: requestsOver(ask),
    batches: batchesOver(ask),
    webhooks: webhooksOver(ask),
    limits: limitsOver(ask),
    settings: settingsOver(ask),
    agents: agentsOver(ask),
    mcpServers: mcpServersOver(ask),
    teamspaces: teamspacesOver(ask),
    connections: connectionsOver(ask),
    ...keyKeepers(ask, keys, lookUpKeys),
    events: (options) => {
      refuseRemoved()
      return follow(address, name, options, refuseRemoved)
    },
    fetch: async (path, init) => {
      refuseRemoved()
      return fetchApi(api, path, init)
    },
    delete: remove,
    [Symbol.asyncDispose]: () => (isOwn ? leave(remove) : Promise.resolve()),
  }
}

async function tokensOf(ask: Ask): Promise<unknown[]> {
  const { data } = await ask('GET /state/{collection}', { params: { collection: 'api_keys' } })
  // The first call of many clients, so that this is where another server shows that it is none of ours.
  if (!Array.isArray(data)) throw notAnEmulator(200, 'GET /state/api_keys')
  return data.map((record) => (record as { token?: unknown }).token)
}

// A sandbox that is named is made anew: what outlives it here, such as a fault that is disposed of late, must not do that.
function removed(name: string): EmulatorError {
  return new EmulatorError({
    status: 404,
    code: 'not_found',
    detail: `The sandbox "${name}" has been removed.`,
    mitigation: 'Make another one: emulator.sandbox().',
  })
}

/** Statuses that say that there is nothing to remove: no emulator, no sandbox, or an emulator that is closing. */
const NOTHING_LEFT = [0, 404, 409]

async function leave(remove: () => Promise<void>): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (!(error instanceof EmulatorError && NOTHING_LEFT.includes(error.status))) throw error
  }
}
