import type { IncomingMessage } from 'node:http'
import type { Refusal } from '../../core/errors.ts'
import type { CallBody } from '../../core/request/exchange.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { Sandboxes } from '../../core/sandboxes/sandboxes.ts'
import type { ActiveScenario, ListedScenario } from '../../core/scenarios/source.ts'
import type { Service } from '../../core/service.ts'
import type { SandboxState } from '../../core/state/state.ts'

/** How much a JSON body may hold. */
export interface BodyBounds {
  /** Bytes after content decoding; this many are still accepted. */
  readonly bytes: number
  /** Strings, numbers, literals and structural characters. */
  readonly tokens: number
}

/** The scenarios, as far as this interface speaks of them. */
export interface ScenarioContext {
  /** Every script, with what is wrong with it and whether it is active on a sandbox. */
  list(sandbox: Sandbox): Promise<readonly ListedScenario[]>
  /** Loads at once what has changed of the scripts. */
  refresh(): Promise<void>
  /** The scenario that is active on a sandbox. */
  active(sandbox: Sandbox): ActiveScenario | null
  /** @param start makes the sandbox that it starts on; absent: the sandbox as it is */
  start(sandbox: Sandbox, name: string, start?: () => Promise<SandboxState>): Promise<ActiveScenario>
  /** @returns the name of what was stopped */
  stop(sandbox: Sandbox): Promise<string>
}

/** What the control interface needs of the emulator around it; `emulator.ts` implements it. */
export interface ControlHost {
  /** What all sandboxes of this emulator are sandboxes of: its declared operations, collections and interventions. */
  readonly service: Service
  /** Version of the package. */
  readonly version: string
  /** The real instant at which the emulator was started. */
  readonly startedAt: string
  /** The emulated interface. Specification: Versioning. */
  readonly contract: { readonly title: string; readonly version: string }
  /** The control token; undefined where none is asked for. Never an API key. */
  readonly token: string | undefined
  /** Every sandbox. The names of those that the disk holds are known before the first request comes. */
  readonly sandboxes: Sandboxes
  readonly scenarios: ScenarioContext
  /** Why nothing is written to the data folder any more; undefined while its lock is held, or where there is none. */
  lockLost(): string | undefined
  /** Aborted when the emulator closes: what would go on without end has to end. */
  readonly closing: AbortSignal
  /** Refuses a foreign `Host` or `Origin`. */
  guard(req: Pick<IncomingMessage, 'rawHeaders' | 'socket'>): Refusal | undefined
  /** Reads and parses a JSON body; never rejects. Undefined when the client went away. */
  readJson(req: IncomingMessage, bounds: BodyBounds): Promise<CallBody | undefined>
  /** Parses the bytes of a JSON body that came without a request, under the same bounds. */
  parseJson(bytes: Buffer, bounds: BodyBounds): CallBody
  /** Ends the process of the emulator; undefined where that belongs to another program. */
  readonly shutdown: (() => void) | undefined
  /** Notes how a request that only waits can be ended early, should its connection be needed for others. */
  mayEnd(req: IncomingMessage, end: () => void): void
  /** Told of errors that are our own fault; the client only sees a plain 500. */
  onDefect(error: unknown): void
}
