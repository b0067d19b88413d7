import { createHash } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import type { ScenarioSource } from '../../src/core/scenarios/source.ts'
import type { Resource } from '../../src/core/service.ts'
import { service } from '../../src/core/service.ts'
import { formatInstant } from '../../src/core/time/instant.ts'
import { openEmulatorOf } from '../../src/emulator/emulator.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
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
export const libraryService = serviceOf([library])

/** Starts a control interface for one test. */
export async function controlEmulator(options: ControlEmulatorOptions = {}): Promise<ControlEmulator> {
  const { resources, fixtures = libraryEmulator, settings, token: controlToken } = options
  const joined = resources === undefined ? libraryService : serviceOf(resources)
  const defects: unknown[] = []
  const emulator = await openEmulatorOf(joined, {
    port: 0,
    clock: formatInstant(START),
    hostTime: () => START,
    rate: 0,
    fixtures,
    ephemeral: true,
    settings,
    controlToken,
    scenarioSource: options.scenarios ?? new MemoryScenarios(),
    logger: { info: () => {}, warn: () => {}, error: (_message, fields) => defects.push(fields?.error) },
  })
  const { sandbox, port } = emulator
  onTestFinished(async () => {
    await emulator.close()
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
