import { createHash } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { type HouseOptions, openEmulator, type RunningEmulator } from '../../src/emulator.ts'
import type { JsonObject } from '../../src/kernel/json.ts'
import { parseDuration } from '../../src/kernel/time/duration.ts'
import type { Receipt } from '../../src/kernel/time/receipt.ts'
import { advanceTo } from '../../src/kernel/time/settle.ts'
import type { Sandbox } from '../../src/kernel/worlds/sandbox.ts'
import { baseCollections, KEYS, type KeyName, START } from './base-world.ts'
import { type CallControl, controlOf } from './control.ts'
import { NO_SCENARIOS } from './no-scenarios.ts'

/** An answer of the API, read to its end. */
export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape; the assertions are the types.
  readonly body: any
  /** Ledger items that the answer says it rests on. */
  readonly assumed: readonly string[]
}

export interface RequestOptions {
  /** Whose key is sent; `none` sends no Authorization header. Default KU. */
  readonly key?: KeyName | 'none'
  /** A literal token instead of a key. */
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A body to send as JSON. */
  readonly json?: unknown
  /** A body to send as it is. */
  readonly raw?: string | Uint8Array
  /** Content-Type of a raw body; default application/json. */
  readonly type?: string
}

/** A fresh world behind a real server, gone at the end of the test. */
export interface TestWorld {
  readonly emulator: RunningEmulator
  readonly sandbox: Sandbox
  readonly baseUrl: string
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>
  get(path: string, options?: RequestOptions): Promise<TestAnswer>
  post(path: string, json?: unknown, options?: RequestOptions): Promise<TestAnswer>
  patch(path: string, json?: unknown, options?: RequestOptions): Promise<TestAnswer>
  delete(path: string, options?: RequestOptions): Promise<TestAnswer>
  /** Calls the control interface; the path is below `/__emulator`. */
  control(method: string, path: string, json?: unknown): Promise<TestAnswer>
  /** The control interface of another sandbox of the same emulator. */
  in(sandbox: string): CallControl
  /** Moves the virtual clock by a duration such as `24h`. */
  advance(by: string): Receipt
  /** The virtual instant in milliseconds. */
  now(): number
  /** The records of a collection, as they are stored. */
  // biome-ignore lint/suspicious/noExplicitAny: as in TestAnswer.
  state(collection: string): any[]
  /** A digest of everything that a refused request must not change: all but rate windows and the count of requests. */
  digest(): string
  /** The same world in a new sandbox behind a new server, made from its document alone, as after a restart. */
  restart(): Promise<TestWorld>
}

export interface TestWorldOptions extends Omit<HouseOptions, 'fixtures'> {
  /** Records beside those of the base world, by collection. */
  readonly collections?: Readonly<Record<string, readonly object[]>>
}

/** Starts a world for one test: clock at {@link START} and standing still, seed 1, base records plus the given ones. */
export async function testWorld({ collections = {}, ...options }: TestWorldOptions = {}): Promise<TestWorld> {
  const surprises: unknown[] = []
  const emulator = await openEmulator({
    port: 0,
    clock: START,
    rate: 0,
    fixtures: { collections: join(collections) } as unknown as JsonObject,
    ephemeral: true,
    logger: { info: () => {}, warn: () => {}, error: (_message, fields) => surprises.push(fields?.error) },
    ...(options.scenarios === undefined ? { scenarioSource: NO_SCENARIOS } : {}),
    ...options,
  })
  onTestFinished(async () => {
    await emulator.close()
    if (surprises.length > 0 && options.logger === undefined) throw surprises[0]
  })
  return around(emulator, options)
}

function join(extra: Readonly<Record<string, readonly object[]>>) {
  const joined: Record<string, readonly object[]> = { ...baseCollections }
  for (const [name, records] of Object.entries(extra)) joined[name] = [...(joined[name] ?? []), ...records]
  return joined
}

function around(emulator: RunningEmulator, options: TestWorldOptions): TestWorld {
  const { sandbox, baseUrl } = emulator
  const request: TestWorld['request'] = async (method, path, how = {}) => {
    const response = await fetch(baseUrl + path, { method, redirect: 'manual', ...toFetch(how) })
    return read(response)
  }
  return {
    emulator,
    sandbox,
    baseUrl,
    request,
    get: (path, how) => request('GET', path, how),
    post: (path, json, how) => request('POST', path, { ...(json === undefined ? {} : { json }), ...how }),
    patch: (path, json, how) => request('PATCH', path, { ...(json === undefined ? {} : { json }), ...how }),
    delete: (path, how) => request('DELETE', path, how),
    control: async (method, path, json) => {
      const how = { key: 'none', ...(json === undefined ? {} : { json }) } as const
      return read(await fetch(emulator.controlUrl + path, { method, ...toFetch(how) }))
    },
    in: (name) => controlOf(emulator, name),
    advance: (by) => advanceTo(sandbox, sandbox.clock.now + (parseDuration(by) ?? Number.NaN)),
    now: () => sandbox.clock.now,
    state: (collection) => [...sandbox.store.rows(collection).values()],
    digest: () => digestOf(sandbox),
    restart: async () => {
      const document = JSON.parse(JSON.stringify(sandbox.document())) as JsonObject
      const next = await testWorld(options)
      next.sandbox.load(document)
      return next
    },
  }
}

function toFetch({ key = 'KU', token, headers, json, raw, type }: RequestOptions): RequestInit {
  const sent: Record<string, string> = {}
  const bearer = token ?? (key === 'none' ? undefined : KEYS[key])
  if (bearer !== undefined) sent.authorization = `Bearer ${bearer}`
  if (json !== undefined || raw !== undefined) sent['content-type'] = type ?? 'application/json'
  const body = raw ?? (json === undefined ? undefined : JSON.stringify(json))
  return { headers: { ...sent, ...headers }, ...(body === undefined ? {} : { body: body as string }) }
}

async function read(response: Response): Promise<TestAnswer> {
  const text = await response.text()
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '')
  const assumed = response.headers.get('x-emulator-assumed')?.split(',') ?? []
  const body = isJson && text !== '' ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, body, assumed }
}

function digestOf(sandbox: Sandbox): string {
  const { limits: _, revision: __, counters, ...rest } = sandbox.document()
  const content = { ...rest, counters: { ...counters, requests: 0 } }
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
