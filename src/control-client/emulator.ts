import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../core/json.ts'
import { DEFAULT_SANDBOX } from '../core/sandboxes/name.ts'
import { later } from '../core/time/realtime.ts'
import type { HealthView, RouteIndex } from '../server/control/routes/about.ts'
import type { OperationView, ProblemView } from '../server/control/routes/reference.ts'
import type { SandboxDraft, SandboxView, SavedSandboxView } from '../server/control/routes/sandboxes.ts'
import { type CallControl, callControlOver, dataOf, type OwnCalls, refuseUnknownOptions } from './ask.ts'
import { EmulatorError } from './emulator-error.ts'
import { type FixturesSource, KnownKeys } from './keys.ts'
import type { EmulatorAddress } from './over-http.ts'
import { type Extend, openSandboxClient, type SandboxOf } from './sandbox.ts'
import type { Transport } from './transport.ts'

/** Options of a new sandbox. An absent option without a default has the value of the emulator's start. */
export type SandboxStart = Omit<SandboxDraft, 'name' | 'from_snapshot' | 'skip_on_poll'> & {
  /** Name of a snapshot of `defaultSandbox` that it starts from, instead of fixtures, seed, clock and settings. */
  readonly fromSnapshot?: string | undefined
  /** Whether a poll of an unfinished batch first advances to its next work event. */
  readonly skipOnPoll?: boolean | undefined
}

/** The sandboxes of an emulator. */
export type EmulatorSandboxes = ReturnType<typeof sandboxesOver>

function sandboxesOver(ask: CallControl) {
  return {
    list: (): Promise<readonly (SandboxView | SavedSandboxView)[]> => dataOf(ask('GET /sandboxes')),
    /** Shows one sandbox, and opens it if it is only on disk. */
    show: (name: string): Promise<SandboxView> => ask('GET /sandboxes/{name}', { params: { name } }),
    /** Removes a sandbox with its snapshots and files. The default one rejects with `conflict`. */
    delete: (name: string): Promise<void> => ask('DELETE /sandboxes/{name}', { params: { name } }),
  }
}

/** An emulator, in this process or elsewhere. */
export type EmulatorOf<Sandbox extends SandboxOf<never>> = Readonly<
  ReturnType<typeof emulatorClient<Sandbox>>
>

/** The parts that a client is created from. */
interface ClientParts<Sandbox> {
  readonly address: EmulatorAddress
  readonly transport: Transport
  readonly extend: Extend<Sandbox>
  /** Contains the keys of sandboxes that have no other fixtures. */
  readonly fixtures: FixturesSource
  /** The key for calls of the API. */
  readonly apiKey?: string | undefined
  /** The name of its `defaultSandbox`. */
  readonly name?: string | undefined
  /** The keys of `defaultSandbox`, if they are already known. */
  readonly keys?: KnownKeys | undefined
}

