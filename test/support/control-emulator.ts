import { onTestFinished } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import type { ScenarioSource } from '../../src/core/scenarios/source.ts'
import type { Resource } from '../../src/core/service.ts'
import { service } from '../../src/core/service.ts'
import { formatInstant } from '../../src/core/time/instant.ts'
import { openEmulatorOf } from '../../src/emulator/emulator.ts'
import { serviceFacts } from '../../src/emulator/service.ts'
import { callOperation } from './call-operation.ts'
import { checkOutput } from './control-output.ts'
import { digestOf } from './emulator.ts'
import { library, libraryEmulator } from './library.ts'
import { MemoryScenarios } from './memory-scenarios.ts'
import { type Said, type Sent, send } from './send.ts'

/** The instant at which these sandboxes start, with a frozen clock. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

type ControlRequestOptions = Pick<Said, 'headers' | 'raw'>

export type ControlEmulator = Awaited<ReturnType<typeof controlEmulator>>

interface ControlEmulatorOptions {
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

/** The control interface of a small separate service on a real server, which is closed after the test. */
export async function controlEmulator(options: ControlEmulatorOptions = {}) {
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
    call: async (method: string, path: string, json?: unknown, how?: ControlRequestOptions) =>
      checkOutput(method, path, await callControl(port, method, path, json, how), joined),
    /** Sends an API request without HTTP. @returns the status */
    perform: (name: string, params: Record<string, string> = {}, body?: JsonObject, token = 'live_a') =>
      callOperation(sandbox, name, { params, body, headers: { authorization: `Bearer ${token}` } }).status,
    /** A digest of the whole state except rate windows and the count of requests. */
    digest: () => `${sandbox.store.revision} ${digestOf(sandbox)}`,
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
