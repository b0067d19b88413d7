import type { SandboxKeys } from '../../fixtures.ts'
import type { SandboxEvent } from '../routes/events.ts'
import type { SandboxSummary } from '../sandbox-summary.ts'
import type { StartingPoint } from '../starting-point.ts'
import { type Ask, askOver } from './ask.ts'
import { type ClockOf, clockOver } from './clock.ts'
import { EmulatorError, notAnEmulator } from './emulator-error.ts'
import { type EventOptions, followEvents } from './events.ts'
import { faultsOver, type SandboxFaults } from './faults.ts'
import { type ApiRequestInit, fetchApi } from './fetch.ts'
import { type KnownKeys, keyKeepers } from './keys.ts'
import type { EmulatorAddress } from './over-http.ts'
import {
  limitsOver,
  type SandboxLimits,
  type SandboxScenarios,
  type SandboxSettings,
  type SandboxStubs,
  type SandboxWebhooks,
  settingsOver,
  stubsOver,
  webhooksOver,
} from './parts.ts'
import { requestsOver, type SandboxRequests } from './requests.ts'
import type { SandboxSnapshots, SandboxStateAccess } from './state.ts'
import { apiPath, controlPath, type Transport } from './transport.ts'

/**
 * One sandbox, as far as every service has it: state, clock, limits, faults, request log, webhooks and scenario of its own.
 * `Goal`: what time can be advanced to. Every method rejects with an `EmulatorError` where the emulator refuses, or none answers.
 */
export interface SandboxOf<Goal> extends AsyncDisposable {
  readonly name: string
  /** Where its API is: ends in `/v1`. */
  readonly baseUrl: string
  /** Where its control interface is. */
  readonly controlUrl: string
  /**
   * A key for the API: the one that `connect` was given, else the first user's, else a service key. Throws an
   * `EmulatorError` where none is known; over HTTP that is so until `ready()`, `sandbox()` or `fetch()` has looked.
   */
  readonly apiKey: string
  /** The keys that the fixtures show and the sandbox knows. It keeps digests alone, so that others cannot be told. */
  readonly keys: SandboxKeys
  readonly clock: ClockOf<Goal>
  readonly faults: SandboxFaults
  readonly stubs: SandboxStubs
  readonly requests: SandboxRequests
  readonly snapshots: SandboxSnapshots
  readonly state: SandboxStateAccess
  readonly webhooks: SandboxWebhooks
  readonly scenarios: SandboxScenarios
  readonly limits: SandboxLimits
  readonly settings: SandboxSettings
  /**
   * What happens in the sandbox while it happens, always over HTTP. The first is `hello`: from then on nothing is missed. It
   * ends when the loop is left, the signal is aborted, or the sandbox or the emulator goes.
   * @example
   * for await (const { type, data } of sandbox.events({ types: ['transition'] })) ...
   */
  events(options?: EventOptions): AsyncIterable<SandboxEvent>
  /**
   * Calls the emulated API as the user of {@link apiKey}, unless `init` has an Authorization header of its own. Whatever the
   * API answers is a response; where there is none it rejects as the platform's fetch does.
   * @param path below {@link baseUrl} (`/pages`), or a URL that the API has answered (`results_url`)
   */
  fetch(path: string, init?: ApiRequestInit): Promise<Response>
  /** Starts the sandbox again: records, clock, settings, faults and request log. */
  reset(start?: StartingPoint): Promise<SandboxSummary>
  /** Removes the sandbox and everything of it. The default one rejects with `conflict`. */
  delete(): Promise<void>
  /** Removes the sandbox if this client has made it, and otherwise nothing. One that is gone, or whose emulator is closed, is fine. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What a sandbox is opened with. */
interface SandboxAdapter {
  readonly name: string
  readonly address: EmulatorAddress
  readonly transport: Transport
  readonly keys: KnownKeys
  /** Whether this client has made the sandbox, and so removes it. */
  readonly isOwn: boolean
}

/** Adds what a service has of its own to the client of a sandbox; the table of its calls is the service's. */
export type Extend<Sandbox> = (ask: never) => Omit<Sandbox, keyof SandboxOf<unknown>>

/** A sandbox, and what asks for its keys. */
interface OpenSandbox<Sandbox> {
  readonly sandbox: Sandbox
  readonly lookUpKeys: () => Promise<void>
}

export function openSandboxClient<Sandbox extends SandboxOf<never>>(
  { name, address, transport, keys, isOwn }: SandboxAdapter,
  extend: Extend<Sandbox>,
): OpenSandbox<Sandbox> {
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
  const own: SandboxOf<never> = {
    name,
    baseUrl,
    controlUrl: address.url + controlPath(name),
    get apiKey() {
      return keys.apiKey
    },
    get keys() {
      return keys.keys
    },
    clock: clockOver(ask),
    faults: faultsOver(ask),
    stubs: stubsOver(ask),
    requests: requestsOver(ask),
    webhooks: webhooksOver(ask),
    limits: limitsOver(ask),
    settings: settingsOver(ask),
    ...keyKeepers(ask, keys, lookUpKeys),
    events: (options) => {
      refuseRemoved()
      return followEvents(address, name, options, refuseRemoved)
    },
    fetch: async (path, init) => {
      refuseRemoved()
      return fetchApi(api, path, init)
    },
    delete: remove,
    [Symbol.asyncDispose]: () => (isOwn ? leave(remove) : Promise.resolve()),
  }
  // Spread, the getters would be read now.
  return { sandbox: Object.assign(own, extend(ask as never)) as unknown as Sandbox, lookUpKeys }
}

async function tokensOf(ask: Ask): Promise<unknown[]> {
  const { data } = await ask('GET /state/{collection}', { params: { collection: 'api_keys' } })
  // The first call of many clients, where a server that is no emulator shows.
  if (!Array.isArray(data)) throw notAnEmulator(200, 'GET /state/api_keys')
  return data.map((record) => (record as { token?: unknown }).token)
}

// Naming a sandbox makes it again: what is disposed of after it, such as a fault, must not do that.
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
