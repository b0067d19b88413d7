import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { onTestFinished } from 'vitest'
import type { ControlHost, GuardVerdict } from '../../src/doors/control/host.ts'
import { controlRouter } from '../../src/doors/control/router.ts'
import { readFixtures } from '../../src/doors/fixtures.ts'
import { allowHosts, checkHost, isCrossSiteOrigin } from '../../src/doors/http/guard.ts'
import { headerValues } from '../../src/doors/http/headers.ts'
import { parseBody, readJson } from '../../src/doors/http/request.ts'
import { close, createHttpServer } from '../../src/doors/http/server.ts'
import { ScenarioRunner } from '../../src/doors/scenarios/runner.ts'
import { Ledger } from '../../src/kernel/assumptions.ts'
import { type ErrorCode, Refusal } from '../../src/kernel/errors.ts'
import type { JsonObject } from '../../src/kernel/json.ts'
import { kernelAssumptions } from '../../src/kernel/open-items.ts'
import { type Resource, service } from '../../src/kernel/operation.ts'
import type { ScenarioSource } from '../../src/kernel/scenario/source.ts'
import { buildWorld } from '../../src/kernel/state/starting-world.ts'
import type { WorldState } from '../../src/kernel/state/state.ts'
import { Sandbox } from '../../src/kernel/worlds/sandbox.ts'
import { type Housed, Sandboxes } from '../../src/kernel/worlds/sandboxes.ts'
import { worldDefaults } from '../../src/kernel/worlds/world.ts'
import { library, libraryWorld } from './library.ts'
import { MemoryScenarios } from './memory-scenarios.ts'
import { type Said, type Sent, send } from './send.ts'

/** The instant at which these worlds start, and where their clocks stand still. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

export type ControlRequestOptions = Pick<Said, 'headers' | 'raw'>

/** The control interface over a small service of its own, behind a real server that is gone at the end of the test. */
export interface ControlWorld {
  readonly sandbox: Sandbox
  readonly port: number
  /** What went wrong on the emulator's side. */
  readonly surprises: readonly unknown[]
  call(method: string, path: string, json?: unknown, options?: ControlRequestOptions): Promise<Sent>
  /** Makes an API request without HTTP. */
  perform(operation: string, params?: Record<string, string>, body?: JsonObject, token?: string): number
  /** A digest of the whole state but its rate windows and the count of requests. */
  digest(): string
}

export interface ControlWorldOptions {
  readonly rooms?: readonly Resource[]
  readonly fixtures?: JsonObject
  readonly token?: string
  readonly settings?: JsonObject
  /** Default: none. */
  readonly scenarios?: ScenarioSource
  /** Expected defects do not fail the test. */
  readonly forgiving?: boolean
}

/** Starts a control interface for one test. */
export async function controlWorld(options: ControlWorldOptions = {}): Promise<ControlWorld> {
  const { rooms = [library], fixtures = libraryWorld, settings = {} } = options
  const joined = service(rooms)
  const ledger = new Ledger([kernelAssumptions, ...rooms.flatMap((room) => room.assumptions ?? [])])
  const surprises: unknown[] = []
  const onSurprise = (error: unknown) => void surprises.push(error)
  const build = async (from: JsonObject | string, seed: number, now: number) => {
    const start = { seed, now, rate: 0, skip_on_poll: false, settings, strict: false, host: () => START }
    const built = await buildWorld(await readFixtures(from), start, joined, ledger)
    if ('world' in built) return built.world
    throw new Refusal('validation_failed', { detail: 'fixtures', issues: built.issues })
  }
  const worldOptions = { ...worldDefaults, service: joined, ledger, host: () => START, onSurprise }
  const house = (name: string, world: WorldState): Housed => {
    const sandbox = new Sandbox({ ...worldOptions, name }, world)
    return { sandbox, close: async () => {}, remove: async () => {} }
  }
  const sandboxes = new Sandboxes({
    start: async ({ world, fixtures: from = fixtures, seed = 1, clock }) =>
      world ?? build(from, seed, clock === undefined ? START : Date.parse(clock)),
    make: async (name, world) => house(name, world),
  })
  sandboxes.add(house('default', await build(fixtures, 1, START)), false)
  const sandbox = sandboxes.default
  let hosts = allowHosts({ port: 1, bound: '127.0.0.1', hosts: [] })
  const host: ControlHost = {
    service: joined,
    version: '0.0.0-test',
    contract: { title: 'Library', version: '0.1.1' },
    token: options.token,
    sandboxes,
    scenarios: new ScenarioRunner({ source: options.scenarios ?? new MemoryScenarios() }),
    closing: new AbortController().signal,
    guard: (rawHeaders) => guard(rawHeaders, hosts),
    readJson,
    parseJson: parseBody,
    onSurprise,
  }
  const app = express().use('/__emulator', controlRouter(host))
  const server = createHttpServer(app, {
    renderParserError: () => ({ headers: [], body: '' }),
    refuse: (_req, res) => void res.writeHead(417).end(),
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  hosts = allowHosts({ port, bound: '127.0.0.1', hosts: [] })
  onTestFinished(async () => {
    await close(server, { graceful: true })
    if (surprises.length > 0 && options.forgiving !== true) throw surprises[0]
  })
  return {
    sandbox,
    port,
    surprises,
    call: (method, path, json, how) => callControl(port, method, path, json, how),
    perform: (name, params = {}, body, token = 'live_a') => perform(sandbox, name, params, body, token),
    digest: () => digestOf(sandbox),
  }
}

function guard(
  rawHeaders: readonly string[],
  hosts: ReturnType<typeof allowHosts>,
): GuardVerdict | undefined {
  const verdict = checkHost(headerValues(rawHeaders, 'host'), hosts)
  if (!verdict.ok) {
    const code: ErrorCode = verdict.status === 400 ? 'bad_request' : 'forbidden'
    return { status: verdict.status, code, detail: verdict.detail }
  }
  const foreign = headerValues(rawHeaders, 'origin').some((origin) => isCrossSiteOrigin(origin, hosts))
  return foreign
    ? { status: 403, code: 'forbidden', detail: 'Pages of other origins are refused.' }
    : undefined
}

/** Calls a control interface with Node's own client: unlike fetch it sends any Host, any Origin and any path. */
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

function perform(
  sandbox: Sandbox,
  name: string,
  params: Record<string, string>,
  body: JsonObject | undefined,
  token: string,
): number {
  const operation = sandbox.service.operations.get(name)
  if (operation === undefined) throw new Error(`there is no operation ${name}`)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '')
  return sandbox.perform({
    operation,
    method: operation.method,
    path: `/v1${path}`,
    pathPrefix: '',
    chosenBy: 'default',
    params,
    query: {},
    headers: { authorization: `Bearer ${token}` },
    body: body === undefined ? { kind: 'none' } : { kind: 'json', value: body },
  }).status
}

function digestOf(sandbox: Sandbox): string {
  const { limits: _, counters, ...rest } = sandbox.document()
  const content = { ...rest, counters: { ...counters, requests: 0 } }
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
