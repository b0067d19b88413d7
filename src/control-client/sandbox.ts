import type { RecordingBundle } from '../core/record/bundle.ts'
import type { SandboxKeys } from '../core/request/plain-keys.ts'
import type { CoverageReport, CoveredPoint } from '../server/control/coverage/report.ts'
import type { SandboxEvent } from '../server/control/routes/events.ts'
import type { ConductOptions } from '../server/control/routes/reports.ts'
import { type CallControl, callControlOver } from './ask.ts'
import { clockOver } from './clock.ts'
import { type Conduct, conductQueryOf } from './conduct.ts'
import { EmulatorError, leave } from './emulator-error.ts'
import { type EventOptions, followEvents } from './events.ts'
import { faultsOver } from './faults.ts'
import { gatesOver } from './gates.ts'
import { type KnownKeys, keyKeepers } from './keys.ts'
import type { EmulatorAddress } from './over-http.ts'
import { endpointsOver, limitsOver, settingsOver, stubsOver, webhooksOver } from './parts.ts'
import { requestsOver } from './requests.ts'
import { apiPath, controlPath, realFetch, type Transport } from './transport.ts'

/**
 * One sandbox, with the parts that every service has: its own state, clock, limits, faults, request log, webhooks and scenario.
 * `Goal`: a state that the clock can advance to. Every method rejects with an `EmulatorError` if the emulator refuses the call
 * or does not respond.
 */
export type SandboxOf<Goal> = Readonly<ReturnType<typeof sandboxParts<Goal>>['sandbox']>

/** A request of the emulated API. */
export interface ApiRequestInit extends RequestInit {
  /** The body as a value. It is sent as JSON, with the method POST unless `method` is set. */
  readonly json?: unknown
}

/** The points of the contract, and which of them clients have met. */
export interface ContractCoverage extends Omit<CoverageReport, 'object' | 'data'> {
  /** The cheapest to meet first. */
  readonly points: readonly CoveredPoint[]
}

/** The parts that a client of a sandbox needs. */
interface SandboxAdapter {
  readonly name: string
  readonly address: EmulatorAddress
  readonly transport: Transport
  readonly keys: KnownKeys
  /** Whether this client has created the sandbox, and so removes it. */
  readonly isOwn: boolean
}

/** Adds the parts of a service to the client of a sandbox. The type of `ask` is open, since the service declares its calls. */
export type Extend<Sandbox> = (ask: never) => Omit<Sandbox, keyof SandboxOf<unknown>>

/** The client of a sandbox, and the function that looks up its keys. */
export function openSandboxClient<Sandbox extends SandboxOf<never>>(
  adapter: SandboxAdapter,
  extend: Extend<Sandbox>,
) {
  const { sandbox, ask, lookUpKeys } = sandboxParts<never>(adapter)
  // Not a spread, which would read the getters now.
  return { sandbox: Object.assign(sandbox, extend(ask as never)) as unknown as Sandbox, lookUpKeys }
}

