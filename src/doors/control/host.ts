import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '../../kernel/errors.ts'
import type { Service } from '../../kernel/operation.ts'
import type { CallBody } from '../../kernel/request/exchange.ts'
import type { ActiveScenario, ListedScenario } from '../../kernel/scenario/listing.ts'
import type { WorldState } from '../../kernel/state/state.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'
import type { Sandboxes } from '../../kernel/worlds/sandboxes.ts'

/** Why a request may not reach the control interface. */
export interface GuardVerdict {
  readonly status: number
  readonly code: ErrorCode
  /** What is wrong, and the way out. */
  readonly detail: string
}

/** How much a JSON body may hold. */
export interface BodyBounds {
  /** Bytes after content decoding; this many are still accepted. */
  readonly bytes: number
  /** Strings, numbers, literals and structural characters. */
  readonly tokens: number
}

/** The scenarios, as far as this interface speaks of them. */
export interface ScenarioDesk {
  /** Every script, with what is wrong with it and whether it is active on a world. */
  list(sandbox: Sandbox): Promise<readonly ListedScenario[]>
  /** Loads at once what has changed of the scripts. */
  refresh(): Promise<void>
  /** The scenario that is active on a world. */
  active(sandbox: Sandbox): ActiveScenario | null
  /** @param start makes the world that it starts on; absent: the world as it is */
  start(sandbox: Sandbox, name: string, start?: () => Promise<WorldState>): Promise<ActiveScenario>
  /** @returns the name of what was stopped */
  stop(sandbox: Sandbox): Promise<string>
}

/** What the control interface needs of the emulator around it; `emulator.ts` implements it. */
export interface ControlHost {
  /** What all worlds of this emulator are worlds of: its declared operations, collections and interventions. */
  readonly service: Service
  /** Version of the package. */
  readonly version: string
  /** The emulated interface. Specification: Versioning. */
  readonly contract: { readonly title: string; readonly version: string }
  /** The control token; undefined where none is asked for. Never an API key. */
  readonly token: string | undefined
  /** Every world; all that the disk holds are there before the first request comes. */
  readonly sandboxes: Sandboxes
  readonly scenarios: ScenarioDesk
  /** Aborted when the emulator closes: what would go on without end has to end. */
  readonly closing: AbortSignal
  /** Judges `Host` and `Origin`. Undefined lets the request pass. */
  guard(rawHeaders: readonly string[]): GuardVerdict | undefined
  /** Reads and parses a JSON body; never rejects. Undefined when the client went away. */
  readJson(req: IncomingMessage, bounds: BodyBounds): Promise<CallBody | undefined>
  /** Parses the bytes of a JSON body that came without a request, under the same bounds. */
  parseJson(bytes: Buffer, bounds: BodyBounds): CallBody
  /** Told of errors that are our own fault; the client only sees a plain 500. */
  onSurprise(error: unknown): void
}
