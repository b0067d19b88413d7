import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../../../core/json.ts'
import { DEFAULT_SANDBOX } from '../../../core/sandboxes/name.ts'
import { later } from '../../realtime.ts'
import type { HealthView, RouteIndex } from '../routes/about.ts'
import type { OperationView, ProblemView } from '../routes/reference.ts'
import type { SandboxView, SavedSandboxView } from '../routes/sandboxes.ts'
import type { StartingPoint } from '../starting-point.ts'
import { type Ask, askOver, entriesOf, type OwnCalls, refuseUnknownOptions } from './ask.ts'
import { EmulatorError, notAnEmulator } from './emulator-error.ts'
import { type FixturesSource, KnownKeys } from './keys.ts'
import type { EmulatorAddress } from './over-http.ts'
import { type Extend, openSandboxClient, type SandboxOf } from './sandbox.ts'
import type { Transport } from './transport.ts'

/** What a new sandbox is like, where it is to differ from the starting state of the emulator. */
export interface SandboxStart extends StartingPoint {
  /** Choices where the specification leaves open, by their dotted keys. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  /** Started at once. */
  readonly scenario?: string | undefined
  /** Whether it outlives the process. Default false; an emulator without a folder for its state refuses true. */
  readonly persist?: boolean | undefined
  /** Name of a snapshot of `defaultSandbox` that it starts from, instead of fixtures, seed, clock and settings. */
  readonly fromSnapshot?: string | undefined
  /** Virtual seconds per real second; 0 stands still. */
  readonly rate?: number | undefined
  /** Whether a poll of an unfinished batch first advances to its next work event. */
  readonly skipOnPoll?: boolean | undefined
}

/** The sandboxes of an emulator. */
export interface EmulatorSandboxes {
  list(): Promise<readonly (SandboxView | SavedSandboxView)[]>
  /** Opens it where the disk holds it. */
  show(name: string): Promise<SandboxView>
  /** Removes a sandbox and everything of it. */
  delete(name: string): Promise<void>
}

/** An emulator, in this process or elsewhere. */
export interface EmulatorOf<Sandbox> {
  /** Origin: `http://127.0.0.1:4010`. */
  readonly url: string
  /** Of {@link defaultSandbox}. */
  readonly baseUrl: string
  /** Of {@link defaultSandbox}. */
  readonly controlUrl: string
  /** The default sandbox, or the one that the address names. */
  readonly defaultSandbox: Sandbox
  /**
   * A sandbox, made where it is not there; disposing of it removes one that was made.
   * @param name 1 to 63 lower-case letters, digits and hyphens; absent: a fresh one that no other sandbox has
   * @param start what a new one is like; with it, a name that is taken rejects with `conflict`
   */
  sandbox(name?: string, start?: SandboxStart): Promise<Sandbox>
  readonly sandboxes: EmulatorSandboxes
  /** The operations of the emulated API, with their limits in {@link defaultSandbox}. */
  operations(): Promise<readonly OperationView[]>
  /** Every error code of the emulated API. */
  problems(): Promise<readonly ProblemView[]>
  problem(code: string): Promise<ProblemView>
  /** An OpenAPI 3.1 document. @param api default `control`, the control interface */
  openapi(api?: 'control' | 'workspace'): Promise<JsonObject>
  /** Every route of the control interface. */
  routes(): Promise<RouteIndex['routes']>
  /** Rejects where no emulator answers. */
  health(): Promise<HealthView>
  /**
   * Resolves when the emulator answers, and rejects when that takes longer. The keys of
   * {@link defaultSandbox} are known then.
   * @param options timeoutMs: real milliseconds, 30,000 when left out
   */
  ready(options?: { readonly timeoutMs?: number | undefined }): Promise<void>
  /**
   * Ends the process of an emulator that the command `start` has started, once its requests are finished and its state is
   * saved. Rejects with `conflict` where the emulator runs inside of another program. It does not wait for the end.
   */
  shutdown(): Promise<void>
}

/** What a client is made of. */
export interface ClientParts<Sandbox> {
  readonly address: EmulatorAddress
  readonly transport: Transport
  readonly extend: Extend<Sandbox>
  /** Shows the keys of sandboxes that were given no other fixtures. */
  readonly fixtures: FixturesSource
  /** The key that calls of the API are to be made with. */
  readonly apiKey?: string | undefined
  /** The name of its `defaultSandbox`. */
  readonly name?: string | undefined
  /** Those of `defaultSandbox`, where they are known already. */
  readonly keys?: KnownKeys | undefined
}