function sandboxParts<Goal>({ name, address, transport, keys, isOwn }: SandboxAdapter) {
  let isRemoved = false
  const refuseRemoved = (): void => {
    if (isRemoved) throw removed(name)
  }
  const present: Transport = async (call) => {
    refuseRemoved()
    return transport(call)
  }
  const ask = callControlOver(present, name)
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
  const remove = async (): Promise<void> => {
    await ask('DELETE /sandboxes/{name}', { params: { name } })
    isRemoved = true
  }
  const sandbox = {
    name,
    /** Base URL of its API; ends in `/v1`. */
    baseUrl,
    /** URL of its control interface. */
    controlUrl: address.url + controlPath(name),
    /**
     * A key for the API: the `apiKey` of `connect`, otherwise the key of the first user, otherwise a service key. Throws an
     * `EmulatorError` if no key is known. Over HTTP the keys are known after `ready()`, `sandbox()` or `fetch()`.
     */
    get apiKey(): string {
      return keys.apiKey
    },
    /**
     * The keys of the sandbox whose plain text is in its fixtures. The sandbox stores only digests, so it cannot show other keys.
     */
    get keys(): SandboxKeys {
      return keys.keys
    },
    clock: clockOver<Goal>(ask),
    faults: faultsOver(ask),
    gates: gatesOver(ask),
    /** Your own endpoints, which all sandboxes share. */
    endpoints: endpointsOver(ask),
    stubs: stubsOver(ask),
    requests: requestsOver(ask),
    webhooks: webhooksOver(ask),
    limits: limitsOver(ask),
    settings: settingsOver(ask),
    ...keyKeepers(ask, keys, lookUpKeys),
    /**
     * The events of the sandbox as they happen, always over HTTP. The first event is `hello`; all later events are sent, or
     * counted by `dropped`. The feed ends when the loop is left, the signal is aborted, the sandbox is removed or the emulator
     * is closed.
     * @example
     * for await (const { type, data } of sandbox.events({ types: ['transition'] })) ...
     */
    events: (options?: EventOptions): AsyncIterable<SandboxEvent> => {
      refuseRemoved()
      return followEvents(address, name, options, refuseRemoved)
    },
    /**
     * Calls the emulated API as the user of {@link apiKey}, unless `init` has an Authorization header. It resolves for every
     * status, and rejects like the global `fetch` if there is no response.
     * @param path below {@link baseUrl} (`/pages`), or a URL from a response of the API (`results_url`)
     */
    fetch: async (path: string, init?: ApiRequestInit): Promise<Response> => {
      refuseRemoved()
      return fetchApi(api, path, init)
    },
    /**
     * The points of the contract that clients have met since the start of the emulator, in all its sandboxes. Rejects with
     * `conflict` unless the emulator was started with `countCoverage`.
     */
    coverage: async (): Promise<ContractCoverage> => {
      const { object: _, data: points, ...counts } = await ask('GET /coverage')
      return { points, ...counts }
    },
    /**
     * Judges how the clients have behaved: waits, retries, keys, pages, polls and connections. The most severe findings are first.
     * @example
     * const { findings } = await sandbox.conduct({ retries: 2 })
     */
    conduct: async (options: ConductOptions = {}): Promise<Conduct> => {
      const { object: _, data: findings, ...rest } = await ask('GET /conduct', conductQueryOf(options))
      return { findings, ...rest }
    },
    /**
     * What the sandbox has seen since its state was last replaced, without secrets: written into a file, it can be repeated with
     * `workspace-emulator replay FILE`.
     */
    record: (): Promise<RecordingBundle> => ask('GET /record'),
    /** Removes the sandbox with its snapshots and files. The default one rejects with `conflict`. */
    delete: remove,
    /**
     * Removes the sandbox if this client has created it, otherwise does nothing. It also resolves if the sandbox is already
     * removed or the emulator is closed.
     */
    [Symbol.asyncDispose]: (): Promise<void> => (isOwn ? leave(remove) : Promise.resolve()),
  }
  return { sandbox, ask, lookUpKeys }
}

async function tokensOf(ask: CallControl): Promise<unknown[]> {
  const { data } = await ask('GET /state/{collection}', { params: { collection: 'api_keys' } })
  return data.map((record) => (record as { token?: unknown }).token)
}

// A call that names a removed sandbox would create it again. The disposal of a fault, for example, must not do that.
function removed(name: string): EmulatorError {
  return new EmulatorError({
    status: 404,
    code: 'not_found',
    detail: `The sandbox "${name}" has been removed.`,
    mitigation: 'Create another one: emulator.sandbox().',
  })
}

/** The address of the API of a sandbox, and the key for it. */
interface ApiAddress extends EmulatorAddress {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  /** Looks up the key when it is needed. */
  apiKey(): Promise<string>
}

/** Calls the emulated API. Rejects with {@link EmulatorError} (`foreign_url`) for a URL of another server. */
async function fetchApi(
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
