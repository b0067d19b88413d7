import type { WorldAgents } from './agents.ts'
import type { WorldBatches } from './batches.ts'
import type { WorldClock } from './clock.ts'
import type { EventOptions } from './events.ts'
import type { WorldFaults } from './faults.ts'
import type { ApiRequestInit } from './fetch.ts'
import type { WorldLimits } from './limits.ts'
import type { WorldRequests } from './requests.ts'
import type { WorldConnections, WorldMcpServers, WorldTeamspaces } from './rooms.ts'
import type { WorldScenarios } from './scenarios.ts'
import type { WorldSettings } from './settings.ts'
import type { WorldSnapshots } from './snapshots.ts'
import type { WorldStateAccess } from './state.ts'
import type { WorldStubs } from './stubs.ts'
import type { WorldEvent } from './views/events.ts'
import type { StartingPoint, WorldKeys, WorldSummary } from './views/worlds.ts'
import type { WorldWebhooks } from './webhooks.ts'

/**
 * One sandbox: a whole emulated service of its own, with its state, clock, limits, faults, request log, webhooks and
 * scenario. Every method rejects with an `EmulatorError` where the emulator refuses, or none answers.
 */
export interface World extends AsyncDisposable {
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
  /** The keys that the fixtures show and the world knows. It keeps digests alone, so that others cannot be told. */
  readonly keys: WorldKeys
  readonly clock: WorldClock
  readonly faults: WorldFaults
  readonly stubs: WorldStubs
  readonly requests: WorldRequests
  readonly snapshots: WorldSnapshots
  readonly state: WorldStateAccess
  readonly batches: WorldBatches
  readonly webhooks: WorldWebhooks
  readonly scenarios: WorldScenarios
  readonly limits: WorldLimits
  readonly settings: WorldSettings
  readonly agents: WorldAgents
  readonly mcpServers: WorldMcpServers
  readonly teamspaces: WorldTeamspaces
  readonly connections: WorldConnections
  /**
   * What happens in the world while it happens, always over HTTP. The first is `hello`: from then on nothing is missed. It
   * ends when the loop is left, the signal is aborted, or the world or the emulator goes.
   * @example
   * for await (const { type, data } of world.events({ types: ['transition'] })) ...
   */
  events(options?: EventOptions): AsyncIterable<WorldEvent>
  /**
   * Calls the emulated API as the user of {@link apiKey}, unless `init` has an Authorization header of its own. Whatever the
   * API answers is a response; where there is none it rejects as the platform's fetch does.
   * @param path below {@link baseUrl} (`/pages`), or a URL that the API has answered (`results_url`)
   */
  fetch(path: string, init?: ApiRequestInit): Promise<Response>
  /** Starts the world again: records, clock, settings, faults and request log. */
  reset(start?: StartingPoint): Promise<WorldSummary>
  /** Removes the sandbox and everything of it. The default one rejects with `conflict`. */
  delete(): Promise<void>
  /** Removes the sandbox if this client has made it, and otherwise nothing. One that is gone, or whose emulator is closed, is fine. */
  [Symbol.asyncDispose](): Promise<void>
}
