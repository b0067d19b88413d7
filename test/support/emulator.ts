import { createHash, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import { callControlOver } from '../../src/control-client/ask.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { loadDocument } from '../../src/core/sandboxes/change.ts'
import { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import type { Service } from '../../src/core/service.ts'
import { checkDocument } from '../../src/core/state/document.ts'
import { formatInstant, parseDuration } from '../../src/core/time/instant.ts'
import { runEvents, setClock } from '../../src/core/time/run-events.ts'
import type { AdvanceResult, RanEvent } from '../../src/core/time/scheduler.ts'
import { type InternalOptions, openEmulatorOf, type RunningEmulator } from '../../src/emulator/emulator.ts'
import { serviceFor } from '../../src/emulator/service.ts'
import { baseCollections, KEYS, type KeyName, START } from './base-state.ts'
import { type CallControl, controlOf } from './control.ts'
import { checkOutput } from './control-output.ts'
import { NO_SCENARIOS } from './no-scenarios.ts'
import { type Received, type Send, transportTo } from './transport.ts'

/** A response of the API. */
export interface TestResponse extends Received {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  readonly body: any
  /** The assumptions in the header of the response. */
  readonly assumed: readonly string[]
}

export interface RequestOptions {
  /** The key to send; `none` sends no Authorization header. Default: KU. */
  readonly key?: KeyName | 'none'
  /** A literal token instead of a key. */
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A body to send as JSON. */
  readonly json?: unknown
  /** A body that is sent unchanged. */
  readonly raw?: string | Uint8Array
  /** Content-Type of a raw body; default application/json. */
  readonly type?: string
}

/** A new sandbox on a real server, which is closed after the test. */
export interface TestEmulator {
  readonly emulator: RunningEmulator
  readonly sandbox: Sandbox
  readonly baseUrl: string
  /** Sends any request, through the transport of the tests. */
  readonly send: Send
  request(method: string, path: string, options?: RequestOptions): Promise<TestResponse>
  get(path: string, options?: RequestOptions): Promise<TestResponse>
  post(path: string, json?: unknown, options?: RequestOptions): Promise<TestResponse>
  patch(path: string, json?: unknown, options?: RequestOptions): Promise<TestResponse>
  delete(path: string, options?: RequestOptions): Promise<TestResponse>
  /** Calls the control interface; the path is relative to `/__emulator`. */
  control(method: string, path: string, json?: unknown): Promise<TestResponse>
  /** The control interface of another sandbox of the same emulator. */
  in(sandbox: string): CallControl
  /** Moves the virtual clock by a duration such as `24h`. */
  advance(by: string): AdvanceResult
  /** The virtual instant in milliseconds. */
  now(): number
  /** The stored records of a collection. */
  // biome-ignore lint/suspicious/noExplicitAny: as in TestAnswer.
  state(collection: string): any[]
  /** A digest of everything that a refused request must not change: all except rate windows and the count of requests. */
  digest(): string
  /** Starts a new emulator from the document of this sandbox, as after a restart. */
  restart(): Promise<TestEmulator>
}

export interface TestEmulatorOptions extends Omit<InternalOptions, 'fixtures'> {
  /** Records by collection, in addition to the base records. */
  readonly collections?: Readonly<Record<string, readonly object[]>>
  /** Default: the service of the emulator. */
  readonly service?: Service
}

/** Starts a sandbox for one test: clock frozen at {@link START}, seed 1, base records plus the given ones. */
export async function testEmulator({
  collections = {},
  service,
  ...options
}: TestEmulatorOptions = {}): Promise<TestEmulator> {
  const { strict = false } = options
  const defects: unknown[] = []
  const emulator = await openEmulatorOf(service ?? serviceFor(options), {
    port: 0,
    clock: START,
    rate: 0,
    fixtures: { collections: join(collections) } as unknown as JsonObject,
    ephemeral: true,
    logger: { info: () => {}, warn: () => {}, error: (_message, fields) => defects.push(fields?.error) },
    ...(options.scenarios === undefined ? { scenarioSource: NO_SCENARIOS } : {}),
    countCoverage: COVERAGE !== undefined,
    ...options,
  })
  onTestFinished(async () => {
    const real = emulator.sandboxes
      .list()
      .filter(({ sandbox }) => sandbox instanceof Sandbox && sandbox.store.revision > 0)
    const documents = real.map(({ sandbox }) => JSON.stringify(sandbox.document()))
    if (COVERAGE !== undefined) await addCoverage(emulator, COVERAGE)
    await emulator.close()
    // A start must accept the state that a test has changed: this finds fields that one schema lacks.
    for (const document of documents)
      expect(checkDocument(JSON.parse(document), emulator.sandbox.service, strict)).not.toHaveProperty(
        'issues',
      )
    if (defects.length > 0 && options.logger === undefined) throw defects[0]
  })
  return around(emulator, options)
}

/** The folder in which `test/coverage/measure.ts` collects the points of the contract that tests meet. */
const COVERAGE = process.env.TEST_COVERAGE

async function addCoverage({ control }: RunningEmulator, folder: string): Promise<void> {
  const report = await callControlOver(control)('GET /coverage')
  writeFileSync(`${folder}/${randomUUID()}.json`, JSON.stringify(report.data))
}

function join(extra: Readonly<Record<string, readonly object[]>>) {
  const joined: Record<string, readonly object[]> = { ...baseCollections }
  for (const [name, records] of Object.entries(extra)) joined[name] = [...(joined[name] ?? []), ...records]
  return joined
}

function around(emulator: RunningEmulator, options: TestEmulatorOptions): TestEmulator {
  const { sandbox, baseUrl } = emulator
  const send = transportTo(emulator)
  const request: TestEmulator['request'] = async (method, path, how = {}) => {
    return read(await send(`/v1${path}`, { method, ...messageOf(how) }))
  }
  return {
    emulator,
    sandbox,
    baseUrl,
    send,
    request,
    get: (path, how) => request('GET', path, how),
    post: (path, json, how) => request('POST', path, { ...(json === undefined ? {} : { json }), ...how }),
    patch: (path, json, how) => request('PATCH', path, { ...(json === undefined ? {} : { json }), ...how }),
    delete: (path, how) => request('DELETE', path, how),
    control: async (method, path, json) => {
      const how = { key: 'none', ...(json === undefined ? {} : { json }) } as const
      const response = read(await send(`/__emulator${path}`, { method, ...messageOf(how) }))
      return checkOutput(method, path, response, sandbox.service)
    },
    in: (name) => controlOf(emulator, name),
    advance: (by) => passTime(sandbox, sandbox.clock.now + (parseDuration(by) ?? Number.NaN)),
    now: () => sandbox.clock.now,
    state: (collection) => [...sandbox.store.rows(collection).values()],
    digest: () => digestOf(sandbox),
    restart: async () => {
      const document = JSON.parse(JSON.stringify(sandbox.document())) as JsonObject
      const next = await testEmulator(options)
      loadDocument(next.sandbox, document)
      return next
    },
  }
}

// Like an advance, but without the limit of one request, and without yielding to the event loop.
function passTime(sandbox: Sandbox, target: number): AdvanceResult {
  const from = formatInstant(sandbox.clock.now)
  const events: RanEvent[] = []
  const failed: RanEvent[] = []
  for (let reached = false; !reached; ) {
    const settled = runEvents(sandbox, target)
    reached = settled.reached
    events.push(...settled.events)
    failed.push(...settled.failed)
  }
  setClock(sandbox)
  return { from, to: formatInstant(sandbox.clock.now), events, failed }
}

function messageOf({ key = 'KU', token, headers, json, raw, type }: RequestOptions) {
  const sent: Record<string, string> = {}
  const bearer = token ?? (key === 'none' ? undefined : KEYS[key])
  if (bearer !== undefined) sent.authorization = `Bearer ${bearer}`
  if (json !== undefined || raw !== undefined) sent['content-type'] = type ?? 'application/json'
  return {
    headers: { ...sent, ...headers },
    body: raw ?? (json === undefined ? undefined : JSON.stringify(json)),
  }
}

function read(response: Received): TestResponse {
  const { headers, text } = response
  const isJson = /^application\/(problem\+)?json/.test(headers.get('content-type') ?? '')
  const assumed = headers.get('x-emulator-assumed')?.split(',') ?? []
  return { ...response, body: isJson && text !== '' ? JSON.parse(text) : undefined, assumed }
}

export function digestOf(sandbox: Sandbox): string {
  const { limits: _, revision: __, counters, ...rest } = sandbox.document()
  const content = { ...rest, counters: { ...counters, requests: 0 } }
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
