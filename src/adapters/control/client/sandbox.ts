import type { SandboxAgents } from './agents.ts'
import type { SandboxBatches } from './batches.ts'
import type { SandboxClock } from './clock.ts'
import type { EventOptions } from './events.ts'
import type { SandboxFaults } from './faults.ts'
import type { ApiRequestInit } from './fetch.ts'
import type { SandboxLimits } from './limits.ts'
import type { SandboxRequests } from './requests.ts'
import type { SandboxConnections, SandboxMcpServers, SandboxTeamspaces } from './resources.ts'
import type { SandboxScenarios } from './scenarios.ts'
import type { SandboxSettings } from './settings.ts'
import type { SandboxSnapshots } from './snapshots.ts'
import type { SandboxStateAccess } from './state.ts'
import type { SandboxStubs } from './stubs.ts'
import type { SandboxEvent } from './views/events.ts'
import type { SandboxKeys, SandboxSummary, StartingPoint } from './views/sandboxes.ts'
import type { SandboxWebhooks } from './webhooks.ts'

/**
 * One sandbox: a whole emulated service of its own, with its state, clock, limits, faults, request log, webhooks and
 * scenario. Every method rejects with an `EmulatorError` where the emulator refuses, or none answers.
 */
export interface SandboxClient extends AsyncDisposable {
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
  readonly clock: SandboxClock
  readonly faults: SandboxFaults
  readonly stubs: SandboxStubs
  readonly requests: SandboxRequests
  readonly snapshots: SandboxSnapshots
  readonly state: SandboxStateAccess
  readonly batches: SandboxBatches
  readonly webhooks: SandboxWebhooks
  readonly scenarios: SandboxScenarios
  readonly limits: SandboxLimits
  readonly settings: SandboxSettings
  readonly agents: SandboxAgents
  readonly mcpServers: SandboxMcpServers
  readonly teamspaces: SandboxTeamspaces
  readonly connections: SandboxConnections
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