/** A client of the control interface, however its calls travel. */
export function emulatorClient<Sandbox extends SandboxOf<never>>(
  parts: ClientParts<Sandbox>,
): EmulatorOf<Sandbox> {
  const { address, transport, extend, fixtures, apiKey, name: own = DEFAULT_SANDBOX } = parts
  const ask: Ask = askOver(transport, own)
  const keys = parts.keys ?? new KnownKeys(apiKey, fixtures)
  const { sandbox, lookUpKeys } = openSandboxClient(
    { name: own, address, transport, keys, isOwn: false },
    extend,
  )
  const open = async (name: string, isOwn: boolean, start: SandboxStart = {}) => {
    const known = new KnownKeys(apiKey, (start.fixtures as FixturesSource | undefined) ?? fixtures)
    if (start.fromSnapshot !== undefined) known.expectThoseOf(keys)
    const opened = openSandboxClient({ name, address, transport, keys: known, isOwn }, extend)
    await opened.lookUpKeys()
    return opened.sandbox
  }
  return {
    url: address.url,
    baseUrl: sandbox.baseUrl,
    controlUrl: sandbox.controlUrl,
    defaultSandbox: sandbox,
    sandbox: async (name = freshName(), start) => {
      if (!saysAnything(start)) return open(name, await makeUnlessThere(transport, ask, name))
      await makeSandbox(ask, name, start)
      return open(name, true, start)
    },
    sandboxes: {
      list: () => entriesOf(ask('GET /sandboxes')),
      show: (name) => ask('GET /sandboxes/{name}', { params: { name } }),
      delete: async (name) => void (await ask('DELETE /sandboxes/{name}', { params: { name } })),
    },
    operations: () => entriesOf(ask('GET /operations')),
    problems: () => entriesOf(ask('GET /problems')),
    problem: (code) => ask('GET /problems/{code}', { params: { code } }),
    openapi: (api = 'control') => ask('GET /openapi.json', { query: { api } }),
    routes: async () => (await ask('GET /')).routes,
    shutdown: async () => void (await ask('POST /shutdown')),
    health: () => ask('GET /health'),
    ready: async (options = {}) => {
      refuseUnknownOptions('ready()', options, ['timeoutMs'])
      await untilReady(transport, options.timeoutMs)
      await lookUpKeys()
    },
  }
}

/** A name that no other sandbox has: clients of several processes share one emulator, so that counting would not do. */
function freshName(): string {
  return `w-${randomBytes(6).toString('hex')}`
}

/** Whether anything is said about how a sandbox starts. */
function saysAnything(start: SandboxStart = {}): boolean {
  return Object.values(start).some((value) => value !== undefined)
}

/** Makes a sandbox, or finds the one that is there. @returns whether it was made */
async function makeUnlessThere(transport: Transport, ask: Ask, name: string): Promise<boolean> {
  try {
    await ask('POST /sandboxes', { body: { name } })
    return true
  } catch (error) {
    if (!(error instanceof EmulatorError && error.status === 409)) throw error
    // One that somebody else is just making is waited for. A conflict about anything else is one about this, too.
    await askOver<OwnCalls>(transport, name)('GET /clock')
    return false
  }
}

/** Makes a sandbox as it is asked for, or none at all. */
async function makeSandbox(
  ask: Ask,
  name: string,
  { fromSnapshot, skipOnPoll, ...start }: SandboxStart = {},
): Promise<void> {
  const settings = start.settings === undefined ? undefined : { ...start.settings }
  const named = { from_snapshot: fromSnapshot, skip_on_poll: skipOnPoll }
  await ask('POST /sandboxes', { body: { ...start, ...named, settings, name } })
}

/** How long to wait for an emulator that is being started elsewhere, in real milliseconds, where nothing else is said. */
const READY_TIMEOUT = 30_000

/** Real milliseconds between two attempts. */
const READY_PAUSE = 50

/** Resolves when an emulator is ready. Rejects with the last reason when that takes longer, and at once when no time helps. */
async function untilReady(transport: Transport, timeoutMs = READY_TIMEOUT): Promise<void> {
  const ask: Ask = askOver(transport)
  const over = new AbortController()
  const cancel = later(timeoutMs, () => over.abort())
  let last = 'It has not answered.'
  try {
    while (!over.signal.aborted) {
      try {
        const { status } = await ask('GET /ready', { signal: over.signal })
        if (status !== 'ready') throw notAnEmulator(200, 'GET /ready')
        return
      } catch (error) {
        if (error instanceof EmulatorError && !canPass(error)) throw error
        if (error instanceof EmulatorError) last = error.message
        else if (!over.signal.aborted) throw error
      }
      await pause(over.signal)
    }
  } finally {
    cancel()
  }
  throw new EmulatorError({
    status: 0,
    code: 'not_ready',
    detail: `The emulator was not ready within ${timeoutMs} ms. ${last}`,
  })
}

function canPass({ code, status }: EmulatorError): boolean {
  return code === 'no_answer' || status === 502 || status === 503
}

function pause(over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      over.removeEventListener('abort', end)
      cancel()
      resolve()
    }
    const cancel = later(READY_PAUSE, end)
    over.addEventListener('abort', end)
    if (over.aborted) end()
  })
}
