import type { JsonObject } from '../../../core/json.ts'
import type { SandboxClient } from './sandbox.ts'
import type { HealthView, OperationView, ProblemView, RouteIndex } from './views/emulator.ts'
import type { List } from './views/list.ts'
import type { SandboxView, SavedSandboxView, StartingPoint } from './views/sandboxes.ts'

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
}

/** The sandboxes of an emulator. */
export interface EmulatorSandboxes {
  list(): Promise<List<SandboxView | SavedSandboxView>>
  /** Opens it where the disk holds it. */
  show(name: string): Promise<SandboxView>
  /** Removes a sandbox and everything of it. */
  delete(name: string): Promise<void>
}

/** An emulator, in this process or elsewhere. */
export interface EmulatorClient {
  /** Origin: `http://127.0.0.1:4010`. */
  readonly url: string
  /** Of {@link defaultSandbox}. */
  readonly baseUrl: string
  /** Of {@link defaultSandbox}. */
  readonly controlUrl: string
  /** The default sandbox, or the one that the address names. */
  readonly defaultSandbox: SandboxClient
  /**
   * A sandbox, made where it is not there; disposing of it removes one that was made.
   * @param name 1 to 63 lower-case letters, digits and hyphens; absent: a fresh one that no other sandbox has
   * @param start what a new one is like; with it, a name that is taken rejects with `conflict`
   */
  sandbox(name?: string, start?: SandboxStart): Promise<SandboxClient>
  readonly sandboxes: EmulatorSandboxes
  /** The operations of the emulated API, with their limits in {@link defaultSandbox}. */
  operations(): Promise<List<OperationView>>
  /** Every error code of the emulated API. */
  problems(): Promise<List<ProblemView>>
  problem(code: string): Promise<ProblemView>
  /** An OpenAPI 3.1 document. @param api default `control`, the control interface */
  openapi(api?: 'control' | 'workspace'): Promise<JsonObject>
  /** Every route of the control interface. */
  routes(): Promise<RouteIndex>
  /** Rejects where no emulator answers. */
  health(): Promise<HealthView>
  /**
   * Resolves when the emulator answers, and rejects when that takes longer. The keys of
   * {@link defaultSandbox} are known then.
   * @param options timeoutMs: real milliseconds, 30,000 when left out
   */
  ready(options?: { readonly timeoutMs?: number | undefined }): Promise<void>
}

/** An emulator that runs in this process. Disposing of it closes it. */
export interface Emulator extends EmulatorClient, AsyncDisposable {
  /** The one that is listened on, never 0. */
  readonly port: number
  /** Lets requests in flight finish, saves, and stops listening. Closing twice is fine. */
  close(): Promise<void>
}
