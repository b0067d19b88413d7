import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { onTestFinished } from 'vitest'
import { readFixtures } from '../../src/adapters/fixtures.ts'
import { ScenarioRunner } from '../../src/adapters/scenarios/runner.ts'
import { Refusal } from '../../src/core/errors.ts'
import { faultHooks } from '../../src/core/faults/hooks.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { Sandbox, sandboxDefaults } from '../../src/core/sandboxes/sandbox.ts'
import { type RunningSandbox, Sandboxes } from '../../src/core/sandboxes/sandboxes.ts'
import type { ScenarioSource } from '../../src/core/scenarios/source.ts'
import type { Resource } from '../../src/core/service.ts'
import { service } from '../../src/core/service.ts'
import { buildStartingState } from '../../src/core/state/starting-state.ts'
import type { SandboxState } from '../../src/core/state/state.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { EndpointBook } from '../../src/endpoints/book.ts'
import type { ControlHost } from '../../src/server/control/host.ts'
import { controlRouter } from '../../src/server/control/router.ts'
import { allowHosts } from '../../src/server/http/guard.ts'
import { close, createHttpServer } from '../../src/server/http/server.ts'
import { startAt } from './built-state.ts'
import { callOperation } from './call-operation.ts'
import { checkOutput } from './control-output.ts'
import { library, libraryEmulator } from './library.ts'
import { MemoryScenarios } from './memory-scenarios.ts'
import { type Said, type Sent, send } from './send.ts'

/** The instant at which these sandboxes start, with a frozen clock. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

export type ControlRequestOptions = Pick<Said, 'headers' | 'raw'>

/** The control interface of a small separate service on a real server, which is closed after the test. */
export interface ControlEmulator {
  readonly sandbox: Sandbox
  readonly port: number
  /** Internal errors of the emulator. */
  readonly defects: readonly unknown[]
  call(method: string, path: string, json?: unknown, options?: ControlRequestOptions): Promise<Sent>
  /** Sends an API request without HTTP. @returns the status */
  perform(operation: string, params?: Record<string, string>, body?: JsonObject, token?: string): number
  /** A digest of the whole state except rate windows and the count of requests. */
  digest(): string
}

export interface ControlEmulatorOptions {
  readonly resources?: readonly Resource[]
  readonly fixtures?: JsonObject
  readonly token?: string
  readonly settings?: JsonObject
  /** Default: none. */
  readonly scenarios?: ScenarioSource
  /** If true, internal errors do not fail the test. */
  readonly forgiving?: boolean
}

const serviceOf = (resources: readonly Resource[]) => service(resources, serviceFacts)

// Once for all tests, because a service compiles its schemas at their first use.
const ofLibrary = serviceOf([library])

/** Starts a control interface for one test. */
export async function controlEmulator(options: ControlEmulatorOptions = {}): Promise<ControlEmulator> {
  const { resources, fixtures = libraryEmulator, settings = {} } = options
  const joined = resources === undefined ? ofLibrary : serviceOf(resources)
  const defects: unknown[] = []
  const onDefect = (error: unknown) => void defects.push(error)
  const build = async (from: JsonObject | string, seed: number, now: number) => {
    const start = startAt(now, { seed, settings, host: () => START })
    const built = await buildStartingState(await readFixtures(from), start, joined)
    if ('state' in built) return built.state
    throw new Refusal('validation_failed', { detail: 'fixtures', issues: built.issues })
  }
  const sandboxOptions = {
    ...sandboxDefaults,
    service: joined,
    host: () => START,
    onDefect,
    hooks: faultHooks,
  }
  const house = (name: string, state: SandboxState): RunningSandbox => {
    const sandbox = new Sandbox({ ...sandboxOptions, name }, state)
    return { sandbox, close: async () => {}, remove: async () => {} }
  }
  const sandboxes = new Sandboxes({
    start: async ({ state, fixtures: from = fixtures, seed = 1, clock }) =>
      state ?? build(from, seed, clock === undefined ? START : Date.parse(clock)),
    make: async (name, state) => house(name, state),
    open: async (name) => house(name, await build(fixtures, 1, START)),
  })
  sandboxes.add(house('default', await build(fixtures, 1, START)), false)
  const sandbox = sandboxes.default
  const host: ControlHost = {
    service: joined,
    version: '0.0.0-test',
    startedAt: '2026-03-01T00:00:00.000Z',
    contract: { title: 'Library', version: '0.1.1' },
    token: options.token,
    sandboxes,
    endpoints: new EndpointBook(joined),
    scenarios: new ScenarioRunner({ source: options.scenarios ?? new MemoryScenarios() }),
    coverage: undefined,
    process: { pid: 1, host: 'here' },
    lockLost: () => undefined,
    closing: new AbortController().signal,
    hosts: allowHosts('127.0.0.1'),
    pages: {},
    recorded: {
      emulator: { version: '0.0.0-test', origin: '', allowHosts: [], corsOrigins: [], allowWebhooks: [] },
      scenarios: async () => ({}),
    },
    shutdown: undefined,
    onDefect,
  }
  const app = express().use('/__emulator', controlRouter(host))
  const server = createHttpServer(app, {
    renderParserError: () => ({ headers: [], body: '' }),
    refuse: (_req, res) => void res.writeHead(417).end(),
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    await close(server, { graceful: true })
    if (defects.length > 0 && options.forgiving !== true) throw defects[0]
  })
  return {
    sandbox,
    port,
    defects,
    call: async (method, path, json, how) =>
      checkOutput(method, path, await callControl(port, method, path, json, how), joined),
    perform: (name, params = {}, body, token = 'live_a') =>
      callOperation(sandbox, name, { params, body, headers: { authorization: `Bearer ${token}` } }).status,
    digest: () => digestOf(sandbox),
  }
}

/** Calls a control interface with Node's own client: unlike fetch, it can send any Host, Origin and path. */
export function callControl(
  port: number,
  method: string,
  path: string,
  json?: unknown,
  how: ControlRequestOptions = {},
): Promise<Sent> {
  return send({ emulator: { port } }, method, `/__emulator${path}`, {
    ...how,
    json,
    authorization: undefined,
  })
}

function digestOf(sandbox: Sandbox): string {
  const { limits: _, counters, ...rest } = sandbox.document()
  const content = { ...rest, counters: { ...counters, requests: 0 } }
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