/** A client of the control interface, for any transport. */
export function emulatorClient<Sandbox extends SandboxOf<never>>(parts: ClientParts<Sandbox>) {
  const { address, transport, extend, fixtures, apiKey, name: own = DEFAULT_SANDBOX } = parts
  const ask: CallControl = callControlOver(transport, own)
  const keys = parts.keys ?? new KnownKeys(apiKey, fixtures)
  const { sandbox, lookUpKeys } = openSandboxClient(
    { name: own, address, transport, keys, isOwn: false },
    extend,
  )
  const open = async (name: string, isOwn: boolean, start: SandboxStart = {}): Promise<Sandbox> => {
    const known = new KnownKeys(apiKey, (start.fixtures as FixturesSource | undefined) ?? fixtures)
    if (start.fromSnapshot !== undefined) known.expectThoseOf(keys)
    const opened = openSandboxClient({ name, address, transport, keys: known, isOwn }, extend)
    await opened.lookUpKeys()
    return opened.sandbox
  }
  return {
    /** Origin: `http://127.0.0.1:4010`. */
    url: address.url,
    /** Base URL of the API of {@link defaultSandbox}; ends in `/v1`. */
    baseUrl: sandbox.baseUrl,
    /** URL of the control interface of {@link defaultSandbox}. */
    controlUrl: sandbox.controlUrl,
    /** The default sandbox, or the one that the address names. */
    defaultSandbox: sandbox,
    /**
     * A sandbox, created if it does not exist. Disposing of the returned object removes the sandbox if this call created it.
     * @param name 1 to 63 lower-case letters, digits and hyphens; absent: a random name that no other sandbox has
     * @param start options of the new sandbox; with them, the name of an existing sandbox rejects with `conflict`
     */
    sandbox: async (name: string = freshName(), start: SandboxStart = {}): Promise<Sandbox> => {
      if (!hasOptions(start)) return open(name, await makeUnlessThere(transport, ask, name))
      const { fromSnapshot: from_snapshot, skipOnPoll: skip_on_poll, ...rest } = start
      await ask('POST /sandboxes', { body: { ...rest, name, from_snapshot, skip_on_poll } })
      return open(name, true, start)
    },
    sandboxes: sandboxesOver(ask),
    /** The operations of the emulated API, with their limits in {@link defaultSandbox}. */
    operations: (): Promise<readonly OperationView[]> => dataOf(ask('GET /operations')),
    /** Every error code of the emulated API. */
    problems: (): Promise<readonly ProblemView[]> => dataOf(ask('GET /problems')),
    problem: (code: string): Promise<ProblemView> => ask('GET /problems/{code}', { params: { code } }),
    /** An OpenAPI 3.1 document. @param api default `control`, the control interface */
    openapi: (api: 'control' | 'workspace' = 'control'): Promise<JsonObject> =>
      ask('GET /openapi.json', { query: { api } }),
    /** Every route of the control interface. */
    routes: async (): Promise<RouteIndex['routes']> => (await ask('GET /')).routes,
    /** The state and versions of the emulator. Rejects if no emulator responds. */
    health: (): Promise<HealthView> => ask('GET /health'),
    /**
     * Resolves when the emulator is ready and the keys of {@link defaultSandbox} are known. Rejects with `not_ready` after
     * `timeoutMs`, and at once for an error that waiting cannot fix.
     * @param options timeoutMs: real milliseconds, default 30,000
     */
    ready: async (options: { readonly timeoutMs?: number | undefined } = {}): Promise<void> => {
      refuseUnknownOptions('ready()', options, ['timeoutMs'])
      await untilReady(transport, options.timeoutMs)
      await lookUpKeys()
    },
    /**
     * Ends the process of an emulator that the command `start` has started, after its requests are finished and its state is
     * saved. Rejects with `conflict` if the emulator runs inside another program. Resolves before the process has ended.
     */
    shutdown: async (): Promise<void> => void (await ask('POST /shutdown')),
  }
}

/** A random name that no other sandbox has. Clients of several processes share one emulator, so a counter would repeat names. */
function freshName(): string {
  return `w-${randomBytes(6).toString('hex')}`
}

/** Whether any option of a new sandbox is set. */
function hasOptions(start: SandboxStart): boolean {
  return Object.values(start).some((value) => value !== undefined)
}

/** Creates a sandbox, or finds the existing one. @returns whether it was created */
async function makeUnlessThere(transport: Transport, ask: CallControl, name: string): Promise<boolean> {
  try {
    await ask('POST /sandboxes', { body: { name } })
    return true
  } catch (error) {
    if (!(error instanceof EmulatorError && error.status === 409)) throw error
    // Waits for a sandbox that another client is creating. Any other conflict rejects this call too.
    await callControlOver<OwnCalls>(transport, name)('GET /clock')
    return false
  }
}

/** Default time to wait for an emulator that is starting in another process, in real milliseconds. */
const READY_TIMEOUT = 30_000

/** Real milliseconds between two attempts. */
const READY_PAUSE = 50

/**
 * Resolves when an emulator is ready. Rejects with the last reason after the timeout, and at once for an error that waiting
 * cannot fix.
 */
async function untilReady(transport: Transport, timeoutMs = READY_TIMEOUT): Promise<void> {
  const ask: CallControl = callControlOver(transport)
  const over = new AbortController()
  const cancel = later(timeoutMs, () => over.abort())
  let last = 'There was no response.'
  try {
    while (!over.signal.aborted) {
      try {
        await ask('GET /ready', { signal: over.signal })
        return
      } catch (error) {
        if (error instanceof EmulatorError && !canPass(error)) throw error
        if (error instanceof EmulatorError) last = error.message
        else if (!over.signal.aborted) throw error
      }
      await new Promise<void>((resolve) => later(READY_PAUSE, resolve))
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
